package cache

import (
	"fmt"
	"time"
)

// The bounds of lifetimes. [Lifetime] applies them.
const (
	// MinMaxAge and MaxMaxAge bound how long a request may ask for its answer to
	// be kept.
	MinMaxAge = 60 * time.Second
	MaxMaxAge = 90 * 24 * time.Hour
	// DefaultMaxAge is used where neither the request nor the organization says
	// anything.
	DefaultMaxAge = 7 * 24 * time.Hour
	// MaxOrganizationAge bounds what an organization may set.
	MaxOrganizationAge = 25_923_000 * time.Second
)

// Lifetime returns how long an answer is kept, in whole seconds. maxAge is what the
// request or its config asks for, and organization what the organization has set
// for all; 0 means that nothing is. The organization's value is used where no
// other is given, and is the most that can be had.
func Lifetime(maxAge, organization time.Duration) (time.Duration, error) {
	if err := checkAge("max_age", maxAge, MinMaxAge, MaxMaxAge); err != nil {
		return 0, err
	}
	if err := checkAge("the organization's lifetime", organization, time.Second, MaxOrganizationAge); err != nil {
		return 0, err
	}
	switch {
	case maxAge == 0 && organization == 0:
		return DefaultMaxAge, nil
	case maxAge == 0, organization > 0 && maxAge > organization:
		return organization, nil
	default:
		return maxAge, nil
	}
}

// checkAge reports an age that is given but out of bounds, or has a fraction of a
// second.
func checkAge(name string, age, least, most time.Duration) error {
	if age == 0 || age >= least && age <= most && age%time.Second == 0 {
		return nil
	}
	return fmt.Errorf("cache: %s is %v; give whole seconds from %d to %d", name, age, least/time.Second, most/time.Second)
}
