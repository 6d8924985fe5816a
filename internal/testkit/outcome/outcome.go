// Package outcome reads and writes what providers answer, for golden files: streams
// with their fold, values without what is made at random, errors and warnings as
// lines. It is for tests only.
package outcome

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Read reads a stream to its end and returns its chunks and their fold.
func Read(r providers.ChunkReader) ([]*providers.ChatCompletionChunk, *providers.ChatCompletion, error) {
	defer func() { _ = r.Close() }()
	var acc providers.Accumulator
	var list []*providers.ChatCompletionChunk
	for {
		c, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return list, acc.Completion(), nil
		}
		if err != nil {
			return list, nil, err
		}
		if err := acc.Add(c); err != nil {
			return list, nil, err
		}
		list = append(list, c)
	}
}

var madeID = regexp.MustCompile(`(call_|chatcmpl-|audio_)[0-9A-Za-z]{24}`)

// Stable encodes a value with numbers in place of ids made at random.
func Stable(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	return madeID.ReplaceAllStringFunc(strings.TrimSpace(b.String()), func(id string) string {
		if names[id] == "" {
			prefix := madeID.FindStringSubmatch(id)[1]
			names[id] = fmt.Sprintf("%smade-%d", prefix, len(names)+1)
		}
		return names[id]
	})
}

// Describe writes an error with all that callers look at.
func Describe(err error) string {
	var e *providers.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("%T: %v\n", err, err)
	}
	var b strings.Builder
	for _, f := range []struct {
		name  string
		value any
		given bool
	}{
		{"code", string(e.Code), true},
		{"param", e.Param, e.Param != ""},
		{"provider", e.Provider, e.Provider != ""},
		{"status", e.StatusCode, e.StatusCode != 0},
		{"native status", e.NativeStatus, e.NativeStatus != ""},
		{"retry after", e.RetryAfter.Round(time.Millisecond), e.RetryAfter != 0},
		{"sent", e.Sent, true},
		{"details", string(e.Details), len(e.Details) > 0},
		{"message", e.Message, e.Message != ""},
		{"cause", e.Err, e.Err != nil},
	} {
		if f.given {
			fmt.Fprintf(&b, "%s: %v\n", f.name, f.value)
		}
	}
	return b.String()
}

// WarningLines writes warnings, one to a line.
func WarningLines(list []providers.Warning) string {
	var b strings.Builder
	for _, w := range list {
		fmt.Fprintf(&b, "%s | %s | %s\n", w.Code, w.Param, w.Message)
	}
	return b.String()
}

// Indent indents JSON.
func Indent(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return b.Bytes()
}
