package engine

import (
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
)

// body writes the request for the inputs of a span.
func (e *embedding) body(w *jsonx.Writer, s span) error {
	if e.predicts() {
		return e.ownBody(w, s)
	}
	w.BeginObject()
	switch {
	case e.isOpen():
		e.openBody(w, s)
	case e.row.Method != catalog.EmbedContent:
		e.predictBody(w, s)
	case s.len() == 1:
		e.contentBody(w, s.from)
	default:
		w.Key("requests")
		w.BeginArray()
		for i := s.from; i < s.to; i++ {
			w.BeginObject()
			e.contentBody(w, i)
			w.EndObject()
		}
		w.EndArray()
	}
	w.EndObject()
	return w.Err()
}

// predictBody writes instances and parameters. Their members differ in case
// style.
func (e *embedding) predictBody(w *jsonx.Writer, s span) {
	w.Key("instances")
	w.BeginArray()
	for i := s.from; i < s.to; i++ {
		w.BeginObject()
		if e.row.Method == catalog.EmbedMultimodal {
			e.multimodalInstance(w, i)
		} else {
			w.Key("content")
			w.String(e.items[i].Text)
			putText(w, "task_type", e.parameter())
			putText(w, "title", e.title)
		}
		w.EndObject()
	}
	w.EndArray()
	if e.dimensions == 0 && e.truncate == nil && e.raw == nil {
		return
	}
	w.Key("parameters")
	w.BeginObject()
	if e.row.Method == catalog.EmbedMultimodal {
		putNumber(w, "dimension", e.dimensions)
	} else {
		putNumber(w, "outputDimensionality", e.dimensions)
	}
	e.rest(w)
	w.EndObject()
}

// rest writes the settings that have the same name everywhere.
func (e *embedding) rest(w *jsonx.Writer) {
	if e.truncate != nil {
		w.Key("autoTruncate")
		w.Bool(*e.truncate)
	}
	w.Members(e.raw)
}

// multimodalInstance writes an instance whose text and media get vectors of
// their own.
func (e *embedding) multimodalInstance(w *jsonx.Writer, i int) {
	putText(w, "text", e.items[i].Text)
	if e.media == nil {
		return
	}
	for j := range e.media[i] {
		m := &e.media[i][j]
		w.Key(m.kind)
		w.BeginObject()
		if m.uri != "" {
			putText(w, "gcsUri", m.uri)
		} else {
			w.Key("bytesBase64Encoded")
			w.Verbatim(m.base64)
		}
		if m.kind == "image" {
			putText(w, "mimeType", m.mime)
		}
		m.segment(w)
		w.EndObject()
	}
}

// segment writes which part of a video is meant.
func (m *embedMedia) segment(w *jsonx.Writer) {
	s := m.source
	if m.kind != "video" || s.StartOffset == nil && s.EndOffset == nil && s.Interval == nil {
		return
	}
	w.Key("videoSegmentConfig")
	w.BeginObject()
	for _, f := range [...]struct {
		key   string
		value *float64
	}{{"startOffsetSec", s.StartOffset}, {"endOffsetSec", s.EndOffset}, {"intervalSec", s.Interval}} {
		if f.value != nil {
			w.Key(f.key)
			w.Float(*f.value)
		}
	}
	w.EndObject()
}

// contentBody writes the members of an embedContent request.
func (e *embedding) contentBody(w *jsonx.Writer, i int) {
	w.Key("content")
	w.BeginObject()
	w.Key("parts")
	w.BeginArray()
	if text := e.items[i].Text; text != "" {
		w.BeginObject()
		w.Key("text")
		w.String(e.prefix() + text)
		w.EndObject()
	}
	if e.media != nil {
		for j := range e.media[i] {
			e.media[i][j].part(w)
		}
	}
	w.EndArray()
	w.EndObject()
	if e.model.Own { // which has the settings beside the content, and wants the name again
		w.Key("model")
		w.String(e.model.ownName())
		e.settings(w)
		return
	}
	if e.dimensions == 0 && e.truncate == nil && e.parameter() == "" && e.raw == nil {
		return
	}
	w.Key("embedContentConfig")
	w.BeginObject()
	e.settings(w)
	w.EndObject()
}

// settings writes what an embedContent request says beside the content.
func (e *embedding) settings(w *jsonx.Writer) {
	putNumber(w, "outputDimensionality", e.dimensions)
	if task := e.parameter(); task != "" {
		putText(w, "taskType", task)
		putText(w, "title", e.title)
	}
	e.rest(w)
}

// part writes a medium as a part of a content.
func (m *embedMedia) part(w *jsonx.Writer) {
	w.BeginObject()
	if m.uri != "" {
		w.Key("fileData")
		w.BeginObject()
		putText(w, "mimeType", m.mime)
		putText(w, "fileUri", m.uri)
	} else {
		w.Key("inlineData")
		w.BeginObject()
		putText(w, "mimeType", m.mime)
		w.Key("data")
		w.Verbatim(m.base64)
	}
	w.EndObject()
	if s := m.source; m.kind == "video" && (s.StartOffset != nil || s.EndOffset != nil) {
		w.Key("videoMetadata")
		w.BeginObject()
		putSeconds(w, "startOffset", s.StartOffset)
		putSeconds(w, "endOffset", s.EndOffset)
		w.EndObject()
	}
	w.EndObject()
}

// putSeconds writes a duration as protobuf does, with up to nine decimals.
func putSeconds(w *jsonx.Writer, key string, seconds *float64) {
	if seconds == nil {
		return
	}
	text := strconv.FormatFloat(*seconds, 'f', 9, 64)
	putText(w, key, strings.TrimRight(strings.TrimRight(text, "0"), ".")+"s")
}

func putText(w *jsonx.Writer, key, text string) {
	if text != "" {
		w.Key(key)
		w.String(text)
	}
}

func putNumber(w *jsonx.Writer, key string, n int) {
	if n != 0 {
		w.Key(key)
		w.Int(int64(n))
	}
}
