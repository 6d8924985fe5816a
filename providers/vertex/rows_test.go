package vertex_test

import (
	"slices"

	"github.com/b650d4bf/gateway/catalog"
)

// geminiRows are the rows of the model table for Gemini.
func geminiRows() []catalog.Model {
	return slices.DeleteFunc(rowsOf("google"), func(m catalog.Model) bool { return m.Wire != "" })
}

// rowsOf returns the rows of a publisher.
func rowsOf(publisher string) []catalog.Model {
	return slices.DeleteFunc(catalog.DefaultModels().All(), func(m catalog.Model) bool { return m.Publisher != publisher })
}
