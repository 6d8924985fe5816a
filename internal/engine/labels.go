package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// checkLabels returns the keys in order, or an error about the first label that
// the platform would refuse: a key begins with a lower-case letter, and keys
// and values have at most 63 lower-case letters, digits, underscores and
// hyphens; 64 labels at most.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/add-labels-to-api-calls
func checkLabels(labels map[string]string) ([]string, error) {
	if len(labels) > maxLabels {
		return nil, providers.Invalid("labels", "64 labels at most")
	}
	keys := slices.Sorted(maps.Keys(labels))
	for _, k := range keys {
		switch {
		case k == "" || k[0] < 'a' || k[0] > 'z' || !isLabel(k):
			return nil, providers.Invalid("labels", "the key "+quoteShort(k)+" can't be one: a label key begins with a lower-case "+
				"letter and has at most 63 lower-case letters, digits, _ and -")
		case !isLabel(labels[k]):
			return nil, providers.Invalid("labels."+k, "a label value has at most 63 lower-case letters, digits, _ and -")
		}
	}
	return keys, nil
}

// maxLabels is the most labels of one request.
const maxLabels = 64

// hintedLabels returns the labels made from the call's metadata, fitted to the
// platform's grammar: upper case is lowered, what can't stand is an underscore,
// what is too long is cut, and empty values are nothing. It reports how many
// found no room, or their name taken, beside the request's own labels, which win.
func hintedLabels(hints, own map[string]string) (labels map[string]string, left int) {
	for _, name := range slices.Sorted(maps.Keys(hints)) {
		key, value := fitLabel(name), fitLabel(hints[name])
		_, given := own[key]
		if value == "" || given || key == "" || key[0] < 'a' || key[0] > 'z' {
			continue
		}
		if _, taken := labels[key]; taken || len(own)+len(labels) >= maxLabels {
			left++
			continue
		}
		if labels == nil {
			labels = make(map[string]string, len(hints))
		}
		labels[key] = value
	}
	return labels, left
}

func fitLabel(s string) string {
	fit := strings.Map(func(c rune) rune {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return '_'
		}
		return c
	}, strings.ToLower(s))
	return fit[:min(len(fit), 63)]
}

func isLabel(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return len(s) <= 63
}
