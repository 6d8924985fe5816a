package jsonx

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestInt(t *testing.T) {
	huge := strings.Repeat("0", 400)
	tests := []struct {
		in   string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"-0", 0, true}, {"0.0", 0, true}, {"0e99999999999", 0, true}, {"-0.00e-5", 0, true},
		{"7", 7, true}, {"-12", -12, true}, {"13.0", 13, true}, {"13.000", 13, true},
		{"1e3", 1000, true}, {"1E+3", 1000, true}, {"1.5e1", 15, true}, {"1200e-2", 12, true}, {"0.0012e4", 12, true},
		{"9007199254740993", 9007199254740993, true}, {"9007199254740993.0", 9007199254740993, true},
		{"9223372036854775807", math.MaxInt64, true}, {"-9223372036854775808", math.MinInt64, true},
		{"922337203685477580.7e1", math.MaxInt64, true}, {"9.223372036854775807e18", math.MaxInt64, true},
		{"1" + huge + "e-400", 1, true}, {"0." + huge + "1e401", 1, true},
		{"9223372036854775808", 0, false}, {"-9223372036854775809", 0, false}, {"18446744073709551616", 0, false},
		{"1e19", 0, false}, {"1e400", 0, false}, {"1e999999999999999999999", 0, false}, {"1" + huge, 0, false},
		{"1.5", 0, false}, {"1e-1", 0, false}, {"-0.1", 0, false}, {"1e-999999999999", 0, false}, {"12.00000000000000000000001", 0, false},
	}
	for _, tt := range tests {
		r, quoted := NewReader([]byte(tt.in)), NewReader([]byte(`"`+tt.in+`"`))
		for name, got := range map[string]int64{"Int": r.Int(), "LooseInt": quoted.LooseInt()} {
			if got != tt.want {
				t.Errorf("%s of %.40s = %d, want %d", name, tt.in, got, tt.want)
			}
		}
		if r.End() == nil != tt.ok || quoted.End() == nil != tt.ok {
			t.Errorf("%.40s: errors %v and %v, want ok %v", tt.in, r.Err(), quoted.Err(), tt.ok)
		}
		var e *Error
		if !tt.ok && (!errors.As(r.Err(), &e) || e.Offset != 0 || e.Msg != faultInteger.text()) {
			t.Errorf("%.40s: error %v", tt.in, r.Err())
		}
	}
}

func TestLooseInt(t *testing.T) {
	for in, want := range map[string]int64{`5`: 5, `"5"`: 5, `"-5"`: -5, `"1e2"`: 100, `null`: 0, `"\u0035"`: 5} {
		r := NewReader([]byte(in))
		if got := r.LooseInt(); got != want || r.End() != nil {
			t.Errorf("LooseInt of %s = %d, %v, want %d", in, got, r.Err(), want)
		}
	}
	for _, in := range []string{`""`, `" 5"`, `"5 "`, `"x"`, `"+5"`, `"05"`, `"-"`, `"0x5"`, `"5`, `true`, `{}`, `"1.5"`} {
		r := NewReader([]byte(in))
		if got := r.LooseInt(); got != 0 || r.Err() == nil {
			t.Errorf("LooseInt of %s = %d, %v, want an error", in, got, r.Err())
		}
	}
}

var floats = []string{
	"0", "-0", "0.0", "1", "-1.5", "0.1", "3.141592653589793", "1e22", "1e23", "-1e-22", "1e-23", "123456789012345678901234567890",
	"9007199254740992", "9007199254740993", "9007199254740993e1", "0.000001", "1e-7", "5e-324", "2e-324", "1e-400", "1.7976931348623157e308",
	"936289243811878.9774", "618385619085901.7740", "28.11740040746358482", "99999999999999999999", "18446744073709551616.5",
	"-0.06246861815452576", "0.013168523", "1.0000000000000000000000001", "100000000000000000000000000000000000e-35",
	"1e308", "1e309", "-1e400", "1e99999999999999999999", "0e99999999999999999999", "0.5e+1", "12E-1",
}

func TestFloatAgreesWithEncodingJSON(t *testing.T) {
	for _, in := range floats {
		checkNumber(t, in)
	}
}

// checkNumber reads a number, or what looks like one, in all ways.
func checkNumber(t *testing.T, in string) {
	t.Helper()
	var want float64
	wantErr := json.Unmarshal([]byte(in), &want)
	r := NewReader([]byte(in))
	got := r.Float()
	if err := r.End(); (err == nil) != (wantErr == nil) {
		t.Errorf("Float of %.40q: error %v, encoding/json has %v", in, err, wantErr)
	} else if err == nil && math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("Float of %.40q = %v, want %v", in, got, want)
	}
	if !json.Valid([]byte(in)) || len(in) > 20 {
		return // big.Rat would spend minutes on long exponents
	}
	if i := strings.IndexAny(in, "eE"); i >= 0 && len(in)-i > 5 {
		return
	}
	exact, ok := new(big.Rat).SetString(in)
	if !ok {
		t.Fatalf("big.Rat does not read %q", in)
	}
	r.Reset([]byte(in))
	n := r.Int()
	if ok := exact.IsInt() && exact.Num().IsInt64(); ok != (r.End() == nil) || ok && n != exact.Num().Int64() {
		t.Errorf("Int of %q = %d, %v, want %v", in, n, r.Err(), exact)
	}
}
