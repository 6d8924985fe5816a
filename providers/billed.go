package providers

// Billed says what an answer is billed by beside the tokens of its [Usage], and
// where. A 0 may be nothing, or not known.
type Billed struct {
	// Region is where the model was asked, such as "global" or "europe-west4"; empty
	// for providers without regions.
	Region string
	// Searches counts the queries to a web search that the platform made for the
	// answer. Of Claude they are in the usage.
	Searches int
	// Maps says that places of a map service ground the answer.
	Maps bool
	// Images counts what was drawn, and ImageSize is its size in the word of the
	// answer, such as "1024x1024".
	Images    int
	ImageSize string
	// Documents counts what was ordered.
	Documents int
	// Characters counts the text that was spoken.
	Characters int
}
