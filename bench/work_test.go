package bench_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// work is one workload: what is asked, and what comes back, in the schema of each
// service. The content of all answers is the same.
type work struct {
	name  string
	texts []string // of user and assistant in turn
	tools int
	image []byte

	text   string // what the answer says; of a stream, all of it
	chunks int    // of a stream; 0 is an answer in one piece
	vector []float64

	vertex, gemini, openai []byte // the answers: they differ between Google's two services for vectors alone
}

// Models that are asked; nothing depends on them.
const (
	geminiModel = "gemini-2.5-flash"
	vectorModel = "text-embedding-005"
	openaiModel = "gpt-5.2"
	openaiEmbed = "text-embedding-3-small"
)

// works returns the workloads.
func works() []*work {
	const question = "Say hello to the world in one short sentence."
	const reply = "Hello, world! It is good to see you again, and I hope that all is well."
	line := strings.Repeat("The quick brown fox says \"hello\" to the lazy dog.\n", 32)
	history := make([]string, 0, 41)
	for range 40 {
		history = append(history, line)
	}
	history = append(history, "And now?")
	return []*work{
		whole(&work{name: "small", texts: []string{question}, text: reply}),
		whole(&work{name: "bigresp", texts: []string{question}, text: strings.Repeat("A line of the long answer.\n", 64<<10/27)}),
		whole(&work{name: "conv40", texts: history, tools: 8, text: reply}),
		whole(&work{name: "image1m", texts: []string{"What is it?"}, image: bytes.Repeat([]byte("0123456789abcdef"), 1<<16), text: reply}),
		streamed(&work{name: "stream1000", texts: []string{question}, chunks: 1000}),
		embedded(&work{name: "embed768", texts: []string{"Hello, world!"}}, 768),
	}
}

// find returns the workload of that name; parallel is small in several goroutines.
func find(name string) *work {
	if name == "parallel" {
		name = "small"
	}
	for _, w := range works() {
		if w.name == name {
			return w
		}
	}
	return nil
}

// whole writes the answers in one piece.
func whole(w *work) *work {
	quoted, _ := json.Marshal(w.text)
	w.vertex = fmt.Appendf(nil, `{"candidates":[{"content":{"role":"model","parts":[{"text":%s}]},"finishReason":"STOP","avgLogprobs":-0.1}],`+
		`"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":12,"totalTokenCount":20,"trafficType":"ON_DEMAND"},`+
		`"modelVersion":"gemini-2.5-flash","createTime":"2026-11-01T00:00:00.000000Z","responseId":"abcDEF123456"}`, quoted)
	w.gemini = w.vertex
	w.openai = fmt.Appendf(nil, `{"id":"chatcmpl-abcDEF123456","object":"chat.completion","created":1793491200,"model":"gpt-5.2",`+
		`"choices":[{"index":0,"message":{"role":"assistant","content":%s,"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":8,"completion_tokens":12,"total_tokens":20,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},`+
		`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},`+
		`"service_tier":"default","system_fingerprint":"fp_0123456789"}`, quoted)
	return w
}

// streamed writes the answers in pieces.
func streamed(w *work) *work {
	var google, openai, text bytes.Buffer
	for i := range w.chunks {
		finish, reason := "", "null"
		if i == w.chunks-1 {
			finish, reason = `,"finishReason":"STOP"`, `"stop"`
		}
		piece := fmt.Sprintf("piece %d of the answer ", i)
		text.WriteString(piece)
		fmt.Fprintf(&google, `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"%s"}]}%s}],`+
			`"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":%d,"totalTokenCount":%d,"trafficType":"ON_DEMAND"},`+
			`"modelVersion":"gemini-2.5-flash","responseId":"abcDEF123456"}`+"\r\n\r\n", piece, finish, i, i+8)
		fmt.Fprintf(&openai, `data: {"id":"chatcmpl-abcDEF123456","object":"chat.completion.chunk","created":1793491200,"model":"gpt-5.2",`+
			`"service_tier":"default","system_fingerprint":"fp_0123456789",`+
			`"choices":[{"index":0,"delta":{"content":"%s"},"logprobs":null,"finish_reason":%s}],"usage":null}`+"\n\n", piece, reason)
	}
	openai.WriteString("data: [DONE]\n\n")
	w.vertex, w.openai, w.text = google.Bytes(), openai.Bytes(), text.String()
	w.gemini = w.vertex
	return w
}

