package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// maxWarnings bounds what the caller is told of one request, and maxWarned the
// bytes of a path in it, which may hold names of the caller's.
const (
	maxWarnings = 128
	maxWarned   = 256
)

// remarks are what the caller is told of one request.
type remarks struct {
	warnings []providers.Warning
	told     []string // what was warned of once, maxWarnings at most
	untold   int      // warnings beyond maxWarnings
}

func (r *remarks) add(w providers.Warning) {
	if len(r.warnings) >= maxWarnings {
		r.untold++
		return
	}
	if len(w.Param) > maxWarned {
		w.Param = strings.ToValidUTF8(w.Param[:maxWarned], "") + "…"
	}
	r.warnings = append(r.warnings, w)
}

func (r *remarks) warn(code, param, message string) {
	r.add(providers.Warning{Code: code, Param: param, Message: message})
}

// warnOnce warns of a habit of the caller, which repeats in every message, with
// the first place it was found at.
func (r *remarks) warnOnce(habit, code, param, message string) {
	if slices.Contains(r.told, habit) {
		return
	}
	if len(r.told) == maxWarnings {
		r.untold++
		return
	}
	r.told = append(r.told, habit)
	r.warn(code, param, message)
}

// keep forgets the remarks that are not to be kept.
func (r *remarks) keep(kept func(*providers.Warning) bool) {
	r.warnings = slices.DeleteFunc(r.warnings, func(w providers.Warning) bool { return !kept(&w) })
}

// unknown tells of the members of extra that are not among the known ones and
// say anything.
func (r *remarks) unknown(path string, extra providers.Extra, known ...string) {
	for name, value := range jsonx.Members(extra) {
		if !slices.Contains(known, name) && !saysNothing(value) {
			r.leftOut(path, name)
		}
	}
}

// leftOut tells of a member without a counterpart on the platform.
func (r *remarks) leftOut(path, name string) {
	r.warnOnce(name, providers.WarnUnknown, below(path, name), "left out: the platform does not know it")
}

// countUntold ends the remarks with how many there was no room for.
func (r *remarks) countUntold() {
	if r.untold > 0 {
		r.warnings = append(r.warnings, providers.Warning{
			Code: providers.WarnUnknown, Message: strconv.Itoa(r.untold) + " more warnings are not listed",
		})
	}
}

// saysNothing reports whether a value is what clients send for "not given".
func saysNothing(value []byte) bool {
	switch string(value) {
	case "null", `""`, "[]", "{}", "false":
		return true
	}
	return false
}
