package answers

import (
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// Native is an answer in Google's own schema: the data of its events in order, or
// the whole of it as the only one.
type Native struct {
	Facts  providers.NativeFacts
	Events [][]byte
	// Meta is not kept.
	Meta providers.Meta
}

// WriteNative hashes a request in Google's own schema: all of its body but for the
// labels, which no answer depends on. The target has the model.
func WriteNative(d *Digest, q *providers.NativeRequest) {
	d.Part("method")
	d.String("method", q.Method)
	d.bool(q.Beta)
	d.Part("body")
	d.JSON("body", jsonx.DeleteMember(q.Body, "labels"))
}

// CloneNative returns a copy that shares nothing with the request.
func CloneNative(q *providers.NativeRequest) *providers.NativeRequest {
	own := *q
	own.Body = slices.Clone(q.Body)
	return &own
}

// EncodeNative returns the form in which an answer is kept.
func EncodeNative(k *Kept, a *Native) []byte {
	w := newWriter(kindNative, k)
	f := &a.Facts
	for _, s := range [...]string{f.ID, f.Model, f.FinishReason, f.NativeFinishReason} {
		w.str(s)
	}
	w.has(f.Sources)
	w.int(int64(f.Searches))
	w.has(f.Maps)
	if w.has(f.Usage != nil) {
		w.usage(f.Usage)
	}
	w.int(int64(len(a.Events)))
	for _, e := range a.Events {
		w.raw(e)
	}
	return w.b
}

// DecodeNative reads what [EncodeNative] wrote. The error is, or wraps,
// cache.ErrCorrupt.
func DecodeNative(body []byte) (*Native, Kept, error) {
	var k Kept
	r, err := newReader(kindNative, body, &k)
	if err != nil {
		return nil, k, err
	}
	a := &Native{Facts: providers.NativeFacts{ID: r.str(), Model: r.str(), FinishReason: r.str(), NativeFinishReason: r.str(), Sources: r.has()}}
	a.Facts.Searches, a.Facts.Maps = int(r.int()), r.has()
	if r.has() {
		a.Facts.Usage = new(providers.Usage)
		r.usage(a.Facts.Usage)
	}
	n := r.count(1)
	if n == 0 {
		r.fail()
	}
	a.Events = make([][]byte, n)
	for i := range a.Events {
		a.Events[i] = r.raw()
	}
	return a, k, r.end()
}

// Native says why a request in Google's own schema is kept out of the cache; ""
// when it is not.
func (r *Rules) Native(q *providers.NativeRequest) string {
	if q.Method == providers.NativePredict || q.Method == providers.NativeEmbed || q.Method == providers.NativeBatchEmbed {
		return ""
	}
	if !r.PlatformTools && runsTools(q.Body) {
		return "tools: the platform runs one, and its result may be another one each time"
	}
	if r.MaxTemperature != nil {
		if t, ok := nativeTemperature(q.Body); !ok || t > *r.MaxTemperature {
			return "temperature: is higher than the rules allow"
		}
	}
	if r.RemoteMediaOff && namesFiles(q.Body) {
		return "contents: media by URL may change, and the rules keep such requests out"
	}
	return ""
}

// runsTools reports whether a body has a tool that is not a list of the caller's own
// functions. The platform takes an object for a list of one.
func runsTools(body []byte) bool {
	for name, tools := range jsonx.Members(body) {
		if name != "tools" {
			continue
		}
		list := jsonx.NewReader(tools)
		if list.Kind() != jsonx.Array {
			if runsTool(tools) {
				return true
			}
			continue
		}
		for list.Array(); list.NextElem(); {
			if runsTool(list.Raw()) {
				return true
			}
		}
	}
	return false
}

func runsTool(tool []byte) bool {
	for name := range jsonx.Members(tool) {
		if name != "functionDeclarations" && name != "function_declarations" {
			return true
		}
	}
	return false
}

func nativeTemperature(body []byte) (float64, bool) {
	for _, name := range [...]string{"generationConfig", "generation_config"} {
		if settings, ok := jsonx.Lookup(body, name); ok {
			raw, ok := jsonx.Lookup(settings, "temperature")
			r := jsonx.NewReader(raw)
			if ok && r.Kind() == jsonx.Number {
				return r.Float(), true
			}
		}
	}
	return 0, false
}

// namesFiles reports whether a body has fileData anywhere in it.
func namesFiles(body []byte) bool {
	r := jsonx.NewReader(body)
	return namesFile(&r)
}

// namesFile looks into the next value. It reads on in one pass, however deep the
// value is.
func namesFile(r *jsonx.Reader) bool {
	found := false
	switch r.Kind() {
	case jsonx.Array:
		for r.Array(); r.NextElem(); {
			found = namesFile(r) || found
		}
	case jsonx.Object:
		for r.Object(); r.NextKey(); {
			name := string(r.Key())
			found = namesFile(r) || found || name == "fileData" || name == "file_data"
		}
	default:
		r.Skip()
	}
	return found
}

// NativeAnswer says why an answer to a request with that method is not kept; ""
// when it is.
func (r *Rules) NativeAnswer(method string, f *providers.NativeFacts) string {
	if method != providers.NativeGenerate && method != providers.NativeStream {
		return ""
	}
	switch {
	case f.FinishReason == "":
		return "the answer has no candidate with a finish reason"
	case f.FinishReason == providers.FinishLength && !r.Truncated:
		return "the answer ended with the length limit"
	case f.FinishReason == providers.FinishContentFilter:
		return "the answer is not whole: it was blocked"
	case f.FinishReason != providers.FinishLength && !isWhole(f.NativeFinishReason):
		return "the answer is not whole: the platform gives another reason for its end than that it was done"
	case f.Sources && !r.PlatformTools:
		return "the answer rests on sources that were looked up"
	}
	return ""
}