// embedded writes the answers with one vector, whose numbers have the digits that
// the platform gives them.
func embedded(w *work, size int) *work {
	var list []byte
	for i := range size {
		f := float64(float32(math.Sin(float64(i))) / 32)
		w.vector = append(w.vector, f)
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendFloat(list, f, 'g', -1, 64)
	}
	w.vertex = fmt.Appendf(nil, `{"predictions":[{"embeddings":{"statistics":{"truncated":false,"token_count":4},"values":[%s]}}],`+
		`"metadata":{"billableCharacterCount":12}}`, list)
	w.gemini = fmt.Appendf(nil, `{"embeddings":[{"values":[%s]}]}`, list)
	w.openai = fmt.Appendf(nil, `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[%s]}],"model":"text-embedding-3-small",`+
		`"usage":{"prompt_tokens":4,"total_tokens":4}}`, list)
	return w
}

// streams says whether the answer comes in pieces.
func (w *work) streams() bool { return w.chunks > 0 }

// ctype is the type of the answer.
func (w *work) ctype() string {
	if w.streams() {
		return "text/event-stream"
	}
	return "application/json"
}

// dataURI is the image as OpenAI's schema has it.
func (w *work) dataURI() string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(w.image)
}

// tool is the name of tool i.
func tool(i int) string { return "tool_" + strconv.Itoa(i) }

// What each tool takes.
const (
	toolText   = "does a thing with its arguments"
	toolSchema = `{"type":"object","properties":{"city":{"type":"string","description":"a city"},"days":{"type":"integer"},` +
		`"unit":{"type":"string","enum":["c","f"]}},"required":["city"]}`
)

// schemaMap is toolSchema for libraries that take maps.
func schemaMap() map[string]any {
	var m map[string]any
	_ = json.Unmarshal([]byte(toolSchema), &m)
	return m
}

// got is what a library made of an answer.
type got struct {
	keep   bool   // the texts are kept, to compare them
	text   string // all of it
	size   int    // of the text, or of the body where it is not read
	chunks int    // with text in them
	vector int    // its length
	ends   [2]float64
}

func (a *got) add(text string) {
	if text == "" {
		return
	}
	a.size += len(text)
	a.chunks++
	if a.keep {
		a.text += text
	}
}

// numbers notes a vector.
func numbers[F float32 | float64](a *got, list []F) {
	if a.vector = len(list); a.vector > 0 {
		a.ends = [2]float64{float64(list[0]), float64(list[len(list)-1])}
	}
}

// check compares an answer with what the service said. Of a floor only the size is
// known.
func (w *work) check(a *got, size int) error {
	switch {
	case size > 0 && a.size == size:
		return nil
	case size > 0:
		return fmt.Errorf("%d bytes were read, want %d", a.size, size)
	case len(w.vector) > 0:
		want := [2]float64{w.vector[0], w.vector[len(w.vector)-1]}
		if a.vector != len(w.vector) || math.Abs(a.ends[0]-want[0]) > 1e-6 || math.Abs(a.ends[1]-want[1]) > 1e-6 {
			return fmt.Errorf("a vector of %d with the ends %v, want %d and %v", a.vector, a.ends, len(w.vector), want)
		}
		return nil
	case a.size != len(w.text) || a.keep && a.text != w.text:
		return fmt.Errorf("%d bytes of text, want the %d of the answer", a.size, len(w.text))
	case a.chunks != max(w.chunks, 1):
		return fmt.Errorf("%d chunks, want %d", a.chunks, max(w.chunks, 1))
	}
	return nil
}
