package gemini

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// chunks are events that differ in all that a Response holds.
func chunks() []string {
	return []string{
		`{}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"a"},{"text":"b","thought":true,"thoughtSignature":"s"},{"functionCall":{"id":"i","name":"f","args":{"a":1}}}]},` +
			`"finishReason":"STOP","finishMessage":"m","safetyRatings":[1],"groundingMetadata":{"g":1},"citationMetadata":{"c":1},"urlContextMetadata":{"u":1},"logprobsResult":{"l":1}}],` +
			`"usageMetadata":{"promptTokenCount":1,"totalTokenCount":2,"trafficType":"ON_DEMAND","promptTokensDetails":[{"modality":"AUDIO","tokenCount":1}]},` +
			`"modelVersion":"m1","responseId":"r1"}`,
		`{"candidates":[{"content":{"parts":[{"text":"c"}]}}],"modelVersion":"m1","responseId":"r1"}`,
		`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}},{},{"hologram":1},{"text":"d"}]}},` +
			`{"content":{"parts":{"text":"e"}},"finishReason":2},{"index":7}],"responseId":"r2"}`,
		`{"candidates":[{},{}],"modelVersion":"m2"}`,
		`{"promptFeedback":{"blockReason":"SAFETY","blockReasonMessage":"no","safetyRatings":[1]},"usageMetadata":{"trafficType":"ON_DEMAND"}}`,
		`{"error":{"code":500}}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[1],"willContinue":true}}]},"index":1}],"usageMetadata":{}}`,
		`{"candidates":[{"content":{"parts":[{"text":"cut`,
		`{"candidates":[{"content":{"parts":[{"fileData":{"fileUri":"gs://b\/o"}}]}}],"usageMetadata":null}`,
	}
}

// A stream decodes all its chunks into one Response: what a chunk held must
// not show in the next.
func TestReuseLeaksNothing(t *testing.T) {
	all := chunks()
	for i := range all {
		for j := range all {
			for k := range all {
				var used, fresh Response
				for _, former := range []string{all[i], all[j]} {
					_ = readInto(&used, former)
				}
				usedErr, freshErr := readInto(&used, all[k]), readInto(&fresh, all[k])
				if fmt.Sprint(usedErr) != fmt.Sprint(freshErr) {
					t.Fatalf("after %d and %d, chunk %d: %v instead of %v", i, j, k, usedErr, freshErr)
				}
				if d := cmp.Diff(fresh, used, shape()); freshErr == nil && d != "" {
					t.Fatalf("after %d and %d, chunk %d (-fresh +reused)\n%s", i, j, k, d)
				}
			}
		}
	}
}

// Candidates and parts that outgrow their room move without mixing.
func TestRoomGrows(t *testing.T) {
	var p Response
	for n := range 9 {
		doc, parts := `{"candidates":[`, `{"text":"0"}`
		for c := range n {
			if c > 0 {
				doc += ","
				parts += fmt.Sprintf(`,{"text":"%d"}`, c)
			}
			doc += `{"content":{"parts":[` + parts + `]}}`
		}
		if err := readInto(&p, doc+`]}`); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, n, len(p.Candidates))
		for c := range p.Candidates {
			wantEqual(t, c+1, len(p.Candidates[c].Parts))
			for i, part := range p.Candidates[c].Parts {
				wantEqual(t, fmt.Sprint(i), part.Text)
			}
		}
	}
}

// The usual chunk of a stream costs one allocation: the text itself.
func TestTextChunkAllocatesOnlyItsText(t *testing.T) {
	data := []byte(`{"candidates": [{"content": {"role": "model","parts": [{"text": "A piece of the answer, of the usual length."}]}}],` +
		`"usageMetadata": {"trafficType": "ON_DEMAND"},"modelVersion": "gemini-2.5-flash","createTime": "2026-01-01T00:00:00Z","responseId": "abcdefghijkl"}`)
	var p Response
	var r jsonx.Reader
	decode := func() {
		r.Reset(data)
		p.Decode(&r)
		if r.End() != nil || p.Candidates[0].Parts[0].Text == "" {
			t.Fatal("not decoded")
		}
	}
	decode()
	if n := testing.AllocsPerRun(100, decode); n > 1 {
		t.Errorf("got %v allocations", n)
	}
}

// A whole answer needs no more than its strings either: there is room for the
// usual candidate and its parts.
func TestWholeAnswerAllocatesOnlyItsStrings(t *testing.T) {
	data := []byte(`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"x"}]},"finishReason":"STOP"}],"modelVersion":"m","responseId":"i"}`)
	var r jsonx.Reader
	if n := testing.AllocsPerRun(100, func() {
		var p Response
		r.Reset(data)
		if p.Decode(&r); r.End() != nil || len(p.Candidates[0].Parts) != 2 {
			t.Fatal("not decoded")
		}
	}); n > 5 {
		t.Errorf("got %v allocations, want four strings and the Response", n)
	}
}

// Inline data stays in the event: megabytes of it are not copied.
func TestInlineDataIsNotCopied(t *testing.T) {
	event := []byte(`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}}]}`)
	r := jsonx.NewReader(event)
	var p Response
	p.Decode(&r)
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	got := p.Candidates[0].Parts[0].Data
	for i := range event {
		event[i] = '#'
	}
	wantEqual(t, "####", string(got))
}

func FuzzResponse(f *testing.F) {
	all := chunks()
	for i := range all {
		f.Add([]byte(all[i]), []byte(all[(i+3)%len(all)]))
	}
	f.Add([]byte(`{"candidates":[{"finishReason":-9223372036854775808,"index":"1e3"}]}`), []byte(`{"usageMetadata":{"totalTokenCount":"1.0"}}`))
	f.Fuzz(func(t *testing.T, former, data []byte) {
		var used, fresh Response
		_ = readInto(&used, string(former))
		usedErr, freshErr := readInto(&used, string(data)), readInto(&fresh, string(data))
		if fmt.Sprint(usedErr) != fmt.Sprint(freshErr) {
			t.Fatalf("%v instead of %v", usedErr, freshErr)
		}
		if d := cmp.Diff(fresh, used, shape()); freshErr == nil && d != "" {
			t.Fatalf("(-fresh +reused)\n%s", d)
		}
	})
}
