package gemini

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// shape compares what is decoded, and not the room it is decoded into.
func shape() cmp.Options {
	return cmp.Options{
		cmpopts.IgnoreUnexported(Response{}, Candidate{}),
		cmpopts.EquateEmpty(),
	}
}

func read(t *testing.T, data string) *Response {
	t.Helper()
	p := new(Response)
	if err := readInto(p, data); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return p
}

func readInto(p *Response, data string) error {
	r := jsonx.NewReader([]byte(data))
	p.Decode(&r)
	return r.End()
}

func wantEqual(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, shape()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestDecodeWholeAnswer(t *testing.T) {
	got := read(t, `{
		"candidates": [{
			"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP", "finishMessage": "m", "index": 0,
			"safetyRatings": [{"b": 1, "a": 2}], "groundingMetadata": {"g": []}, "citationMetadata": {"c": 1.0},
			"urlContextMetadata": {"u": 1}, "logprobsResult": {"l": 1}, "avgLogprobs": -0.5, "continuationToken": "x"
		}],
		"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "no", "safetyRatings": [1], "x": 1},
		"usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 21, "thoughtsTokenCount": 4,
			"toolUsePromptTokenCount": 5, "cachedContentTokenCount": 6, "trafficType": "PROVISIONED_THROUGHPUT", "x": {},
			"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1}, {"modality": "AUDIO", "tokenCount": 7, "x": 1}, {"tokenCount": 3, "modality": "AUDIO"}],
			"candidatesTokensDetails": [{"modality": "AUDIO", "tokenCount": 8}], "cacheTokensDetails": [{"modality": "AUDIO", "tokenCount": 9}]},
		"modelVersion": "gemini-2.5-flash", "responseId": "id", "createTime": "now"
	}`)
	wantEqual(t, &Response{
		Candidates: []Candidate{{
			Parts: []Part{{Kind: KindText, Text: "Hi"}}, FinishReason: "STOP", FinishMessage: "m",
			SafetyRatings: []byte(`[{"b": 1, "a": 2}]`), GroundingMetadata: []byte(`{"g": []}`), CitationMetadata: []byte(`{"c": 1.0}`),
			URLContextMetadata: []byte(`{"u": 1}`), LogprobsResult: []byte(`{"l": 1}`), ContinuationToken: []byte(`"x"`),
		}},
		Feedback: Feedback{BlockReason: "SAFETY", Message: "no", Ratings: []byte(`[1]`)},
		Usage: Usage{
			Prompt: 1, Candidates: 2, Total: 21, Thoughts: 4, ToolUsePrompt: 5, Cached: 6, PromptDetails: Modalities{Text: 1, Audio: 10}, CandidatesDetails: Modalities{Audio: 8},
			HasTotal: true, Counted: true, TrafficType: "PROVISIONED_THROUGHPUT",
		},
		HasUsage: true, ModelVersion: "gemini-2.5-flash", ResponseID: "id", Known: true,
	}, got)
}

func TestDecodeParts(t *testing.T) {
	tests := []struct {
		name, part string
		want       Part
	}{
		{"text", `{"text":"a\n\"é"}`, Part{Kind: KindText, Text: "a\n\"é"}},
		{"empty", `{}`, Part{}},
		{"thought", `{"thought":true,"text":"hm"}`, Part{Kind: KindText, Text: "hm", Thought: true}},
		{"signature alone", `{"thoughtSignature":"AA+/=="}`, Part{Signature: "AA+/=="}},
		{"signature on empty text", `{"text":"","thoughtSignature":"s"}`, Part{Kind: KindText, Signature: "s"}},
		{"call", `{"functionCall":{"id":"i","name":"f","args":{"z":1, "a":12345678901234567890},"x":1},"thoughtSignature":"s"}`,
			Part{Kind: KindFunctionCall, Signature: "s", Call: FunctionCall{ID: "i", Name: "f", Args: []byte(`{"z":1, "a":12345678901234567890}`)}}},
		{"call without arguments", `{"functionCall":{"name":"f"}}`, Part{Kind: KindFunctionCall, Call: FunctionCall{Name: "f"}}},
		{"first piece of a call", `{"functionCall":{"name":"f","willContinue":true}}`,
			Part{Kind: KindFunctionCall, Call: FunctionCall{Name: "f", WillContinue: true}}},
		{"next piece of a call", `{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"x"}],"willContinue":false}}`,
			Part{Kind: KindFunctionCall, Call: FunctionCall{PartialArgs: []byte(`[{"jsonPath":"$.a","stringValue":"x"}]`)}}},
		{"a piece without a promise of more", `{"functionCall":{"partialArgs":[1]}}`,
			Part{Kind: KindFunctionCall, Call: FunctionCall{PartialArgs: []byte(`[1]`)}}},
		{"inline data", `{"inlineData":{"mimeType":"image/png","data":"AA+/","displayName":"x"}}`,
			Part{Kind: KindInlineData, MimeType: "image/png", Data: []byte("AA+/")}},
		{"inline data with escapes", `{"inlineData":{"data":"AA\/\u002b\u003d","mimeType":"image\/png"}}`,
			Part{Kind: KindInlineData, MimeType: "image/png", Data: []byte("AA/+=")}},
		{"empty inline data", `{"inlineData":{"data":"","mimeType":"a/b"}}`, Part{Kind: KindInlineData, MimeType: "a/b"}},
		{"file", `{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/o"}}`,
			Part{Kind: KindFileData, MimeType: "video/mp4", Data: []byte("gs://b/o")}},
		{"code", `{"executableCode":{"language":"PYTHON", "code":"1"}}`,
			Part{Kind: KindExecutableCode, Name: "executableCode", Raw: []byte(`{"language":"PYTHON", "code":"1"}`)}},
		{"code result", `{"codeExecutionResult":{"outcome":"OUTCOME_OK"}}`,
			Part{Kind: KindCodeExecutionResult, Name: "codeExecutionResult", Raw: []byte(`{"outcome":"OUTCOME_OK"}`)}},
		{"a member of the future", `{"hologram":{"depth":3}}`, Part{Kind: KindOther, Name: "hologram", Raw: []byte(`{"depth":3}`)}},
		{"remarks on text", `{"text":"x","videoMetadata":{},"mediaResolution":"LOW","speechMetadata":{},"partMetadata":{"a":1}}`,
			Part{Kind: KindText, Text: "x"}},
		{"a remark of the future after text", `{"text":"x","mood":"fine"}`, Part{Kind: KindText, Text: "x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, list := range []string{`[` + tt.part + `]`, tt.part} { // and a single part where a list belongs
				got := read(t, `{"candidates":[{"content":{"parts":`+list+`}}]}`)
				wantEqual(t, []Part{tt.want}, got.Candidates[0].Parts)
			}
		})
	}
}

