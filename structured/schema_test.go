package structured

import (
	"encoding/json"
	"errors"
	"flag"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
)

var update = flag.Bool("update", false, "rewrite the golden file")

type unit string

func (unit) Enum() []string { return []string{"celsius", "fahrenheit"} }

type scalars struct {
	Zebra  string  `json:"zebra"`
	Apple  bool    `json:"apple"`
	Mango  float64 `json:"mango"`
	Count  int
	Small  int8
	Byte   uint8
	Hidden string `json:"-"`
	_      string
}

type described struct {
	Why     string `json:"why" jsonschema:"reasons, before the verdict <short>"`
	Verdict bool   `json:"verdict" jsonschema:"true when it holds"`
}

type optional struct {
	A string    `json:"a"`
	B string    `json:"b,omitempty"`
	C time.Time `json:"c,omitzero"`
	D *string   `json:"d,omitempty"`
}

type nullable struct {
	S *string     `json:"s"`
	N **int       `json:"n"`
	L *[]string   `json:"l"`
	O *described  `json:"o"`
	U *unit       `json:"u" jsonschema:"of the scale"`
	E []*unit     `json:"e"`
	T *time.Time  `json:"t"`
	P []*optional `json:"p"`
}

type lists struct {
	Tags   []string             `json:"tags"`
	Grid   [][]int              `json:"grid"`
	Pair   [2]float64           `json:"pair"`
	Steps  []described          `json:"steps"`
	Scores map[string]int       `json:"scores"`
	Groups map[unit][]described `json:"groups"`
}

type special struct {
	At    time.Time       `json:"at"`
	For   time.Duration   `json:"for"`
	Raw   json.RawMessage `json:"raw"`
	Any   any             `json:"any" jsonschema:"what it was"`
	Bytes []byte          `json:"bytes"`
	Num   json.Number     `json:"num"`
	Big   *big.Int        `json:"big"`
	Addr  netip.Addr      `json:"addr"`
	Free  map[string]any  `json:"free"`
}

type base struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Outcome is exported, so that a pointer to it can be embedded.
type Outcome struct {
	Why     string `json:"why"`
	Verdict bool   `json:"verdict"`
}

type embeds struct {
	First string `json:"first"`
	base
	*Outcome
	Name  string `json:"name"`
	Final int    `json:"final"`
}

type page[T any] struct {
	Items []T  `json:"items"`
	More  bool `json:"more"`
}

type deep struct {
	A struct {
		B struct {
			C []struct {
				Z int `json:"z"`
				Y int `json:"y"`
			} `json:"c"`
		} `json:"b"`
	} `json:"a"`
}

func text(t *testing.T, raw json.RawMessage, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// shapes are the schemas of the golden file, in its order.
func shapes() []struct {
	name   string
	schema func() (json.RawMessage, error)
} {
	return []struct {
		name   string
		schema func() (json.RawMessage, error)
	}{
		{"scalars", Schema[scalars]},
		{"described", Schema[described]},
		{"optional", Schema[optional]},
		{"nullable", Schema[nullable]},
		{"lists", Schema[lists]},
		{"special", Schema[special]},
		{"embeds", Schema[embeds]},
		{"generic", Schema[page[base]]},
		{"deep", Schema[deep]},
		{"empty", Schema[struct{}]},
		{"map", Schema[map[string][]base]},
		{"slice", Schema[[]base]},
		{"enum", Schema[unit]},
		{"pointer", Schema[*base]},
		{"any", Schema[any]},
		{"string", Schema[string]},
	}
}

func TestSchemas(t *testing.T) {
	var got strings.Builder
	for _, s := range shapes() {
		raw, err := s.schema()
		got.WriteString(s.name + "\t" + text(t, raw, err) + "\n")
	}
	golden := filepath.Join("testdata", "schemas.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("schemas (-want +got):\n%s", diff)
	}
}

func TestSchemaIsTheSameEachTime(t *testing.T) {
	for _, s := range shapes() {
		first, err := s.schema()
		want := text(t, first, err)
		runs := 10
		if s.name == "embeds" || s.name == "scalars" {
			runs = 1000
		}
		for range runs {
			raw, err := s.schema()
			if got := text(t, raw, err); got != want {
				t.Fatalf("%s: %s, then %s", s.name, want, got)
			}
		}
	}
}

type node struct {
	Children []node `json:"children"`
}

type left struct{ Right *right }

type right struct{ Left map[string]left }

type odd struct{}

func (*odd) UnmarshalJSON([]byte) error { return nil }

type level int

func (level) Enum() []string { return []string{"1"} }

type none string

func (none) Enum() []string { return nil }

type hidden struct{ A int }

func TestTypesThatAreRefused(t *testing.T) {
	tests := []struct {
		name  string
		of    func() (json.RawMessage, error)
		param string
	}{
		{"recursion through a slice", Schema[node], "node.Children[]"},
		{"recursion over two types", Schema[struct{ L left }], "struct.L.Right.Left[]"},
		{"a method that reads JSON", Schema[struct{ O []odd }], "struct.O[]"},
		{"an enum of numbers", Schema[struct{ L level }], "struct.L"},
		{"an enum without values", Schema[none], "none"},
		{"a channel", Schema[struct{ C chan int }], "struct.C"},
		{"a function", Schema[struct{ F []func() }], "struct.F[]"},
		{"a complex number", Schema[struct{ C complex64 }], "struct.C"},
		{"an interface with methods", Schema[struct{ E error }], "struct.E"},
		{"keys that are numbers", Schema[map[int]string], "map"},
		{"a number in a string", Schema[struct {
			N int `json:"n,string"`
		}], "struct.N"},
		{"two fields of one name", Schema[struct {
			base
			Key string `json:"id"`
		}], "struct.Key"},
		{"a name that encoding/json passes over", Schema[struct {
			A int `json:"it's"` //nolint:staticcheck // the name is wrong on purpose
		}], "struct.A"},
		{"a field hidden by a Go name", Schema[struct {
			base
			Name string `json:"title"`
		}], "struct.base.Name"},
		{"an embedded struct with a name", Schema[struct {
			base `json:"base"`
		}], "struct.base"},
		{"an embedded struct that is left out", Schema[struct {
			base `json:"-"`
		}], "struct.base"},
		{"an embedded pointer that cannot be set", Schema[struct{ *hidden }], "struct.hidden"},
		{"an embedded slice", Schema[struct{ Slice }], "struct.Slice"},
		{"a description that begins like a keyword", Schema[struct {
			A int `jsonschema:"enum=a"`
		}], "struct"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			schema, err := tt.of()
			var e *gateway.Error
			if !errors.As(err, &e) || e.Code != gateway.ErrInvalidRequest || e.Param != tt.param || e.Sent {
				t.Errorf("schema %s, error %v, want one about %s", schema, err, tt.param)
			}
		})
	}
}

