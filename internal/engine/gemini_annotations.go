package engine

import (
	"slices"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// maxAnnotations bounds what one answer's metadata may unfold to.
const maxAnnotations = 10_000

// textMap leads from the platform's offsets, which count bytes of a part, to
// characters of the content. It holds nothing for a content of one ASCII text.
type textMap struct {
	bytes, chars int
	width        int         // of the last character in bytes, 0 for one
	base         int         // where the answer begins, behind a thought
	runs         []textRun   // where characters change their width
	starts       []partStart // of the texts that begin within the content
}

// textRun is where characters begin that are equally wide, as a byte and as a
// character. Their width follows from where the next run begins.
type textRun struct{ at, char uint32 }

// partStart is where in the content a part begins.
type partStart struct{ part, at int }

// begin notes that a part begins. A part of a whole answer is known by its
// place, one of a stream by its block.
func (m *textMap) begin(s *geminiChoice) {
	if m.bytes == 0 {
		return
	}
	part := s.blocks - 1
	if s.d.whole {
		part = s.parts
	}
	m.starts = append(m.starts, partStart{part, m.bytes})
}

// add notes a text behind the content so far. One that is not counted is
// counted later, by count.
func (m *textMap) add(text string, counted bool) {
	if counted {
		m.count(text)
	}
	m.bytes += len(text)
}

// count notes the characters of a text that begins where the last one ended.
func (m *textMap) count(text string) {
	at := m.bytes
	for text != "" {
		n, width := ascii(text), 1
		if n == 0 {
			_, width = utf8.DecodeRuneInString(text)
			n = width
		}
		if width != max(1, m.width) {
			m.width = width
			m.runs = append(m.runs, textRun{uint32(at), uint32(m.chars)})
		}
		m.chars += n / width
		at += n
		text = text[n:]
	}
}

// ascii returns how many ASCII characters the text begins with.
func ascii(s string) int {
	i := 0
	for i+8 <= len(s) && allASCII(s[i:i+8]) {
		i += 8
	}
	if rest := len(s) - i; rest < 8 && len(s) >= 8 && allASCII(s[len(s)-8:]) {
		return len(s)
	}
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// allASCII reports whether eight bytes of text are ASCII. They are read as one word.
func allASCII(b string) bool {
	w := uint64(b[7])<<56 | uint64(b[6])<<48 | uint64(b[5])<<40 | uint64(b[4])<<32 |
		uint64(b[3])<<24 | uint64(b[2])<<16 | uint64(b[1])<<8 | uint64(b[0])
	return w&0x8080808080808080 == 0
}

// char returns the character at a byte of the content.
func (m *textMap) char(at int) int {
	at = min(max(0, at), m.bytes)
	n, _ := slices.BinarySearchFunc(m.runs, at, func(r textRun, at int) int {
		if int(r.at) > at {
			return 1
		}
		return -1
	})
	if n == 0 {
		return at
	}
	first, next := m.runs[n-1], textRun{uint32(m.bytes), uint32(m.chars)}
	if n < len(m.runs) {
		next = m.runs[n]
	}
	width := int(next.at-first.at) / int(next.char-first.char)
	return int(first.char) + (at-int(first.at))/width
}

// start returns where a part begins: where the answer does, unless another
// place is known.
func (m *textMap) start(part int) int {
	for i := range m.starts {
		if m.starts[i].part == part {
			return m.starts[i].at
		}
	}
	return m.base
}

// source is what a grounding chunk or a citation points to.
type source struct{ url, title string }

// annotations returns what the metadata says of the content's sources, in the
// order it came in. Sources without a URL are in the native members alone.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/grounding/grounding-with-google-search
func (s *geminiChoice) annotations(content string) []providers.Annotation {
	grounding, cited := s.extra[nativeGrounding], s.extra[nativeCitations]
	if len(grounding) == 0 && len(cited) == 0 {
		return nil
	}
	if s.d.whole { // its characters were not counted on the way
		m := &s.text
		*m = textMap{starts: m.starts, base: m.base}
		m.add(content, true)
	}
	a := annotator{text: &s.text}
	a.grounding(grounding)
	a.citations(cited)
	return a.list
}

type annotator struct {
	text *textMap
	list []providers.Annotation
}

// add adds the source of the bytes from start to end of the content.
func (a *annotator) add(src source, start, end int) {
	if src.url == "" || len(a.list) >= maxAnnotations {
		return
	}
	first := a.text.char(start)
	a.list = append(a.list, providers.Annotation{
		Type: providers.AnnotationURLCitation,
		URLCitation: &providers.URLCitation{
			StartIndex: first, EndIndex: max(first, a.text.char(end)), URL: src.url, Title: src.title,
		},
	})
}

func (a *annotator) grounding(raw []byte) {
	chunks, _ := jsonx.Lookup(raw, "groundingChunks")
	supports, ok := jsonx.Lookup(raw, "groundingSupports")
	if !ok {
		return
	}
	sources := groundingSources(chunks)
	r := jsonx.NewReader(supports)
	for r.Array(); r.NextElem(); {
		var seg segment
		var indices []int64
		for r.Object(); r.NextKey(); {
			switch string(r.Key()) {
			case "segment":
				seg.decode(&r)
			case "groundingChunkIndices":
				for r.Array(); r.NextElem(); {
					indices = append(indices, r.LooseInt())
				}
			default:
				r.Skip()
			}
		}
		if r.Err() != nil {
			return
		}
		base := a.text.start(seg.part)
		for _, i := range indices {
			if i >= 0 && i < int64(len(sources)) {
				a.add(sources[i], base+seg.start, base+seg.end)
			}
		}
	}
}

// groundingSources reads the chunks; one without a URL keeps its place.
func groundingSources(chunks []byte) []source {
	var list []source
	r := jsonx.NewReader(chunks)
	for r.Array(); r.NextElem(); {
		var src source
		for r.Object(); r.NextKey(); {
			switch string(r.Key()) {
			case "web", "retrievedContext", "maps", "image":
				src.decode(&r)
			default:
				r.Skip()
			}
		}
		list = append(list, src)
	}
	return list
}

// decode reads a source of any kind; an image's is the page that shows it.
func (s *source) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "uri", "sourceUri":
			s.url = r.String()
		case "title":
			s.title = r.String()
		default:
			r.Skip()
		}
	}
}

