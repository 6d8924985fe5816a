package prices

import "time"

// Row is what one provider asks for one model.
type Row struct {
	// Provider is the id of the provider, such as "vertex-ai", "google", "anthropic"
	// or "openai".
	Provider string
	// Slug is the catalog entry that the row is for, without '@': a price of your own,
	// which wins over the others. Provider may then be empty.
	Slug string
	// Model is a model reference, or the beginning of one that only a version may
	// follow: "claude-sonnet-4" is also claude-sonnet-4@20250514, and not
	// claude-sonnet-4-5. A publisher before it does not matter. "*" is every model
	// that has no row of the same slug or provider, for which Slug must be set.
	Model string
	// From and Until bound the days the prices are for, in UTC: From is the first and
	// Until the first that is too late. A zero one does not bound.
	From, Until time.Time
	// Source is the page the prices were taken from, and Read the day that was.
	Source string
	Read   time.Time
	// Note says what there is to say beside.
	Note string
	// Rates are the prices of the class [Standard].
	Rates Rates
	// Variants are the prices of others, of long prompts and so on. All that apply to
	// a call do, in their order.
	Variants []Variant
}

// Variant says what is different for some calls: those that meet all of its
// conditions.
type Variant struct {
	// Class is the class of service. A variant without one is for all of them; a call
	// of a class that no variant names has no known price.
	Class Class
	// Above is for prompts of more tokens than that; all of the call is then charged
	// so.
	Above int64
	// Regional is for calls that go to a region, and not to "global".
	Regional bool
	// Size is for images of that size.
	Size string
	// Rates replace those before.
	Rates Rates
	// Percent then changes the prices of the kinds in Only, or of all: 50 is half. 0
	// changes none.
	Percent int
	Only    []Kind
}

// Day returns a day for [Row.From], [Row.Until] and [Row.Read].
func Day(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