// A remark before the data must not hide it either.
func TestDecodeRemarkBeforeTheData(t *testing.T) {
	got := read(t, `{"candidates":[{"content":{"parts":[{"mood":"fine","text":"x"}]}}]}`).Candidates[0].Parts[0]
	wantEqual(t, KindText, got.Kind)
	wantEqual(t, "x", got.Text)
}

// As in protobuf JSON, a null is a member that is not given.
func TestDecodeNulls(t *testing.T) {
	tests := []struct {
		name, doc string
		want      Response
	}{
		{"top", `{"candidates":null,"promptFeedback":null,"usageMetadata":null,"modelVersion":null,"responseId":null,"error":null,"x":null}`, Response{}},
		{"candidate", `{"candidates":[{"index":null,"content":null,"finishReason":null,"finishMessage":null,"safetyRatings":null,` +
			`"groundingMetadata":null,"citationMetadata":null,"urlContextMetadata":null,"logprobsResult":null}]}`,
			Response{Known: true, Candidates: []Candidate{{}}}},
		{"a null candidate", `{"candidates":[null,{}]}`, Response{Known: true, Candidates: []Candidate{{}, {Index: 1}}}},
		{"parts", `{"candidates":[{"content":{"role":"model","parts":null}}]}`, Response{Known: true, Candidates: []Candidate{{}}}},
		{"members of a part", `{"candidates":[{"content":{"parts":[{"functionCall":null,"text":"x","inlineData":null,"executableCode":null,` +
			`"thought":null,"thoughtSignature":null,"hologram":null}]}}]}`,
			Response{Known: true, Candidates: []Candidate{{Parts: []Part{{Kind: KindText, Text: "x"}}}}}},
		{"members of a call", `{"candidates":[{"content":{"parts":[{"functionCall":{"id":null,"name":"f","args":null,"partialArgs":null,"willContinue":null}}]}}]}`,
			Response{Known: true, Candidates: []Candidate{{Parts: []Part{{Kind: KindFunctionCall, Call: FunctionCall{Name: "f"}}}}}}},
		{"members of data", `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":null,"data":null}}]}}]}`,
			Response{Known: true, Candidates: []Candidate{{Parts: []Part{{Kind: KindInlineData}}}}}},
		{"feedback", `{"promptFeedback":{"blockReason":null,"blockReasonMessage":null,"safetyRatings":null}}`, Response{Known: true}},
		{"usage", `{"usageMetadata":{"promptTokenCount":null,"totalTokenCount":null,"promptTokensDetails":null,"trafficType":null}}`,
			Response{Known: true, HasUsage: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantEqual(t, &tt.want, read(t, tt.doc))
		})
	}
}

