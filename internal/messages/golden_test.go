package messages_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/messages"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers"
)

// goldenFiles are those that -update rewrites. request.json, completion.json and
// chunks.jsonl are written by hand:
//
//	chat.json      the chat request that request.json comes to
//	message.json   the Message that completion.json comes to
//	events.jsonl   the events that chunks.jsonl come to
//	error.txt      what was wrong
//	warnings.txt   what the Message can't hold
//
// A comment that begins with "claude:" says that a Claude model answers.
var goldenFiles = []string{"chat.json", "message.json", "events.jsonl", "error.txt", "warnings.txt"}

func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a := testkit.ReadArchive(t, path)
			got, own := map[string][]byte{}, bytes.HasPrefix(a.Comment, []byte("claude:"))
			fail := func(err error) {
				if err != nil {
					got["error.txt"] = append(got["error.txt"], err.Error()+"\n"...)
				}
			}
			if body := a.Get("request.json"); body != nil {
				req, err := messages.Decode(body)
				if fail(err); err == nil {
					got["chat.json"] = indent(t, encode(t, req.Chat))
				}
			}
			if body := a.Get("completion.json"); body != nil {
				var c providers.ChatCompletion
				decode(t, body, &c)
				message, warnings, err := messages.AppendMessage([]byte("before"), &c, own)
				for _, w := range warnings {
					got["warnings.txt"] = append(got["warnings.txt"], w.Code+" "+w.Param+": "+w.Message+"\n"...)
				}
				if fail(err); err == nil {
					message, _ = bytes.CutPrefix(message, []byte("before"))
					got["message.json"] = indent(t, message)
				}
			}
			if lines := a.Get("chunks.jsonl"); lines != nil {
				events, err := play(chunksOf(t, lines), own)
				fail(err)
				got["events.jsonl"] = events
			}
			testkit.Golden(t, path, a, goldenFiles, got)
		})
	}
}

// play encodes the chunks, one event to a line.
func play(chunks []*providers.ChatCompletionChunk, own bool) ([]byte, error) {
	var out []byte
	enc := messages.NewEncoder(own)
	add := func(events []messages.Event, err error) error {
		for _, e := range events {
			if !bytes.HasPrefix(e.Data, []byte(`{"type":"`+e.Type+`"`)) {
				return errors.New("the event " + e.Type + " holds " + string(e.Data))
			}
			out = append(append(out, e.Data...), '\n')
		}
		return err
	}
	for _, c := range chunks {
		if err := add(enc.Add(c)); err != nil {
			return out, err
		}
	}
	return out, add(enc.End())
}

func chunksOf(t *testing.T, lines []byte) (chunks []*providers.ChatCompletionChunk) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		c := new(providers.ChatCompletionChunk)
		decode(t, line, c)
		chunks = append(chunks, c)
	}
	return chunks
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
}

