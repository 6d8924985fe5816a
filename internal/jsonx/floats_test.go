package jsonx

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vectorTexts are numbers as platforms write them: floats of 32 bits in their
// own shortest form and as floats of 64, and any other.
func vectorTexts(n int) []string {
	rnd := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- the same numbers each time
	var out []string
	for range n {
		unit := float32(rnd.NormFloat64() / 32)
		any64 := math.Float64frombits(rnd.Uint64())
		out = append(out, strconv.FormatFloat(float64(unit), 'f', -1, 32), strconv.FormatFloat(float64(unit), 'f', -1, 64),
			strconv.FormatFloat(float64(unit), 'e', -1, 64), strconv.FormatFloat(rnd.Float64(), 'f', -1, 64),
			strconv.FormatFloat(rnd.Float64(), 'f', 1+rnd.IntN(30), 64))
		if !math.IsNaN(any64) && !math.IsInf(any64, 0) {
			out = append(out, strconv.FormatFloat(any64, 'g', -1, 64))
		}
	}
	for scale := range 30 { // around halves of the last bit
		for range n / 200 {
			half := new(big.Int).SetUint64(rnd.Uint64()>>11<<1 | 1)
			text := fmt.Sprintf("%0*d", scale+1, half.Rsh(half, uint(rnd.IntN(12))))
			out = append(out, strings.TrimSuffix(text[:len(text)-scale]+"."+text[len(text)-scale:], "."))
		}
	}
	return append(out, "18446744073709551615", "1844674407370955161.5", "0.9999999999999999999", "0.0000000000000000000000000001",
		"9007199254740993.5", "0.00000000000000000000000000000", "4503599627370497.5", "4503599627370496.5", "0", "-0", "0.0", "1e22", "5e-324", "1.7976931348623157e308", "9007199254740993", "0.1e-5",
		"0.000000000000000000000000000000000001234567890123456789", "123456789012345678901234567890.12345")
}

func TestFloatsAreExact(t *testing.T) {
	texts := vectorTexts(20_000)
	for _, separator := range []string{",", " , ", ",\n  "} {
		r := NewReader([]byte("[" + strings.Join(texts, separator) + "]"))
		got := r.Floats(nil)
		if err := r.End(); err != nil || len(got) != len(texts) {
			t.Fatalf("%d of %d numbers: %v", len(got), len(texts), err)
		}
		for i, text := range texts {
			if want, err := strconv.ParseFloat(text, 64); err != nil || math.Float64bits(want) != math.Float64bits(got[i]) {
				t.Errorf("%s became %v, want %v", text, got[i], want)
			}
		}
	}
}

func TestFloatsOfOtherValues(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []float64
		path string // of the fault; "-" for none
	}{
		{"[]", nil, "-"}, {"null", nil, "-"}, {"[1]", []float64{1}, "-"}, {"[ 1 , 2.5 ]", []float64{1, 2.5}, "-"},
		{"[1,null]", nil, "[1]"}, {`[1,2,"3"]`, nil, "[2]"}, {"[1,,2]", nil, "[1]"}, {"[1,2", nil, "[1]"}, {"[1,02]", nil, "[1]"},
		{"[1,1e999]", nil, "[1]"}, {"[-]", nil, "[0]"}, {"[1 2]", nil, "[0]"}, {"[[1]]", nil, "[0]"}, {"5", nil, ""}, {`{"a":1}`, nil, ""},
	} {
		r := NewReader([]byte(tt.in))
		got := r.Floats(nil)
		var e *Error
		switch err := r.End(); {
		case tt.path == "-":
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got)\n%s", tt.in, err, diff)
			}
		case !errors.As(err, &e) || e.Path != tt.path:
			t.Errorf("%s: %v, want an error at %q", tt.in, err, tt.path)
		}
	}
}

