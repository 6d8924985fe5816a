// Package bench_test measures the gateway beside its floor and what others use for the
// same, in a module of its own for what it compares with: calls, the reading of
// vectors, and the look-up of entries by meaning. The command measure runs all of it
// and writes docs/performance.md.
//
//	go -C bench run ./cmd/measure
//	go -C bench test -run '^$' -bench 'Memory/workload=small' -cpu 1 .
//	GATEWAY_BENCH_MILLION=1 go -C bench test -run '^$' -bench Search -cpu 1 -timeout 1h .
//
// Each parser reads the same answer of predict, with 250 vectors of 3072 numbers,
// and has to read every number exactly, which a test checks.
package bench_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/bytedance/sonic"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/embed"
)

const (
	count = 250
	size  = 3072
)

// answer is an answer of predict: floats of 32 bits in their shortest form, or
// with the digits of 64, as the platform has both.
func answer(bits int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- the same numbers each time
	var b bytes.Buffer
	b.WriteString(`{"predictions":[`)
	for i := range count {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"embeddings":{"values":[`)
		for j := range size {
			if j > 0 {
				b.WriteByte(',')
			}
			b.Write(strconv.AppendFloat(nil, float64(float32(rnd.NormFloat64()/55)), 'g', -1, bits))
		}
		b.WriteString(`],"statistics":{"token_count":6,"truncated":false}}}`)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// predictions is the answer for parsers by reflection.
type predictions struct {
	Predictions []struct {
		Embeddings struct {
			Values     []float64 `json:"values"`
			Statistics struct {
				TokenCount float64 `json:"token_count"`
				Truncated  bool    `json:"truncated"`
			} `json:"statistics"`
		} `json:"embeddings"`
	} `json:"predictions"`
}

func (p *predictions) vectors() [][]float64 {
	out := make([][]float64, len(p.Predictions))
	for i := range p.Predictions {
		out[i] = p.Predictions[i].Embeddings.Values
	}
	return out
}

// parsers read the vectors of an answer.
var parsers = []struct {
	name  string
	parse func([]byte) ([][]float64, error)
}{
	{"gateway", func(data []byte) ([][]float64, error) {
		a := embed.Answer{Count: count, Size: size}
		r := jsonx.NewReader(data)
		a.Decode(&r)
		out := make([][]float64, len(a.Vectors))
		for i := range a.Vectors {
			out[i] = a.Vectors[i].Values
		}
		return out, r.End()
	}},
	{"strconv", byToken}, // the number alone, without checking what is around it
	{"sonic", func(data []byte) ([][]float64, error) {
		var p predictions
		err := sonic.Unmarshal(data, &p)
		return p.vectors(), err
	}},
	{"encoding_json", func(data []byte) ([][]float64, error) {
		var p predictions
		err := json.Unmarshal(data, &p)
		return p.vectors(), err
	}},
}

// byToken finds the numbers by their commas and hands each to strconv.
func byToken(data []byte) ([][]float64, error) {
	out := make([][]float64, 0, count)
	for {
		_, after, ok := bytes.Cut(data, []byte(`"values":[`))
		if !ok {
			return out, nil
		}
		list, rest, _ := bytes.Cut(after, []byte(`]`))
		vector := make([]float64, 0, size)
		for len(list) > 0 {
			text, next, _ := bytes.Cut(list, []byte(`,`))
			f, err := strconv.ParseFloat(string(text), 64)
			if err != nil {
				return nil, err
			}
			vector, list = append(vector, f), next
		}
		out, data = append(out, vector), rest
	}
}

func TestEveryParserIsExact(t *testing.T) {
	for _, bits := range []int{32, 64} {
		data := answer(bits)
		want, err := byToken(data)
		if err != nil || len(want) != count || len(want[0]) != size {
			t.Fatalf("%v: %d vectors", err, len(want))
		}
		for _, p := range parsers {
			got, err := p.parse(data)
			if err != nil {
				t.Fatalf("%s: %v", p.name, err)
			}
			if i, j := difference(want, got); i >= 0 {
				t.Errorf("%s: element %d of vector %d differs", p.name, j, i)
			}
		}
	}
}

// difference returns the place of an element that is not the same in both, or -1.
func difference(want, got [][]float64) (vector, element int) {
	for i := range want {
		if i >= len(got) || len(got[i]) != len(want[i]) {
			return i, 0
		}
		for j := range want[i] {
			if math.Float64bits(want[i][j]) != math.Float64bits(got[i][j]) {
				return i, j
			}
		}
	}
	return -1, -1
}

func BenchmarkVectors(b *testing.B) {
	for _, form := range []struct {
		name string
		bits int
	}{{"shortest", 32}, {"widened", 64}} {
		data := answer(form.bits)
		for _, p := range parsers {
			b.Run("form="+form.name+"/lib="+p.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					if _, err := p.parse(data); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(count*size), "ns/float")
			})
		}
	}
}
