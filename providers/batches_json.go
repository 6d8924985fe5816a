package providers

import (
	"maps"
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// UnmarshalJSON decodes a request for a batch.
func (q *BatchRequest) UnmarshalJSON(data []byte) error {
	*q = BatchRequest{}
	return decode(data, q.decode)
}

func (q *BatchRequest) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "input_file_id":
			q.InputFileID = r.String()
		case "endpoint":
			q.Endpoint = r.String()
		case "completion_window":
			q.CompletionWindow = r.String()
		case "metadata":
			q.Metadata = getMap(r)
		default:
			q.Extra.keep(r)
		}
	}
}

// AppendJSON appends the batch as the OpenAI schema has it.
func (b *Batch) AppendJSON(dst []byte) ([]byte, error) {
	w := writer(dst)
	b.put(&w)
	return append(dst, w.Bytes()...), w.Err()
}

// MarshalJSON encodes the batch.
func (b Batch) MarshalJSON() ([]byte, error) { return encode(b.put) }

func (b *Batch) put(w *jsonx.Writer) {
	w.BeginObject()
	for _, m := range []struct{ key, text string }{
		{"id", b.ID}, {"object", "batch"}, {"endpoint", b.Endpoint}, {"model", b.Model}, {"input_file_id", b.InputFileID},
		{"completion_window", b.CompletionWindow}, {"status", b.Status}, {"output_file_id", b.OutputFileID}, {"error_file_id", b.ErrorFileID},
	} {
		w.Key(m.key)
		if m.text == "" {
			w.Null()
		} else {
			w.String(m.text)
		}
	}
	w.Key("created_at")
	w.Int(b.CreatedAt)
	for _, m := range []struct {
		key string
		at  int64
	}{
		{"in_progress_at", b.InProgressAt}, {"finalizing_at", b.FinalizingAt}, {"completed_at", b.CompletedAt}, {"failed_at", b.FailedAt},
		{"expired_at", b.ExpiredAt}, {"cancelling_at", b.CancellingAt}, {"cancelled_at", b.CancelledAt},
	} {
		putTime(w, m.key, m.at, true)
	}
	w.Key("request_counts")
	w.BeginObject()
	w.Key("total")
	w.Int(b.RequestCounts.Total)
	w.Key("completed")
	w.Int(b.RequestCounts.Completed)
	w.Key("failed")
	w.Int(b.RequestCounts.Failed)
	w.EndObject()
	b.encodeErrors(w)
	w.Key("metadata")
	if b.Metadata == nil {
		w.Null()
	} else {
		w.BeginObject()
		for _, key := range slices.Sorted(maps.Keys(b.Metadata)) {
			w.AnyKey(key)
			w.String(b.Metadata[key])
		}
		w.EndObject()
	}
	w.EndObject()
}

func (b *Batch) encodeErrors(w *jsonx.Writer) {
	w.Key("errors")
	if len(b.Errors) == 0 {
		w.Null()
		return
	}
	w.BeginObject()
	w.Key("object")
	w.String("list")
	w.Key("data")
	w.BeginArray()
	for _, e := range b.Errors {
		w.BeginObject()
		w.Key("code")
		w.String(e.Code)
		w.Key("message")
		w.String(e.Message)
		putString(w, "param", e.Param)
		putTime(w, "line", e.Line, true)
		w.EndObject()
	}
	w.EndArray()
	w.EndObject()
}

// AppendJSON appends the page as the OpenAI schema has it.
func (l *BatchList) AppendJSON(dst []byte) ([]byte, error) {
	return appendPage(dst, l.Data, l.HasMore, func(b *Batch) string { return b.ID }, (*Batch).put)
}

// AppendJSON appends the result as a line of a batch's output or error file,
// without its end. The id is the line's name.
//
// Source: https://platform.openai.com/docs/api-reference/batch/request-output
func (x *BatchResult) AppendJSON(dst []byte, id string) ([]byte, error) {
	w := writer(dst)
	w.BeginObject()
	w.Key("id")
	w.String(id)
	w.Key("custom_id")
	if x.CustomID == "" {
		w.Null()
	} else {
		w.String(x.CustomID)
	}
	w.Key("response")
	x.encodeResponse(&w)
	w.Key("error")
	if x.Err == nil || x.Err.StatusCode != 0 {
		w.Null()
	} else {
		x.encodeError(&w)
	}
	w.EndObject()
	return append(dst, w.Bytes()...), w.Err()
}

// encodeResponse writes the answer, or the platform's refusal of the request.
func (x *BatchResult) encodeResponse(w *jsonx.Writer) {
	status := int64(200)
	if x.Err != nil {
		if status = int64(x.Err.StatusCode); status == 0 {
			w.Null()
			return
		}
	}
	w.BeginObject()
	w.Key("status_code")
	w.Int(status)
	w.Key("request_id")
	w.String(x.RequestID)
	w.Key("body")
	switch {
	case x.Err != nil:
		w.Raw(x.Err.AppendJSON(nil))
	case x.Chat != nil:
		x.Chat.encode(w)
	case x.Embeddings != nil:
		x.Embeddings.encode(w)
	default:
		w.Null()
	}
	w.EndObject()
}

// encodeError writes what is wrong with a line that was not sent, or not
// answered.
func (x *BatchResult) encodeError(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("code")
	w.String(string(x.Err.Code))
	w.Key("message")
	w.String(x.Err.publicMessage())
	putString(w, "param", x.Err.Param)
	putTime(w, "line", x.Line, false)
	w.EndObject()
}