func TestFloatsKeepWhatIsThere(t *testing.T) {
	r := NewReader([]byte(`{"a":[2,3],"b":[4],"c":true}`))
	got := []float64{1}
	for r.Object(); r.NextKey(); {
		if string(r.Key()) == "c" {
			r.Bool()
			continue
		}
		got = r.Floats(got)
	}
	if diff := cmp.Diff([]float64{1, 2, 3, 4}, got); diff != "" || r.End() != nil {
		t.Errorf("%v (-want +got)\n%s", r.Err(), diff)
	}
}

func FuzzFloats(f *testing.F) {
	for _, doc := range []string{"[]", "[1,2.5,-0.25e3]", "[1 ,2]", "[01]", "[1,null]", "[0.02000000000000000001,1e400]", "null", "[1,"} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var want []*float64
		wantErr := json.Unmarshal(doc, &want)
		for _, v := range want {
			if v == nil {
				wantErr = errors.New("a null")
			}
		}
		r := NewReader(doc)
		got := r.Floats(nil)
		if err := r.End(); (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, encoding/json has %v", err, wantErr)
		}
		if wantErr != nil {
			return
		}
		for i := range want {
			if math.Float64bits(*want[i]) != math.Float64bits(got[i]) {
				t.Fatalf("element %d is %v, want %v", i, got[i], *want[i])
			}
		}
	})
}

func BenchmarkFloats768(b *testing.B) {
	for name, bits := range map[string]int{"shortest32": 32, "widened": 64} {
		rnd := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- the same numbers each time
		var texts []string
		for range 768 {
			texts = append(texts, strconv.FormatFloat(float64(float32(rnd.NormFloat64()/32)), 'f', -1, bits))
		}
		doc := []byte("[" + strings.Join(texts, ",") + "]")
		dst := make([]float64, 0, 768)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				r := NewReader(doc)
				dst = r.Floats(dst[:0])
			}
		})
	}
}

// TestRecordedFloatsAreExact reads every number of recorded traffic.
func TestRecordedFloatsAreExact(t *testing.T) {
	dir := os.Getenv("GATEWAY_RECORDED_DIR")
	if dir == "" {
		t.Skip("GATEWAY_RECORDED_DIR names no recordings")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	number := regexp.MustCompile(`-?[0-9]+\.[0-9]+([eE][-+]?[0-9]+)?`)
	count := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range number.FindAll(data, -1) {
			r := NewReader([]byte("[" + string(text) + "]"))
			got := r.Floats(nil)
			want, err := strconv.ParseFloat(string(text), 64)
			if wrong := r.End() != nil; wrong != (err != nil || !json.Valid(text)) {
				t.Errorf("%s: %v, strconv has %v", text, r.Err(), err)
			} else if !wrong && math.Float64bits(got[0]) != math.Float64bits(want) {
				t.Errorf("%s became %v, want %v", text, got[0], want)
			}
			count++
		}
	}
	t.Logf("%d numbers", count)
}

// Numbers whose digits end at each place of a word, and of the input.
func TestFloatsAtTheEndOfTheInput(t *testing.T) {
	const digits = "12345678901234567890123"
	for _, sign := range []string{"", "-"} {
		for zeros := range 12 {
			for n := 1; n <= len(digits); n++ {
				text := sign + "0." + strings.Repeat("0", zeros) + digits[:n]
				want, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				for _, behind := range []string{"", " ", ",", "\x80", "\xff\xff\xff\xff\xff\xff\xff\xff\xff", ":;:;:;:;:;", "////////"} {
					got, end, ok := plainFloat([]byte(text+behind), 0)
					if !ok && n <= maxExactDigits && zeros+n < len(powersOfFive) {
						t.Errorf("%s is not plain", text)
					}
					if ok && (math.Float64bits(got) != math.Float64bits(want) || end != len(text)) {
						t.Errorf("%q became %v up to %d, want %v", text+behind, got, end, want)
					}
				}
			}
		}
	}
}
