package gateway_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
)

// hostileMessages is a chat with the given JSON as the content of its message, and more
// members behind.
func hostileMessages(content, more string) string {
	return `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":` + content + `}]` + more + `}`
}

// TestJSONBombs sends JSON that is cheap to write and might be dear to read. It is
// answered or refused, and what reaches the platform is valid JSON.
func TestJSONBombs(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want int
	}{
		"deep lists":                    {hostileMessages(strings.Repeat("[", 30_000)+strings.Repeat("]", 30_000), ""), 400},
		"deep objects in a new member":  {hostileMessages(`"Hi"`, `,"x":`+strings.Repeat(`{"a":`, 10_000)+"1"+strings.Repeat("}", 10_000)), 400},
		"deep without an end":           {strings.Repeat(`{"messages":[`, 5_000), 400},
		"wide":                          {hostileMessages(`"Hi"`, strings.Repeat(`,"stop":"a"`, 5_000)), 0},
		"a member for each byte":        {`{` + strings.Repeat(`"a":1,`, 10_000) + `"model":"gemini-2.5-flash","messages":[{"role":"user","content":"Hi"}]}`, 0},
		"a long number":                 {hostileMessages(`"Hi"`, `,"temperature":0.`+strings.Repeat("1", 60_000)), 0},
		"a long integer":                {hostileMessages(`"Hi"`, `,"max_tokens":`+strings.Repeat("9", 60_000)), 400},
		"a huge exponent":               {hostileMessages(`"Hi"`, `,"temperature":1e999999999`), 400},
		"a tiny exponent":               {hostileMessages(`"Hi"`, `,"temperature":1e-999999999`), 0},
		"NaN":                           {hostileMessages(`"Hi"`, `,"temperature":NaN`), 400},
		"a seed that is too large":      {hostileMessages(`"Hi"`, `,"seed":18446744073709551617`), 400},
		"two models":                    {hostileMessages(`"Hi"`, `,"model":"gemini-2.5-pro"`), 0},
		"a lone surrogate":              {hostileMessages(`"\ud800"`, ""), 200},
		"surrogates in the wrong order": {hostileMessages(`"\udc00\ud800"`, ""), 200},
		"NUL in a text":                 {hostileMessages(`"a\u0000b"`, ""), 200},
		"NUL as a byte":                 {hostileMessages("\"a\x00b\"", ""), 400},
		"no UTF-8":                      {hostileMessages("\"a\xff\xfeb\"", ""), 200},
		"a BOM":                         {"\xef\xbb\xbf" + hostileBody, 400},
		"UTF-16":                        {"\xff\xfe{\x00}\x00", 400},
		"a long key":                    {hostileMessages(`"Hi"`, `,"`+strings.Repeat("k", 60_000)+`":1`), 0},
		"a comment":                     {"/*a*/" + hostileBody, 400},
		"nothing but blanks":            {strings.Repeat(" ", 60_000), 400},
	} {
		t.Run(name, func(t *testing.T) {
			h := hostile(t)
			answers := h.ask(t, rawRequest("POST", "/v1/chat/completions", tt.body))
			if len(answers) != 1 || tt.want != 0 && answers[0].status != tt.want {
				t.Fatalf("%+.300v, want %d", answers, tt.want)
			}
			checkRaw(t, &answers[0])
			for _, q := range h.platform.Requests() {
				if !json.Valid(q.Body) {
					t.Errorf("%q was sent", q.Body)
				}
			}
		})
	}
}

// TestPackedBodies sends what is small until it is unpacked, and packings that are not
// undone.
func TestPackedBodies(t *testing.T) {
	pack := func(data []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	bomb := pack(bytes.Repeat([]byte(" "), 40<<20))
	h := hostile(t)
	for name, tt := range map[string]struct {
		coding string
		body   []byte
		want   int
	}{
		"gzip":                  {"gzip", pack([]byte(hostileBody)), 200},
		"a bomb":                {"gzip", bomb, 413},
		"a bomb in a bomb":      {"gzip", pack(bomb), 400},
		"gzip twice, named":     {"gzip, gzip", pack(pack([]byte(hostileBody))), 415},
		"deflate":               {"deflate", []byte(hostileBody), 415},
		"br":                    {"br", []byte(hostileBody), 415},
		"zstd":                  {"zstd", []byte(hostileBody), 415},
		"x-gzip, which is gzip": {"x-gzip", pack([]byte(hostileBody)), 200},
		"none that is":          {"nonsense", []byte(hostileBody), 415},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a := h.ask(t, rawRequest("POST", "/v1/chat/completions", string(tt.body), "Content-Encoding: "+tt.coding))
			runtime.ReadMemStats(&after)
			if len(a) != 1 || a[0].status != tt.want {
				t.Fatalf("%+.300v, want %d", a, tt.want)
			}
			checkRaw(t, &a[0])
			if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
				t.Errorf("%d bytes were claimed", took)
			}
		})
	}
}

