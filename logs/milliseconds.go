package logs

import (
	"encoding/json"
	"math"
	"time"
)

// Milliseconds is a duration whose JSON is a number of milliseconds, in
// microseconds exactly.
type Milliseconds time.Duration

// Float returns the number of milliseconds.
func (m Milliseconds) Float() float64 { return float64(m) / float64(time.Millisecond) }

// MarshalJSON writes the number of milliseconds.
func (m Milliseconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(time.Duration(m).Round(time.Microsecond)) / float64(time.Millisecond))
}

// UnmarshalJSON reads the number of milliseconds.
func (m *Milliseconds) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*m = Milliseconds(math.Round(f*1e3) * float64(time.Microsecond))
	return nil
}
