package alike

import (
	"strconv"
	"strings"
)

// halfDay makes a time of the hour before it.
func (r *reducer) halfDay(half string) {
	last := r.last()
	if last == nil || last.class != number || !allDigits(last.key) && last.key[0] != '?' {
		if half == "pm" {
			r.keep(half, unit)
		}
		return // the verb
	}
	hour, minute, _ := strings.Cut(strings.TrimPrefix(last.key, "?"), ":")
	if minute == "" {
		minute = "00"
	}
	last.key = clockOf(hour, minute, half)
}

// day joins a day with the month beside it, and the year after both.
func (r *reducer) day() {
	n := len(r.atoms)
	if n < 2 {
		r.dayAfter()
		return
	}
	day, mon := r.atoms[n-2], r.atoms[n-1]
	if mon.class != month || day.class != number || mon.role != "" && mon.role != "of" {
		r.dayAfter()
		return
	}
	if d := number0(strings.TrimPrefix(day.key, "#")); d >= 1 && d <= 31 {
		r.atoms = r.atoms[:n-1]
		r.atoms[n-2].key = dateOf(monthOf(mon.key), d)
		r.year()
		return
	}
	r.dayAfter()
}

// dayAfter joins the month that was kept last with a day after it.
func (r *reducer) dayAfter() {
	last, i := r.last(), 0
	if last.class != month {
		return
	}
	if t := r.peek(0); t != nil && t.kind == word && t.text == "the" {
		i = 1
	}
	t := r.peek(i)
	if t == nil || t.kind != digits && t.kind != place {
		return
	}
	if d := number0(t.text); d >= 1 && d <= 31 {
		last.key, last.class = dateOf(monthOf(last.key), d), number
		r.at += i + 1
		r.year()
	}
}

func monthOf(key string) int { return number0(strings.TrimPrefix(key, "m")) }

// year adds the year to the date that was kept last.
func (r *reducer) year() {
	last, i := r.last(), 0
	last.class = number
	for t := r.peek(i); t != nil && i < 2 && (t.kind == pause || t.text == "of"); t = r.peek(i) {
		i++
	}
	if t := r.peek(i); t != nil && t.kind == digits && len(t.text) == 4 && (t.text[0] == '1' || t.text[0] == '2') {
		last.key += "-" + t.text
		r.at += i + 1
	}
}

// number reads a number in digits or in words, with the words that multiply it.
func (r *reducer) number() {
	t := r.peek(0)
	value := t.text
	if t.kind == digits {
		r.at++
	} else {
		value = strconv.Itoa(r.spelled())
	}
	for {
		next := r.peek(0)
		if next == nil || next.kind != word {
			break
		}
		m, n := find(r.in, r.tokens[r.at:])
		skipped := m != nil && m.class == unit && n == 1 && t.kind == digits // $2 million
		if skipped {
			m, n = find(r.in, r.tokens[r.at+n:])
		}
		if m == nil || m.class != scale || strings.HasPrefix(value, "-") {
			break
		}
		value = shift(value, number0(m.key))
		if skipped {
			r.tokens[r.at+1].kind, n = pause, 0
		}
		r.at += n
		if skipped {
			break
		}
	}
	r.unversion()
	r.keep(value, number)
	r.day()
}

// unversion takes back the word "version" before its number.
func (r *reducer) unversion() {
	if last := r.last(); last != nil && last.key == "version" {
		r.role = last.role
		r.atoms = r.atoms[:len(r.atoms)-1]
	}
}

// spelled reads a number up to 999 in words. Larger ones are multiples of it.
func (r *reducer) spelled() int {
	total, seen := 0, false
	for {
		m, n := find(r.in, r.tokens[r.at:])
		switch {
		case m == nil:
			return total
		case m.class == numeral && (!seen || total%10 == 0 && number0(m.key) < 10 || total%100 == 0 && total > 0):
			total += number0(m.key)
		case m.class == scale && m.key == "2" && total < 10:
			total = max(total, 1) * 100
		case m.class == scale && !seen:
			return 1
		case m.class == and && seen && total >= 100 && r.numeralAt(n):
		default:
			return total
		}
		r.at += n
		seen = true
	}
}

func (r *reducer) numeralAt(n int) bool {
	m, _ := find(r.in, r.tokens[min(r.at+n, len(r.tokens)):])
	return m != nil && m.class == numeral
}
