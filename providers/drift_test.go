package providers_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// filler gives each exported field a value of its own.
type filler struct{ n int }

var (
	typeExtra   = reflect.TypeFor[providers.Extra]()
	typeRaw     = reflect.TypeFor[json.RawMessage]()
	typeContent = reflect.TypeFor[providers.Content]()
	typeChoice  = reflect.TypeFor[providers.ToolChoice]()
	typeTool    = reflect.TypeFor[providers.Tool]()
	typeMeta    = reflect.TypeFor[providers.Meta]()
	typeInput   = reflect.TypeFor[providers.EmbeddingInput]()
	typeVectors = reflect.TypeFor[providers.EmbeddingResponse]()
)

func (f *filler) fill(v reflect.Value, parents ...reflect.Type) {
	f.n++
	switch v.Type() {
	case typeExtra:
		v.SetBytes([]byte(`{"x_` + f.text() + `":[1, 2]}`))
		return
	case typeRaw:
		v.SetBytes([]byte(`{"type":"object","title":"` + f.text() + `"}`))
		return
	case typeContent:
		v.Set(reflect.ValueOf(providers.PartsContent(providers.TextPart(f.text()))))
		return
	case typeChoice: // its members exclude each other: see TestRoundTripKeepsEveryByte
		v.Set(reflect.ValueOf(providers.ToolChoice{Mode: "function", Name: f.text()}))
		return
	case typeInput: // one element that stands by itself, or a list
		f.fill(v.FieldByName("Items"), parents...)
		return
	case typeMeta: // no part of the JSON
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.text())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.n))
	case reflect.Float64:
		v.SetFloat(float64(f.n) + 0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), parents...)
	case reflect.Slice:
		f.fillSlice(v, parents)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"k" + f.text(): f.text()}))
	case reflect.Struct:
		f.fillStruct(v, parents)
	}
}

func (f *filler) fillSlice(v reflect.Value, parents []reflect.Type) {
	if slices.Contains(parents, v.Type().Elem()) {
		return // alternatives of alternatives
	}
	v.Set(reflect.MakeSlice(v.Type(), 2, 2))
	f.fill(v.Index(0), parents...)
	f.fill(v.Index(1), parents...)
}

func (f *filler) fillStruct(v reflect.Value, parents []reflect.Type) {
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name == "Meta" || name == "PromptUsage" || name == "EncodingFormat" && v.Type() == typeVectors {
			continue // no part of the JSON
		}
		f.fill(v.Field(i), append(parents, v.Type())...)
	}
	if v.Type() == typeTool {
		v.FieldByName("Type").SetString("function")
	}
}

func (f *filler) text() string { return "s" + strings.Repeat("x", f.n%3) + string(rune('a'+f.n%26)) }

// driftRow checks one type: what is filled in must come back.
type driftRow func(*testing.T)

func drift[T json.Marshaler, P coder[T]]() driftRow {
	return func(t *testing.T) {
		var want, got T
		new(filler).fill(reflect.ValueOf(&want).Elem())
		data, err := want.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := P(&got).UnmarshalJSON(data); err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-encoded +decoded)\n%s\n%s", d, data)
		}
	}
}

