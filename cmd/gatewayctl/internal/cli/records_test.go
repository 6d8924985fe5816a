package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/logs"
)

func TestRecordsOfFiles(t *testing.T) {
	const pretty = "{\n  \"id\": \"p\",\n  \"attempts\": [\n    {\n      \"model\": \"m\"\n    }\n  ],\n  \"operation\": \"chat\"\n}\n"
	tests := []struct {
		name, text string
		ids        []string
		passed     int
	}{
		{"lines", `{"id":"a"}` + "\n\n" + `{"id":"b"}`, []string{"a", "b"}, 0},
		{"of several lines", pretty + pretty + `{"id":"a"}`, []string{"p", "p", "a"}, 0},
		{"beside each other", `{"id":"a"}{"id":"b"} {"id":"c"}` + "\r\n" + `{"id":"d"}`, []string{"a", "b", "c", "d"}, 0},
		{"with feedback", `{"id":"a"}` + "\n" + `{"record_id":"a","time":"2026-01-02T03:04:05Z","value":1,"metadata":{"a":"b"}}` + "\n" + `{"value":1,"record_id":"a"}`, []string{"a"}, 0},
		{"a line cut in a text", `{"id":"a","operation":"ch` + "\n" + `{"id":"b"}` + "\n", []string{"b"}, 1},
		{"a line cut between members", `{"id":"a",` + "\n" + `{"id":"b"}` + "\n", []string{"b"}, 1},
		{"a line cut before a value", `{"id":"a","content":` + "\n" + `{"id":"b"}` + "\n" + `{"id":"c"}` + "\n", []string{"b", "c"}, 1},
		{"a line cut before an element", `{"id":"a","attempts":[` + "\n" + `{"id":"b"}` + "\n", []string{"b"}, 1},
		{"two cut lines", `{"id":"a","content":` + "\n" + `{"id":"b","content":{"re` + "\n" + `{"id":"c"}` + "\n", []string{"c"}, 2},
		{"a last line that is cut", `{"id":"a"}` + "\n" + `{"id":"b","op`, []string{"a"}, 1},
		{"the rest of a line", `"operation":"chat"}` + "\n" + `{"id":"a"}`, []string{"a"}, 1},
		{"other lines", "no record\n" + `{"id":"a"}` + "\n5\n[]\nnull\n\"text\"\n" + `{"id":"b","tokens":"none"}` + "\n" + `{"id":"c"}`, []string{"a", "c"}, 6},
		{"behind a record", `{"id":"a"} and more` + "\n" + `{"id":"b"}`, []string{"a", "b"}, 1},
		{"several lines that end too early", strings.TrimSuffix(pretty, "}\n") + `{"id":"a"}` + "\n", []string{"a"}, 8},
		{"long ones beside each other", `{"id":"a","user":"` + strings.Repeat("u", 700) + `"}{"id":"b","user":"` + strings.Repeat("u", 5000) + `"}` + "\n" + `{"id":"c"}`, []string{"a", "b", "c"}, 0},
		{"an indented line behind one that is cut", `{"id":"a","op` + "\n" + `  {"id":"b"}` + "\n", []string{"b"}, 1},
		{"nothing", "\n \n", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ids []string
			passed, err := eachRecord(strings.NewReader(tt.text), func(r *logs.Record) error {
				ids = append(ids, r.ID)
				return nil
			})
			if diff := cmp.Diff(tt.ids, ids); diff != "" || err != nil || passed.lines != tt.passed || (passed.first != nil) != (tt.passed > 0) {
				t.Errorf("%d lines were passed over (%v), error %v, want %d (-want +got):\n%s", passed.lines, passed.first, err, tt.passed, diff)
			}
		})
	}
}
