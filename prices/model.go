package prices

import "strings"

// publishers may stand before a model's name, with a dot or a slash.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/use-partner-models
var publishers = [...]string{
	"google", "anthropic", "meta", "mistralai", "ai21", "qwen", "deepseek-ai", "deepseek", "openai", "moonshotai", "moonshot-ai",
	"zai-org", "minimaxai", "minimax", "xai", "nvidia", "intfloat",
}

// reference takes a model reference apart: the name by which rows are found, and
// the region that a full resource name says.
func reference(ref string) (name, region string) {
	if strings.HasPrefix(ref, "projects/") {
		return resource(ref)
	}
	if rest, ok := strings.CutPrefix(ref, "publishers/"); ok {
		if _, name, ok := strings.Cut(rest, "/models/"); ok {
			return name, ""
		}
		return ref, ""
	}
	name = strings.TrimPrefix(ref, "models/")
	for _, p := range publishers {
		if len(name) > len(p)+1 && name[:len(p)] == p && (name[len(p)] == '.' || name[len(p)] == '/') {
			return name[len(p)+1:], ""
		}
	}
	return name, ""
}

// resource takes projects/P/locations/L/publishers/PUBLISHER/models/NAME apart. A
// tuned model or endpoint goes by its whole name.
func resource(ref string) (name, region string) {
	_, rest, _ := strings.Cut(ref, "/locations/")
	region, rest, _ = strings.Cut(rest, "/")
	if published, ok := strings.CutPrefix(rest, "publishers/"); ok {
		if _, name, ok := strings.Cut(published, "/models/"); ok {
			return name, region
		}
	}
	return ref, region
}

// shorter returns a name without the last word of its version, such as "-001",
// "@20250929", "-v2" or "-preview-05-06"; ok is false when it does not end in one.
// Numbers of two digits count within a date alone: "-4-10" may be another model.
func shorter(name string) (stem string, ok bool) {
	short := false // a day or a month was seen, which must belong to something
	for {
		i := strings.LastIndexAny(name, "-@")
		if i <= 0 {
			return "", false
		}
		word := name[i+1:]
		switch {
		case digits(word) && len(word) == 2:
			short = true
		case word == "preview", digits(word) && len(word) >= 4, !short && versionWord(word):
			return name[:i], true
		default:
			return "", false
		}
		name = name[:i]
	}
}

func versionWord(s string) bool {
	switch s {
	case "latest", "default":
		return true
	}
	return digits(s) && len(s) == 3 || len(s) > 1 && s[0] == 'v' && digits(s[1:])
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
