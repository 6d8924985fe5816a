package vertex

import (
	"maps"
	"slices"

	"github.com/b650d4bf/gateway/providers"
)

// checkLabels returns the keys in order, or an error about the first label that
// the platform would refuse: a key begins with a lower-case letter, and keys
// and values have at most 63 lower-case letters, digits, underscores and
// hyphens; 64 labels at most.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/add-labels-to-api-calls
func checkLabels(labels map[string]string) ([]string, error) {
	if len(labels) > 64 {
		return nil, providers.Invalid("labels", "64 labels at most")
	}
	keys := slices.Sorted(maps.Keys(labels))
	for _, k := range keys {
		switch {
		case k == "" || k[0] < 'a' || k[0] > 'z' || !isLabel(k):
			return nil, providers.Invalid("labels", "a label key begins with a lower-case letter and has at most 63 "+
				"lower-case letters, digits, _ and -")
		case !isLabel(labels[k]):
			return nil, providers.Invalid("labels."+k, "a label value has at most 63 lower-case letters, digits, _ and -")
		}
	}
	return keys, nil
}

func isLabel(s string) bool { return len(s) <= 63 && onlyFrom(s, "_-") }
