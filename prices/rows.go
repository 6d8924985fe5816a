package prices

import "slices"

// defaultRows are the prices that this package ships.
func defaultRows() []Row { return slices.Concat(claudeRows(), geminiRows()) }
