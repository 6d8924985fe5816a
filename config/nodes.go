package config

import (
	"encoding/json"
	"slices"
)

// rawObject is a JSON object that is kept as bytes.
type rawObject = json.RawMessage

// targetRows is the table of a target.
var targetRows = targetTable()

// siblingRows is how many rows, the first, are for targets with siblings.
const siblingRows = 2

// rootRows returns the table of a config.
func rootRows() []member[Target] { return targetRows[siblingRows:] }

func targetTable() []member[Target] {
	name := text(Member{
		Name: "name", Pattern: namePattern, Inherited: inheritsNot,
		Does: "What conditions and logs call the target by, unlike its siblings. Printable ASCII, at most 128 bytes.",
	}, func(t *Target) *string { return &t.Name }, checkName)
	weight := number(Member{
		Name: "weight", Max: maxWeight, Inherited: inheritsNot, Default: "1",
		Does: "Below loadbalance: the target's share relative to its siblings; 0 takes no requests.",
	}, func(t *Target) *float64 { return t.Weight }, func(t *Target, f *float64) { t.Weight = f })
	settings := within(settingsTable(), func(t *Target) *Settings { return &t.Settings })
	return slices.Concat([]member[Target]{name, weight}, settings, groupTable())
}

// groupTable has the members that make a node a group.
func groupTable() []member[Target] {
	strategy := object(Member{
		Name: "strategy", Of: "strategy", Inherited: inheritsNot, Default: "single",
		Does: "How the targets are used. Required with more than one.",
	}, func(t *Target) **Strategy { return &t.Strategy }, strategyTable(), checkStrategy)
	targets := list(Member{
		Name: "targets", Of: "target", Filled: true, Inherited: inheritsNot, Default: "the node is a target itself",
		Does: "Where a request can go: up to 256 in all, 8 levels deep with the config itself.",
	}, func(t *Target) *[]Target { return &t.Targets }, listed[Target]{
		read:  readTarget,
		write: func(w *encoder, t *Target) { writeObject(w, w.rows, t) },
		check: checkTarget,
	})
	return []member[Target]{strategy, targets}
}

// readTarget stops at the bounds of the tree, which checkTarget reports: what is
// beyond them is not worth its memory.
func readTarget(d *decoder, path string, raw []byte, t *Target) {
	if d.enter() {
		readObject(d, path, raw, d.rows, t)
		d.leave()
	}
}

func checkTarget(p *problems, path string, t *Target) {
	switch {
	case p.enter():
		checkObject(p, path, p.rows, t)
		checkGroup(p, path, t)
		p.leave()
	case p.targets == MaxTargets:
		p.add("targets", "are more than the %d that a config may have in all", MaxTargets)
	default:
		p.add(path, "is nested too deeply: %d levels of targets at most, the config itself included", MaxDepth)
	}
}

// Members returns the table of all members, object by object. The first object
// is "target": a config has the same members but name and weight. The caller
// owns the slice.
func Members() []Member {
	return slices.Concat(
		rowsOf("target", targetRows),
		rowsOf("strategy", strategyTable()),
		rowsOf("condition", conditionTable()),
		rowsOf("sticky", stickyTable()),
		rowsOf("cache", cacheTable()),
		rowsOf("retry", retryTable()),
		rowsOf("backoff", backoffTable()),
		rowsOf("limits", limitsTable()),
		rowsOf("cb_config", cooldownTable()),
		rowsOf("hedge", hedgeTable()),
		rowsOf("guard", guardTable()),
	)
}

func rowsOf[T any](object string, rows []member[T]) []Member {
	out := make([]Member, len(rows))
	for i := range rows {
		out[i] = rows[i].Member
		out[i].Object = object
	}
	return out
}
