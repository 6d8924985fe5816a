package logs

import (
	"math"
	"strconv"

	"github.com/b650d4bf/gateway/providers"
)

// The bounds of feedback.
const (
	maxValue    = 10
	maxComment  = 4096 // bytes
	maxEntries  = 32
	maxEntry    = 512 // bytes of a key with its value
	maxFeedback = 100 // for one record
)

// Validate reports what is wrong with the feedback.
func (f *Feedback) Validate() error {
	switch {
	case f.RecordID == "":
		return providers.Invalid("record_id", "is required: it is the x-gateway-request-id of the answer")
	case f.Value < -maxValue || f.Value > maxValue:
		return providers.Invalid("value", "must be between -10 and 10")
	case math.IsNaN(f.Weight) || f.Weight < 0 || f.Weight > 1:
		return providers.Invalid("weight", "must be between 0 and 1")
	case len(f.Comment) > maxComment:
		return providers.Invalid("comment", "must have "+strconv.Itoa(maxComment)+" bytes at most")
	case len(f.Metadata) > maxEntries:
		return providers.Invalid("metadata", "must have "+strconv.Itoa(maxEntries)+" entries at most")
	}
	for k, v := range f.Metadata {
		if len(k)+len(v) > maxEntry {
			return providers.Invalid("metadata", "an entry has more than "+strconv.Itoa(maxEntry)+" bytes")
		}
	}
	return nil
}

// RoomForFeedback reports an error for a record of which so much was said that it
// takes no more. Stores ask before they add.
func RoomForFeedback(said int) error {
	if said < maxFeedback {
		return nil
	}
	return providers.Invalid("record_id", "the record has "+strconv.Itoa(maxFeedback)+" feedbacks already")
}
