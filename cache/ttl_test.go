package cache_test

import (
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

func TestLifetime(t *testing.T) {
	const s, day = time.Second, 24 * time.Hour
	for _, c := range []struct {
		name                      string
		maxAge, organization, age time.Duration // an age of 0 is an error
	}{
		{"the unit is seconds", 61 * s, 0, 61 * s},
		{"a fraction of a second is refused", 90*s + 1, 0, 0},
		{"the minimum is 60", 60 * s, 0, 60 * s},
		{"less than the minimum is refused", 59 * s, 0, 0},
		{"a negative age is refused", -60 * s, 0, 0},
		{"the maximum is 7776000", 7_776_000 * s, 0, 90 * day},
		{"more than the maximum is refused", 7_776_001 * s, 0, 0},
		{"the default is 604800", 0, 0, 604_800 * s},
		{"the organization's maximum is 25923000", 0, 25_923_000 * s, 25_923_000 * s},
		{"more than the organization's maximum is refused", 0, 25_923_001 * s, 0},
		{"a negative value of the organization is refused", 0, -s, 0},
		{"a fraction in the organization's value is refused", 0, s + 1, 0},
		{"the organization's value is the default", 0, 3600 * s, 3600 * s},
		{"the organization's value beats the default of 7 days", 0, 30 * day, 30 * day},
		{"a request above the organization's value gets the organization's", 7200 * s, 3600 * s, 3600 * s},
		{"a request below the organization's value gets its own", 600 * s, 3600 * s, 600 * s},
		{"a request for the organization's value gets it", 3600 * s, 3600 * s, 3600 * s},
		{"the organization may stay below the minimum of requests", 60 * s, 10 * s, 10 * s},
		{"the maximum of requests holds under a longer one of the organization", 7_776_001 * s, 25_923_000 * s, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			age, err := cache.Lifetime(c.maxAge, c.organization)
			if age != c.age || (err != nil) != (c.age == 0) {
				t.Errorf("Lifetime(%v, %v) = %v, %v; want %v", c.maxAge, c.organization, age, err, c.age)
			}
		})
	}
}