// segment is a stretch of a part, in bytes.
type segment struct{ part, start, end int }

func (s *segment) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "partIndex":
			s.part = offset(r)
		case "startIndex":
			s.start = offset(r)
		case "endIndex":
			s.end = offset(r)
		default:
			r.Skip()
		}
	}
}

// offset reads an offset, kept small enough to be added to another.
func offset(r *jsonx.Reader) int {
	if r.Null() {
		return 0
	}
	return int(min(max(0, r.LooseInt()), 1<<30))
}

// citations reads citationMetadata, whose offsets count bytes of the content.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#CitationMetadata
func (a *annotator) citations(raw []byte) {
	list, ok := jsonx.Lookup(raw, "citations")
	if !ok { // the vendor's own service has them under another name
		list, _ = jsonx.Lookup(raw, "citationSources")
	}
	base := a.text.base
	r := jsonx.NewReader(list)
	for r.Array(); r.NextElem(); {
		var src source
		var seg segment
		for r.Object(); r.NextKey(); {
			switch string(r.Key()) {
			case "startIndex":
				seg.start = offset(&r)
			case "endIndex":
				seg.end = offset(&r)
			case "uri":
				src.url = r.String()
			case "title":
				src.title = r.String()
			default:
				r.Skip()
			}
		}
		if r.Err() == nil {
			a.add(src, base+seg.start, base+seg.end)
		}
	}
}
