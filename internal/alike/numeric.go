package alike

import (
	"strconv"
	"strings"
	"unicode"
)

// symbolsOfMoney are signs before or after an amount, longest first, with the
// names of their currencies.
var symbolsOfMoney = []struct{ sign, currency string }{
	{"us$", "usd"}, {"ca$", "cad"}, {"au$", "aud"}, {"a$", "aud"}, {"c$", "cad"}, {"hk$", "hkd"}, {"$", "usd"}, {"€", "eur"}, {"£", "gbp"}, {"¥", "jpy"}, {"₹", "inr"}, {"₽", "rub"}, {"₩", "krw"},
}

// numeric adds a chunk that has digits in it as a number with its unit, a range, a
// date or a time, or says that it is none.
func (s *scanner) numeric(c string) bool {
	low := strings.ToLower(c)
	if len(low) != len(c) {
		return false
	}
	sign := ""
	if low[0] == '-' {
		sign, low = "-", low[1:]
	}
	money := ""
	for _, m := range symbolsOfMoney {
		if rest, ok := strings.CutPrefix(low, m.sign); ok {
			money, low = m.currency, rest
			break
		}
	}
	if len(low) > 1 && low[0] == 'v' && strings.Trim(low[1:], "0123456789.") == "" {
		low = low[1:]
	}
	n := len(low) - len(strings.TrimLeft(low, "0123456789.,'"))
	if n == 0 || !allDigits(low[:1]) || !allDigits(low[n-1:n]) {
		return false
	}
	value, rest, written := low[:n], low[n:], c[len(c)-len(low)+n:]
	switch {
	case rest == "" && money == "" && s.dotted(value):
		return true
	case rest != "" && strings.Contains("-:/", rest[:1]):
		return money == "" && sign == "" && s.compound(value, rest[0], rest[1:])
	case rest == "st" || rest == "nd" || rest == "rd" || rest == "th":
		s.put(place, value)
		return true
	}
	return s.amount(sign+canonical(value), rest, written, money)
}

// amount adds a number and the unit that is written with it.
func (s *scanner) amount(value, rest, written, money string) bool {
	if money != "" {
		value = trimZeros(value)
		if zeros, ok := map[string]int{"k": 3, "m": 6, "mn": 6, "b": 9, "bn": 9}[rest]; ok {
			value, rest = shift(value, zeros), ""
		}
		s.put(digits, value)
		s.put(word, money)
		if rest != "" {
			s.put(word, rest)
		}
		return true
	}
	for _, m := range symbolsOfMoney {
		if rest == m.sign {
			s.put(digits, trimZeros(value))
			s.put(word, m.currency)
			return true
		}
	}
	for _, r := range strings.TrimPrefix(rest, "°") {
		if !unicode.IsLetter(r) && rest != "%" && r != '.' {
			return false
		}
	}
	s.put(digits, value)
	switch {
	case rest == "%":
		s.put(word, "percent")
	case rest == "a.m" || rest == "p.m":
		s.put(word, rest[:1]+"m")
	case written != "" && written[0] == 'M' && len(written) <= 2 && strings.ContainsAny(written, "WVJgbl") || written == "M":
		s.exact(written) // mega, which is not milli
	case rest != "":
		s.put(word, rest)
	}
	return true
}

// dotted adds a version, an address or a date: numbers with two dots or more.
func (s *scanner) dotted(value string) bool {
	parts := strings.Split(value, ".")
	if len(parts) < 3 || strings.ContainsAny(value, ",'") {
		return false
	}
	if len(parts) == 3 && len(parts[2]) == 4 && s.date(parts[2], parts[1], parts[0]) {
		return true
	}
	s.put(code, value)
	return true
}

// compound adds numbers that a hyphen, a colon or a slash joins.
func (s *scanner) compound(first string, joint byte, rest string) bool {
	parts := strings.Split(rest, string(joint))
	switch joint {
	case '-':
		if len(parts) == 2 && len(first) == 4 && s.date(first, parts[0], parts[1]) {
			return true
		}
		if len(parts) != 1 || !allDigits(first) || !allDigits(parts[0]) {
			return false
		}
		s.put(digits, first)
		s.put(digits, parts[0])
		return true
	case ':':
		return len(parts) == 1 && len(first) <= 2 && s.time(first, parts[0])
	}
	return len(parts) == 2 && len(parts[1]) == 4 && allDigits(parts[0]) && s.slashes(first, parts[0], parts[1])
}

// time adds a time of day. One with seconds is left to the letter.
func (s *scanner) time(hour, rest string) bool {
	if len(rest) < 2 || !allDigits(rest[:2]) {
		return false
	}
	half := rest[2:]
	if half != "" && half != "am" && half != "pm" && half != "h" {
		return false
	}
	s.put(clock, clockOf(hour, rest[:2], half))
	return true
}

// slashes adds a date with slashes. Which of the first two is the month depends on
// the country, unless one is above 12.
func (s *scanner) slashes(first, second, year string) bool {
	switch x, y := number0(first), number0(second); {
	case x > 12:
		return s.date(year, second, first)
	case y > 12:
		return s.date(year, first, second)
	default:
		s.put(date, strconv.Itoa(x)+"/"+strconv.Itoa(y)+"/"+year)
	}
	return true
}

// date adds a date, if it is one.
func (s *scanner) date(year, month, day string) bool {
	m, d := number0(month), number0(day)
	if !allDigits(year) || m < 1 || m > 12 || d < 1 || d > 31 {
		return false
	}
	s.put(date, dateOf(m, d)+"-"+year)
	return true
}

func dateOf(month, day int) string { return strconv.Itoa(month) + "-" + strconv.Itoa(day) }

// clockOf is a time in 24 hours. Without am or pm, an hour up to 12 that does not
// begin with 0 may be either.
func clockOf(hour, minute, half string) string {
	h := number0(hour)
	switch {
	case half == "pm" && h < 12:
		h += 12
	case half == "am" && h == 12:
		h = 0
	case half == "" && h <= 12 && h > 0 && hour[0] != '0':
		return "?" + strconv.Itoa(h) + ":" + minute
	}
	return strconv.Itoa(h) + ":" + minute
}

// number0 is a small number, or -1.
func number0(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

func allDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// canonical writes a number without the marks between its thousands, and with a
// point. One comma before three digits is between thousands, one point is not.
func canonical(value string) string {
	value = strings.ReplaceAll(value, "'", "")
	point, comma := strings.LastIndexByte(value, '.'), strings.LastIndexByte(value, ',')
	switch {
	case point >= 0 && comma >= 0 && point > comma:
		return strings.ReplaceAll(value, ",", "")
	case point >= 0 && comma >= 0:
		return strings.ReplaceAll(strings.ReplaceAll(value, ".", ""), ",", ".")
	case comma >= 0 && (strings.Count(value, ",") > 1 || len(value)-comma == 4):
		return strings.ReplaceAll(value, ",", "")
	}
	return strings.ReplaceAll(value, ",", ".")
}

// trimZeros takes zeros off the end of an amount's fraction.
func trimZeros(value string) string {
	if !strings.Contains(value, ".") {
		return value
	}
	return strings.TrimSuffix(strings.TrimRight(value, "0"), ".")
}

// shift multiplies a decimal number by a power of ten.
func shift(value string, zeros int) string {
	whole, fraction, _ := strings.Cut(value, ".")
	for range zeros {
		next := "0"
		if fraction != "" {
			next, fraction = fraction[:1], fraction[1:]
		}
		whole += next
	}
	whole = strings.TrimLeft(whole, "0")
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		return whole + "." + fraction
	}
	return whole
}