func driftRows() map[string]driftRow {
	return map[string]driftRow{
		"ChatCompletionRequest":   drift[providers.ChatCompletionRequest](),
		"StreamOptions":           drift[providers.StreamOptions](),
		"Thinking":                drift[providers.Thinking](),
		"ResponseFormat":          drift[providers.ResponseFormat](),
		"JSONSchema":              drift[providers.JSONSchema](),
		"Message":                 drift[providers.Message](),
		"Content":                 drift[providers.Content](),
		"ContentPart":             drift[providers.ContentPart](),
		"ImageURL":                drift[providers.ImageURL](),
		"InputAudio":              drift[providers.InputAudio](),
		"File":                    drift[providers.File](),
		"Tool":                    drift[providers.Tool](),
		"FunctionDefinition":      drift[providers.FunctionDefinition](),
		"ToolCall":                drift[providers.ToolCall](),
		"FunctionCall":            drift[providers.FunctionCall](),
		"ToolCallDelta":           drift[providers.ToolCallDelta](),
		"ToolChoice":              drift[providers.ToolChoice](),
		"ChatCompletion":          drift[providers.ChatCompletion](),
		"Choice":                  drift[providers.Choice](),
		"Logprobs":                drift[providers.Logprobs](),
		"TokenLogprob":            drift[providers.TokenLogprob](),
		"ChatCompletionChunk":     drift[providers.ChatCompletionChunk](),
		"ChunkChoice":             drift[providers.ChunkChoice](),
		"Delta":                   drift[providers.Delta](),
		"ContentBlockDelta":       drift[providers.ContentBlockDelta](),
		"Audio":                   drift[providers.Audio](),
		"Annotation":              drift[providers.Annotation](),
		"URLCitation":             drift[providers.URLCitation](),
		"Usage":                   drift[providers.Usage](),
		"PromptTokensDetails":     drift[providers.PromptTokensDetails](),
		"CompletionTokensDetails": drift[providers.CompletionTokensDetails](),
		"EmbeddingRequest":        drift[providers.EmbeddingRequest](),
		"EmbeddingInput":          drift[providers.EmbeddingInput](),
		"EmbeddingItem":           drift[providers.EmbeddingItem](),
		"EmbeddingMedia":          drift[providers.EmbeddingMedia](),
		"EmbeddingResponse":       drift[providers.EmbeddingResponse](),
		"EmbeddingUsage":          drift[providers.EmbeddingUsage](),
		"ImageRequest":            drift[providers.ImageRequest](),
		"ImageInput":              drift[providers.ImageInput](),
		"ImageResponse":           drift[providers.ImageResponse](),
		"Image":                   drift[providers.Image](),
		"ImageUsage":              drift[providers.ImageUsage](),
		"SpeechRequest":           drift[providers.SpeechRequest](),
		"RerankRequest":           drift[providers.RerankRequest](),
		"RerankDocument":          drift[providers.RerankDocument](),
		"RerankResponse":          drift[providers.RerankResponse](),
		"RerankResult":            drift[providers.RerankResult](),
	}
}

// Every exported field is written and read back.
func TestEveryFieldIsEncodedAndDecoded(t *testing.T) {
	for name, check := range driftRows() {
		t.Run(name, check)
	}
}

// A type that has an encoder stands in the tables above, and has the public
// methods, so that a part of an answer encodes by itself as it does inside it.
func TestEveryEncoderIsCovered(t *testing.T) {
	methods := map[string]map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil {
				name := receiver(fn)
				if methods[name] == nil {
					methods[name] = map[string]bool{}
				}
				methods[name][fn.Name.Name] = true
			}
		}
	}
	var encoders []string
	for name, has := range methods {
		if !has["encode"] {
			continue
		}
		encoders = append(encoders, name)
		for _, m := range []string{"decode", "MarshalJSON", "UnmarshalJSON"} {
			if !has[m] {
				t.Errorf("%s has encode but not %s", name, m)
			}
		}
	}
	slices.Sort(encoders)
	wantEqual(t, encoders, slices.Sorted(maps.Keys(driftRows())))
	wantEqual(t, encoders, slices.Sorted(maps.Keys(recoders())))
}

// receiver is the name of a method's type.
func receiver(fn *ast.FuncDecl) string {
	t := fn.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// encoding/json must find the methods on values, not only on pointers: a
// forgotten one would print Go's field names.
func TestPartsOfAnAnswerEncodeByThemselves(t *testing.T) {
	type record struct {
		Usage  providers.Usage
		Choice providers.Choice
		Extra  providers.Extra
		None   providers.Extra
	}
	in := record{
		Usage:  providers.Usage{PromptTokens: 1},
		Choice: providers.Choice{FinishReason: "stop"},
		Extra:  providers.Extra(`{"a":1}`),
	}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, `{"Usage":{"prompt_tokens":1,"completion_tokens":0,"total_tokens":0,`+
		`"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}},`+
		`"Choice":{"index":0,"message":{"role":"","content":null},"logprobs":null,"finish_reason":"stop"},"Extra":{"a":1},"None":null}`, string(data))
	var out record
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, in, out)
}