func encode(t *testing.T, v json.Marshaler) []byte {
	t.Helper()
	b, err := v.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func indent(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// fold is what a client makes of a stream: the Message.
func fold(t *testing.T, events []byte) map[string]any {
	t.Helper()
	var message map[string]any
	var content []any
	input := ""
	for line := range bytes.Lines(events) {
		var e struct {
			Type    string
			Index   int
			Message map[string]any
			Usage   map[string]any
			Block   map[string]any `json:"content_block"`
			Delta   map[string]any
		}
		decode(t, line, &e)
		if strings.HasPrefix(e.Type, "content_block_") && e.Index != len(content)-1 && e.Type != "content_block_start" {
			t.Fatalf("%s after %d blocks", line, len(content))
		}
		switch e.Type {
		case "message_start":
			message = e.Message
		case "content_block_start":
			if e.Index != len(content) {
				t.Fatalf("%s after %d blocks", line, len(content))
			}
			content, input = append(content, e.Block), ""
		case "content_block_delta":
			block := content[e.Index].(map[string]any)
			switch e.Delta["type"] {
			case "input_json_delta":
				input += e.Delta["partial_json"].(string)
			case "citations_delta":
				list, _ := block["citations"].([]any)
				block["citations"] = append(list, e.Delta["citation"])
			default:
				member := strings.TrimSuffix(e.Delta["type"].(string), "_delta")
				block[member] = block[member].(string) + e.Delta[member].(string)
			}
		case "content_block_stop":
			if input != "" {
				var v any
				decode(t, []byte(input), &v)
				content[e.Index].(map[string]any)["input"] = v
			}
		case "message_delta":
			message["usage"] = e.Usage
			maps.Copy(message, e.Delta)
		}
	}
	if content != nil {
		message["content"] = content
	}
	return message
}

// TestTheFoldOfAStreamIsTheWholeAnswer plays the streams of these archives and
// those of Gemini, and holds what a client makes of them against the whole answer
// that the same chunks come to.
func TestTheFoldOfAStreamIsTheWholeAnswer(t *testing.T) {
	own, _ := filepath.Glob("testdata/*.txtar")
	gemini, _ := filepath.Glob("../../providers/vertex/testdata/*.txtar")
	played := 0
	for _, path := range append(own, gemini...) {
		a := testkit.ReadArchive(t, path)
		lines := a.Get("chunks.jsonl")
		if lines == nil || strings.HasSuffix(path, "answer_late_signature.txtar") { // whose place a whole answer knows at once
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			claude := bytes.HasPrefix(a.Comment, []byte("claude:"))
			chunks := chunksOf(t, lines)
			events, err := play(chunks, claude)
			var acc providers.Accumulator
			for _, c := range chunks {
				if err := acc.Add(c); err != nil {
					t.Fatal(err)
				}
			}
			whole, _, wholeErr := messages.AppendMessage(nil, acc.Completion(), claude)
			if err != nil || wholeErr != nil {
				if err == nil || wholeErr == nil || err.Error() != wholeErr.Error() {
					t.Errorf("errors %v and %v", err, wholeErr)
				}
				return
			}
			var want map[string]any
			decode(t, whole, &want)
			got := fold(t, events)
			if want["id"] == got["id"] || strings.HasPrefix(want["id"].(string), "msg_") {
				delete(want, "id")
				delete(got, "id")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-whole +fold)\n%s", diff)
			}
		})
		played++
	}
	if played < 20 {
		t.Errorf("%d streams, want more", played)
	}
}

// FuzzEncoder checks that whatever comes in, blocks come one after the other,
// each with its start and its end, and that each event is JSON.
func FuzzEncoder(f *testing.F) {
	for _, name := range []string{"gemini", "claude", "sources", "late_signature", "thoughts_in_content"} {
		f.Add(testkit.ReadArchive(f, "testdata/answer_"+name+".txtar").Get("chunks.jsonl"), true)
	}
	f.Fuzz(func(t *testing.T, lines []byte, own bool) {
		var chunks []*providers.ChatCompletionChunk
		for line := range bytes.Lines(lines) {
			c := new(providers.ChatCompletionChunk)
			if c.UnmarshalJSON(line) != nil {
				return
			}
			chunks = append(chunks, c)
		}
		events, err := play(chunks, own)
		next, open := 0, false
		for line := range bytes.Lines(events) {
			var e struct {
				Type  string
				Index int
			}
			decode(t, line, &e)
			isStart, isStop := e.Type == "content_block_start", e.Type == "content_block_stop"
			if strings.HasPrefix(e.Type, "content_block_") && (e.Index != next || open == isStart) || open && e.Type == "message_stop" {
				t.Fatalf("%s after %d blocks, open %v", line, next, open)
			}
			if open = open != (isStart || isStop); isStop {
				next++
			}
		}
		if whole := bytes.HasSuffix(events, []byte(`{"type":"message_stop"}`+"\n")); whole != (err == nil) {
			t.Fatalf("error %v after %s", err, events)
		}
	})
}
