package logs_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/logs/logstest"
)

// TestEntriesHaveTheNamesOfTheFields holds both loggers against the table.
func TestEntriesHaveTheNamesOfTheFields(t *testing.T) {
	list := logstest.Records()[:2]
	core, seen := observer.New(zapcore.InfoLevel)
	var text bytes.Buffer
	for _, s := range []logs.Sink{logs.ZapSink(zap.New(core)), logs.SlogSink(slog.New(slog.NewJSONHandler(&text, nil)))} {
		if err := s.Write(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	for i := range list {
		want := map[string]any{}
		for _, f := range logs.Fields() {
			v, ok := f.Of(&list[i])
			switch {
			case !ok:
			case f.Kind == logs.Number:
				want[f.Name] = v.Num
			case f.Kind == logs.Flag:
				want[f.Name] = v.Num != 0
			default:
				want[f.Name] = v.Text
			}
		}
		for k, v := range list[i].Metadata {
			want["metadata."+k] = v
		}
		level := zapcore.InfoLevel
		if e := list[i].Error; e != nil {
			want["error_message"], level = e.Message, zapcore.WarnLevel
		}
		e := seen.All()[i]
		got := e.ContextMap()
		if at, _ := got["time"].(time.Time); !at.Equal(list[i].Time) || e.Level != level || e.Message != "call" {
			t.Errorf("zap: %v", e)
		}
		delete(got, "time")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("zap (-want +got)\n%s", diff)
		}
		got = map[string]any{}
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
			t.Fatal(err)
		}
		if got["level"] != strings.ToUpper(level.String()) || got["msg"] != "call" || got["time"] != list[i].Time.Format(time.RFC3339Nano) {
			t.Errorf("slog: %v", got)
		}
		for _, k := range []string{"level", "msg", "time"} {
			delete(got, k)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("slog (-want +got)\n%s", diff)
		}
	}
}

func TestExports(t *testing.T) {
	memory := logs.NewMemory(0)
	file := openFile(t, filepath.Join(t.TempDir(), "calls.jsonl"), logs.FileOptions{MaxBytes: 20_000, MaxFiles: -1})
	for _, s := range []logs.Store{memory, file} {
		fill(t, s, 0, 2*logs.MaxLimit+10)
		for _, q := range []logs.Query{
			{Limit: 3}, {Search: "r-00"}, {Filters: []logs.Filter{{Field: "id", Op: logs.Lt, Values: []string{"r-005"}}}},
		} {
			var out bytes.Buffer
			if err := logs.Export(t.Context(), s, q, logs.FormatJSONL, &out); err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for line := range strings.Lines(out.String()) {
				var r logs.Record
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatal(err)
				}
				got = append(got, r.ID)
			}
			m, err := logs.Compile(q)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range names(0, 2*logs.MaxLimit+10) {
				if m.Match(&logs.Record{ID: id}) {
					want = append(want, id)
				}
			}
			if !slices.Equal(want, got) {
				t.Errorf("%T %+v: %d records, want %d", s, q, len(got), len(want))
			}
		}
	}
}

func TestTablesAreSafeForSpreadsheets(t *testing.T) {
	m := logs.NewMemory(0)
	list := logstest.Records()[:2]
	list[1].User, list[1].ResponseModel, list[1].Slug = "=HYPERLINK(\"http://x\")", "\t=1", "a,b\n\"c\""
	list[1].Metadata = map[string]string{"k": "=1+1"}
	list[1].ResponseID, list[1].PromptID, list[1].ConfigID = "＝1", " @x", "-2+3"
	if err := m.Write(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := logs.Export(t.Context(), m, logs.Query{}, logs.FormatCSV, &out); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(table) != 3 {
		t.Fatalf("%d rows, %v", len(table), err)
	}
	cell := func(row int, name string) string { return table[row][slices.Index(table[0], name)] }
	for name, want := range map[string]string{
		"user": `'=HYPERLINK("http://x")`, "response_model": "'\t=1", "slug": "a,b\n\"c\"", "metadata": `{"k":"=1+1"}`, "response_id": "'＝1",
		"prompt_id": "' @x", "config_id": "'-2+3", "status": "429", "error_code": "rate_limit_exceeded", "error_message": "Too many requests", "cost_usd": "",
		"time": "2026-05-04T10:01:00.123456Z", "failed": "true",
	} {
		if got := cell(1, name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"cost_usd": "0.123456789", "duration_ms": "100", "first_chunk_ms": "12.345", "metadata": `{"empty":"","team":"search"}`} {
		if got := cell(2, name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

// nowhere can't be written to.
type nowhere struct{}

var errNowhere = errors.New("nowhere")

func (nowhere) Write([]byte) (int, error) { return 0, errNowhere }

func TestExportsThatFail(t *testing.T) {
	m := logs.NewMemory(0)
	fill(t, m, 0, 100)
	for _, f := range []logs.Format{logs.FormatCSV, logs.FormatJSONL} {
		if err := logs.Export(t.Context(), m, logs.Query{}, f, nowhere{}); !errors.Is(err, errNowhere) {
			t.Errorf("%s: %v", f, err)
		}
	}
	if err := logs.Export(t.Context(), m, logs.Query{}, "xml", nowhere{}); err == nil || errors.Is(err, errNowhere) {
		t.Errorf("xml: %v", err)
	}
	if err := logs.Export(t.Context(), m, logs.Query{Limit: -1}, logs.FormatCSV, nowhere{}); err == nil || errors.Is(err, errNowhere) {
		t.Errorf("a wrong query: %v", err)
	}
}
