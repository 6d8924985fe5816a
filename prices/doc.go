// Package prices says what calls cost: a table of list prices with their dates and
// sources, the reckoning of a call, and budgets. A price that is not known is not
// known, and never nothing.
//
//	table := prices.Default()
//	cost, saved := table.Record(&record) // nil is unknown
//
// # What is reckoned
//
// A call costs what its usage says at the list price of its day: tokens by kind,
// images, searches, queries. Cached tokens are part of the prompt and reasoning is
// part of the completion; each token is paid for once. One kind without a price
// leaves the whole call unknown, and [Cost] names it.
//
// An answer from the response cache costs nothing, and saves what it would cost.
//
// # Budgets
//
// A [Budget] is an observer, which can refuse further calls:
//
//	budget, err := prices.NewBudget(prices.BudgetOptions{Limits: []prices.Limit{
//		{Name: "keys", By: prices.ByKey, Window: prices.Monthly, Amount: 100 * prices.Dollar, Refuse: true},
//	}})
//	client, err := gateway.New(gateway.WithObserver(budget), …)
//
// # Caveats
//
// It is an estimate and no bill. Free tiers, committed use, taxes and currencies
// are left out, and so is what is billed apart from calls: the storage of cached
// content ([CacheStorage], by the hour), files, and machines of own endpoints,
// whose calls are unknown unless a row gives their price.
package prices