func TestDecodeEnumNumbers(t *testing.T) {
	for doc, want := range map[string]string{`0`: "", `1`: "STOP", `2`: "MAX_TOKENS", `3`: "SAFETY", `9`: "MALFORMED_FUNCTION_CALL",
		`10`: "MODEL_ARMOR", `11`: "IMAGE_SAFETY", `16`: "NO_IMAGE", `17`: "17", `4711`: "4711", `-1`: "-1", `"STOP"`: "STOP", `"NEW_REASON"`: "NEW_REASON", `""`: ""} {
		wantEqual(t, want, read(t, `{"candidates":[{"finishReason":`+doc+`}]}`).Candidates[0].FinishReason)
	}
	for doc, want := range map[string]string{`0`: "", `1`: "SAFETY", `4`: "PROHIBITED_CONTENT", `5`: "5", `99`: "99", `"JAILBREAK"`: "JAILBREAK"} {
		wantEqual(t, want, read(t, `{"promptFeedback":{"blockReason":`+doc+`}}`).Feedback.BlockReason)
	}
	wantEqual(t, Usage{TrafficType: "PROVISIONED_THROUGHPUT", PromptDetails: Modalities{Text: 5, Audio: 3}},
		read(t, `{"usageMetadata":{"trafficType":2,"promptTokensDetails":[{"modality":4,"tokenCount":3},{"modality":1,"tokenCount":5}]}}`).Usage)
}

func TestDecodeNumbersAsStrings(t *testing.T) {
	got := read(t, `{"candidates":[{"index":"3"}],"usageMetadata":{"promptTokenCount":"1","candidatesTokenCount":"2","totalTokenCount":"9007199254740993",`+
		`"thoughtsTokenCount":3.0,"cachedContentTokenCount":"0","promptTokensDetails":[{"modality":"AUDIO","tokenCount":"4"}]}}`)
	wantEqual(t, 3, got.Candidates[0].Index)
	wantEqual(t, Usage{Prompt: 1, Candidates: 2, Total: 9007199254740993, Thoughts: 3, PromptDetails: Modalities{Audio: 4}, HasTotal: true, Counted: true}, got.Usage)
}

func TestDecodeUsageWithoutCounts(t *testing.T) {
	wantEqual(t, &Response{Known: true, HasUsage: true, Usage: Usage{TrafficType: "ON_DEMAND"}},
		read(t, `{"usageMetadata":{"trafficType":"ON_DEMAND"}}`))
}

func TestDecodeErrorEnvelope(t *testing.T) {
	wantEqual(t, &Response{Error: []byte(`{"code": 429, "status":"X"}`)}, read(t, `{"error":{"code": 429, "status":"X"}}`))
	wantEqual(t, &Response{}, read(t, `{"hello":"world"}`))
}

// Any member of an answer tells that it is one.
func TestDecodeKnows(t *testing.T) {
	for _, doc := range []string{`{"candidates":[]}`, `{"promptFeedback":{}}`, `{"usageMetadata":{}}`, `{"modelVersion":"m"}`} {
		if !read(t, doc).Known {
			t.Errorf("%s is not known", doc)
		}
	}
}

func TestDecodeCandidatesWithoutIndex(t *testing.T) {
	var got []int
	for _, c := range read(t, `{"candidates":[{},{"index":5},{}]}`).Candidates {
		got = append(got, c.Index)
	}
	wantEqual(t, []int{0, 5, 2}, got)
}

func TestDecodeWrongTypesAreErrors(t *testing.T) {
	for _, doc := range []string{
		`[]`, `{"candidates":{}}`, `{"candidates":["x"]}`, `{"candidates":[{"index":1.5}]}`, `{"candidates":[{"content":"x"}]}`,
		`{"candidates":[{"content":{"parts":"x"}}]}`, `{"candidates":[{"content":{"parts":[{"text":1}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"thought":"yes"}]}}]}`, `{"candidates":[{"content":{"parts":[{"inlineData":{"data":1}}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"inlineData":{"data":"\x"}}]}}]}`, `{"candidates":[{"finishReason":{}}]}`,
		`{"candidates":[{"finishReason":1.5}]}`, `{"usageMetadata":{"promptTokenCount":"many"}}`, `{"promptFeedback":[]}`,
		`{"candidates":[{"groundingMetadata":{"a":}}]}`, `{"candidates":[`, ``,
	} {
		if err := readInto(new(Response), doc); err == nil {
			t.Errorf("%s was read", doc)
		}
	}
}