// TestRequestsThatLookAlikeNeverShareAnAnswer asks pairs that a careless key would
// take for one: what is moved over a border, written in another Unicode form, or of
// another kind.
func TestRequestsThatLookAlikeNeverShareAnAnswer(t *testing.T) {
	body := func(messages, more string) string {
		return `{"model":"gemini-2.5-flash","messages":[{"role":"system","content":"Be brief."},` + messages + `]` + more + `}`
	}
	user := func(s string) string { return `{"role":"user","content":` + s + `}` }
	for name, pair := range map[string][2]string{
		"composed and decomposed": {body(user(`"é"`), ""), body(user(`"e\u0301"`), "")},
		"full width":              {body(user(`"a"`), ""), body(user(`"ａ"`), "")},
		"another case":            {body(user(`"Delete"`), ""), body(user(`"delete"`), "")},
		"Cyrillic":                {body(user(`"a"`), ""), body(user(`"а"`), "")},
		"a zero width space":      {body(user(`"ab"`), ""), body(user(`"a\u200bb"`), "")},
		"a blank more":            {body(user(`"a"`), ""), body(user(`"a "`), "")},
		"NUL":                     {body(user(`"a"`), ""), body(user(`"a\u0000"`), "")},
		"a border of parts":       {body(user(`[{"type":"text","text":"ab"},{"type":"text","text":"c"}]`), ""), body(user(`[{"type":"text","text":"a"},{"type":"text","text":"bc"}]`), "")},
		"a border of messages":    {body(user(`"ab"`)+","+user(`"c"`), ""), body(user(`"a"`)+","+user(`"bc"`), "")},
		"JSON in a text":          {body(user(`"a"`), `,"temperature":0.5`), body(user(`"a\",\"temperature\":0.5"`), "")},
		"another role":            {body(user(`"a"`), ""), body(`{"role":"assistant","content":"a"},`+user(`"a"`), "")},
		"another number":          {body(user(`"a"`), `,"temperature":0.1`), body(user(`"a"`), `,"temperature":0.10000000000000001e-1`)},
		"stop and its list":       {body(user(`"a"`), `,"stop":["a","b"]`), body(user(`"a"`), `,"stop":["ab"]`)},
		"null and nothing":        {body(user(`"null"`), ""), body(user(`"nil"`), "")},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCacheKit(t, simple)
			for _, text := range pair {
				req := new(gateway.ChatCompletionRequest)
				if err := json.Unmarshal([]byte(text), req); err != nil {
					t.Fatal(err)
				}
				k.ask(gateway.CacheMiss, req)
				k.ask(gateway.CacheHit, req)
			}
		})
	}
}

// TestTheSlugOfACatalogIsNoPath asks for entries by names that are none.
func TestTheSlugOfACatalogIsNoPath(t *testing.T) {
	h := hostile(t)
	for _, name := range hostileNames {
		if name == "" || strings.ContainsAny(name, "\r\n\x00\x1b") {
			continue // net/http refuses them
		}
		a := h.ask(t, rawRequest("POST", "/v1/chat/completions", hostileBody, "x-gateway-provider: @"+name))
		if len(a) != 1 || a[0].status != http.StatusBadRequest && a[0].status != http.StatusNotFound {
			t.Errorf("%q: %+.300v", name, a)
			continue
		}
		checkRaw(t, &a[0])
		if sent, _, _ := h.take(); len(sent) > 0 {
			t.Errorf("%q: %s was asked", name, sent[0].URL)
		}
	}
}
