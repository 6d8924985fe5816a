package prices

import "fmt"

// Kind is what a price is for.
type Kind uint8

// The kinds. Prices of tokens and characters are written per million, those of
// requests per thousand, and others for one.
const (
	Input          Kind = iota + 1 // tokens of the prompt that have no kind of their own
	CachedInput                    // tokens read from a cache
	CacheWrite                     // tokens written to a cache, for five minutes where there is a choice
	CacheWriteHour                 // tokens written to a cache for an hour
	AudioInput                     // tokens of sound in the prompt; else they cost as Input
	ImageInput                     // tokens of images in the prompt; else they cost as Input
	VideoInput                     // tokens of videos in the prompt; else they cost as Input
	CachedAudio                    // tokens of sound read from a cache, where AudioInput has a price of its own
	Output                         // tokens of the completion that have no kind of their own
	Reasoning                      // tokens of thoughts; else they cost as Output
	AudioOutput                    // tokens of sound in the completion
	ImageOutput                    // tokens of images in the completion
	Image                          // images
	Search                         // queries to a web search
	Grounding                      // requests with a web search, whatever the number of queries
	Maps                           // requests that were grounded in a map service
	CodeExecution                  // runs of code on the platform
	Rerank                         // queries of at most a hundred documents
	Character                      // characters
	CacheStorage                   // tokens in a cache for an hour: no part of a call's cost
	kinds                          // how many there are, and one
)

// kindFacts says how a kind is written and for how many units its price stands.
var kindFacts = [kinds]struct {
	name string
	per  int64
	unit string
}{
	Input: {"input", million, "tokens"}, CachedInput: {"cached_input", million, "tokens"},
	CacheWrite: {"cache_write", million, "tokens"}, CacheWriteHour: {"cache_write_1h", million, "tokens"},
	AudioInput: {"audio_input", million, "tokens"}, ImageInput: {"image_input", million, "tokens"}, VideoInput: {"video_input", million, "tokens"},
	CachedAudio: {"cached_audio", million, "tokens"},
	Output:      {"output", million, "tokens"}, Reasoning: {"reasoning", million, "tokens"},
	AudioOutput: {"audio_output", million, "tokens"}, ImageOutput: {"image_output", million, "tokens"},
	Image: {"image", 1, "images"}, Search: {"search", thousand, "queries"}, Grounding: {"grounding", thousand, "requests"},
	Maps: {"maps", thousand, "requests"}, CodeExecution: {"code_execution", thousand, "runs"}, Rerank: {"rerank", thousand, "queries"},
	Character: {"character", million, "characters"}, CacheStorage: {"cache_storage", million, "token hours"},
}

const (
	thousand = 1_000
	million  = 1_000_000
)

func (k Kind) valid() bool { return k > 0 && k < kinds }

// String returns the kind's word, such as "cached_input".
func (k Kind) String() string {
	if !k.valid() {
		return "unknown"
	}
	return kindFacts[k].name
}

// Per is for how many units a price is written: a million tokens, a thousand
// requests, one image.
func (k Kind) Per() int64 {
	if !k.valid() {
		return 1
	}
	return kindFacts[k].per
}

// Unit says what is counted, in the plural.
func (k Kind) Unit() string {
	if !k.valid() {
		return "units"
	}
	return kindFacts[k].unit
}

// MarshalText writes the kind's word.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's word.
func (k *Kind) UnmarshalText(text []byte) error {
	for i := Input; i < kinds; i++ {
		if kindFacts[i].name == string(text) {
			*k = i
			return nil
		}
	}
	return fmt.Errorf("prices: no kind %.40q", text)
}

// Class is a class of service, which has prices of its own.
type Class string

// The classes.
const (
	Standard Class = ""         // what there is without asking
	Batch    Class = "batch"    // lines of a batch
	Flex     Class = "flex"     // slower and cheaper
	Priority Class = "priority" // ahead of others
	// Provisioned is throughput that was bought beforehand: its calls are paid for
	// already, and what one of them costs is unknown.
	Provisioned Class = "provisioned"
)

// Rate is the price of one unit, in trillionths of a dollar: 1 is $0.000001 for a
// million. [Per] makes one.
type Rate int64

// Per returns the rate of so many dollars for what [Kind.Per] says.
func Per(k Kind, dollars float64) Rate {
	const trillion = 1e12
	r := dollars * trillion / float64(k.Per())
	if r < 0 {
		return Rate(r - 0.5)
	}
	return Rate(r + 0.5)
}

// Dollars returns the price for what [Kind.Per] says.
func (r Rate) Dollars(k Kind) float64 { return float64(r) * float64(k.Per()) / 1e12 }

// Unpriced in the rates of a [Variant] takes a price away: what is asked then is not
// known.
const Unpriced Rate = -1

// Rates are prices by kind. A kind that is not there has no known price; one of 0
// is free.
type Rates map[Kind]Rate
