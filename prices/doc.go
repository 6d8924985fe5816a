// Package prices says what calls cost: a table of list prices with their dates and
// sources, the reckoning of a call, and budgets. A price that is not known is not
// known, and never nothing.
package prices