// Slice is exported, as an embedded field must be to count.
type Slice []int

func TestFormat(t *testing.T) {
	tests := []struct {
		name   string
		format func() (*gateway.ResponseFormat, error)
		title  string
		strict bool
	}{
		{"a struct", func() (*gateway.ResponseFormat, error) { return Format[described]("") }, "described", true},
		{"a given name", func() (*gateway.ResponseFormat, error) { return Format[described]("verdict") }, "verdict", true},
		{"an enum that may be null", func() (*gateway.ResponseFormat, error) { return Format[struct{ U *unit }]("") }, "answer", true},
		{"a generic type", func() (*gateway.ResponseFormat, error) { return Format[page[base]]("") }, "page", true},
		{"a pointer", func() (*gateway.ResponseFormat, error) { return Format[*described]("") }, "described", true},
		{"a type without a name", func() (*gateway.ResponseFormat, error) { return Format[struct{ A int }]("") }, "answer", true},
		{"an optional member", func() (*gateway.ResponseFormat, error) { return Format[optional]("") }, "optional", false},
		{"an optional member further in", func() (*gateway.ResponseFormat, error) { return Format[nullable]("") }, "nullable", false},
		{"free values", func() (*gateway.ResponseFormat, error) { return Format[special]("") }, "special", false},
		{"a map", func() (*gateway.ResponseFormat, error) { return Format[lists]("") }, "lists", false},
		{"a slice", func() (*gateway.ResponseFormat, error) { return Format[[]base]("") }, "answer", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := tt.format()
			if err != nil {
				t.Fatal(err)
			}
			j := f.JSONSchema
			if f.Type != "json_schema" || j.Name != tt.title || !json.Valid(j.Schema) || (j.Strict != nil && *j.Strict) != tt.strict {
				t.Errorf("format %s, name %q, strict %v, schema %s", f.Type, j.Name, j.Strict, j.Schema)
			}
		})
	}
}

func TestTool(t *testing.T) {
	tool, err := Tool[described]("judge", "Judges.")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := Schema[described]()
	want := gateway.FunctionTool("judge", "Judges.", []byte(text(t, schema, err)))
	if diff := cmp.Diff(want, tool); diff != "" {
		t.Errorf("tool (-want +got):\n%s", diff)
	}
	if _, err := Tool[map[string]int]("count", ""); err != nil {
		t.Errorf("a map: %v", err)
	}
	if _, err := Tool[[]int]("count", ""); !errors.Is(err, gateway.ErrInvalidRequest) {
		t.Errorf("a slice: %v", err)
	}
	if _, err := Tool[described]("", ""); !errors.Is(err, gateway.ErrInvalidRequest) {
		t.Errorf("no name: %v", err)
	}
}

func TestSchemaIsACopy(t *testing.T) {
	s, err := Of[base]()
	if err != nil {
		t.Fatal(err)
	}
	want := string(s.Schema())
	clear(s.Schema())
	clear(s.Format("").JSONSchema.Schema)
	if got := string(s.Schema()); got != want {
		t.Errorf("schema %s, want %s", got, want)
	}
}

func BenchmarkOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Of[lists](); err != nil {
			b.Fatal(err)
		}
	}
}
