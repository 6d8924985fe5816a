// Package gemini holds the answer of Gemini's generateContent as the platform
// writes it, without any meaning attached. A Response is decoded again and
// again by one stream; its raw fields alias the event they came from and are
// good until the next Decode.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
// and the aiplatform v1 discovery document, revision 20261028.
package gemini

import (
	"bytes"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Response is one GenerateContentResponse, whole or a stream's chunk, or the
// error envelope that may stand in its place.
type Response struct {
	Candidates   []Candidate
	Feedback     Feedback
	Usage        Usage
	HasUsage     bool
	ModelVersion string
	ResponseID   string
	// Error is the raw google.rpc.Status of {"error":…}, nil for an answer.
	Error []byte
	// Known says that the object had any member of an answer.
	Known bool

	room [1]Candidate // for the usual single candidate
}

// Feedback is promptFeedback: the prompt was blocked when it has a reason.
type Feedback struct {
	BlockReason string
	Message     string
	Ratings     []byte
}

// Candidate is one answer, or a chunk of it.
type Candidate struct {
	Index         int // the position in the list when the wire gives none
	Parts         []Part
	FinishReason  string
	FinishMessage string
	// Raw native members.
	SafetyRatings      []byte
	GroundingMetadata  []byte
	CitationMetadata   []byte
	URLContextMetadata []byte
	ContinuationToken  []byte
	LogprobsResult     []byte

	room [2]Part // for the usual few parts
}

// Kind is the data member of a Part.
type Kind uint8

// The kinds of parts. KindOther is a member this package does not model.
const (
	KindEmpty Kind = iota
	KindText
	KindFunctionCall
	KindInlineData
	KindFileData
	KindExecutableCode
	KindCodeExecutionResult
	KindOther
)

// Part is one part of a candidate's content.
type Part struct {
	Kind      Kind
	Text      string
	Thought   bool
	Signature string
	Call      FunctionCall
	// MimeType and Data are inlineData's; Data is base64. For fileData, Data
	// is the URI.
	MimeType string
	Data     []byte
	// Name and Raw are the data member of a code or other part.
	Name string
	Raw  []byte
}

// FunctionCall is a call, whole or streamed in pieces.
type FunctionCall struct {
	ID           string
	Name         string
	Args         []byte
	PartialArgs  []byte
	WillContinue bool
}

// Decode reads one object. It reuses what the Response had allocated, also the
// strings that repeat in each chunk, and leaves nothing else of the former one.
// As in protobuf JSON, a member that is null counts as not given.
func (p *Response) Decode(r *jsonx.Reader) {
	model, id := p.ModelVersion, p.ResponseID
	p.Candidates = p.Candidates[:0]
	p.Feedback, p.Usage, p.HasUsage = Feedback{}, Usage{}, false
	p.ModelVersion, p.ResponseID = "", ""
	p.Error, p.Known = nil, false
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "candidates":
			p.Known = true
			p.decodeCandidates(r)
		case "promptFeedback":
			p.Known = true
			p.Feedback.decode(r)
		case "usageMetadata":
			p.Known = true
			p.HasUsage = true
			p.Usage.decode(r)
		case "modelVersion":
			p.Known = true
			p.ModelVersion = r.Intern(model)
		case "responseId":
			p.ResponseID = r.Intern(id)
		case "error":
			p.Error = r.Raw()
		default:
			r.Skip()
		}
	}
}

func (p *Response) decodeCandidates(r *jsonx.Reader) {
	for r.Array(); r.NextElem(); {
		n := len(p.Candidates)
		if p.Candidates == nil {
			p.Candidates = p.room[:0]
		}
		if n < cap(p.Candidates) {
			p.Candidates = p.Candidates[:n+1]
		} else {
			p.Candidates = append(p.Candidates, Candidate{})
		}
		c := &p.Candidates[n]
		c.reset(n)
		c.decode(r)
	}
}

// reset forgets the former chunk but keeps the room for parts.
func (c *Candidate) reset(index int) {
	if c.Parts == nil {
		c.Parts = c.room[:0]
	}
	c.Index, c.Parts = index, c.Parts[:0]
	c.FinishReason, c.FinishMessage = "", ""
	c.SafetyRatings, c.GroundingMetadata, c.CitationMetadata = nil, nil, nil
	c.URLContextMetadata, c.ContinuationToken, c.LogprobsResult = nil, nil, nil
}

func (c *Candidate) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "index":
			c.Index = int(r.LooseInt())
		case "content":
			c.decodeContent(r)
		case "finishReason":
			c.FinishReason = enum(r, finishNumbers, "STOP")
		case "finishMessage":
			c.FinishMessage = r.String()
		case "safetyRatings":
			c.SafetyRatings = r.Raw()
		case "groundingMetadata":
			c.GroundingMetadata = r.Raw()
		case "citationMetadata":
			c.CitationMetadata = r.Raw()
		case "urlContextMetadata":
			c.URLContextMetadata = r.Raw()
		case "continuationToken":
			c.ContinuationToken = r.Raw()
		case "logprobsResult":
			c.LogprobsResult = r.Raw()
		default:
			r.Skip()
		}
	}
}

func (c *Candidate) decodeContent(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if string(r.Key()) != "parts" {
			r.Skip()
			continue
		}
		if r.Kind() == jsonx.Object { // a single part where a list is expected
			c.addPart(r)
			continue
		}
		for r.Array(); r.NextElem(); {
			c.addPart(r)
		}
	}
}

func (c *Candidate) addPart(r *jsonx.Reader) {
	n := len(c.Parts)
	if n < cap(c.Parts) {
		c.Parts = c.Parts[:n+1]
	} else {
		c.Parts = append(c.Parts, Part{})
	}
	c.Parts[n] = Part{}
	c.Parts[n].decode(r)
}

func (p *Part) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "text":
			p.Kind = KindText
			p.Text = r.String()
		case "thought":
			p.Thought = r.Bool()
		case "thoughtSignature":
			p.Signature = r.String()
		case "functionCall":
			p.Kind = KindFunctionCall
			p.Call.decode(r)
		case "inlineData":
			p.Kind = KindInlineData
			p.decodeData(r, "data")
		case "fileData":
			p.Kind = KindFileData
			p.decodeData(r, "fileUri")
		case "executableCode":
			p.keep(r, KindExecutableCode)
		case "codeExecutionResult":
			p.keep(r, KindCodeExecutionResult)
		case "videoMetadata", "mediaResolution", "speechMetadata", "partMetadata":
			r.Skip()
		default:
			p.keepUnknown(r)
		}
	}
}

// keepUnknown holds a member that this package does not model. Beside data it
// is a remark on it, which must not hide it.
func (p *Part) keepUnknown(r *jsonx.Reader) {
	if p.Kind == KindEmpty {
		p.keep(r, KindOther)
		return
	}
	r.Skip()
}

// keep holds a data member raw.
func (p *Part) keep(r *jsonx.Reader, k Kind) {
	p.Kind, p.Name = k, string(r.Key())
	p.Raw = r.Raw()
}

// decodeData reads inlineData or fileData; the payload is in the named member.
func (p *Part) decodeData(r *jsonx.Reader, payload string) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "mimeType":
			p.MimeType = r.String()
		case payload:
			p.Data = payloadBytes(r)
		default:
			r.Skip()
		}
	}
}

// payloadBytes reads a string that is large and holds no escapes as a rule, as
// base64 does, so that it can stay in the event it came in.
func payloadBytes(r *jsonx.Reader) []byte {
	if k := r.Kind(); k != jsonx.String {
		_ = r.String() // null, or the error that says what was expected
		return nil
	}
	raw := r.Raw()
	switch {
	case len(raw) < 2:
		return nil
	case bytes.IndexByte(raw, '\\') < 0:
		return raw[1 : len(raw)-1]
	}
	escaped := jsonx.NewReader(raw)
	return []byte(escaped.String())
}

func (f *FunctionCall) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "id":
			f.ID = r.String()
		case "name":
			f.Name = r.String()
		case "args":
			f.Args = r.Raw()
		case "partialArgs":
			f.PartialArgs = r.Raw()
		case "willContinue":
			f.WillContinue = r.Bool()
		default:
			r.Skip()
		}
	}
}

func (f *Feedback) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "blockReason":
			f.BlockReason = enum(r, blockNumbers, "SAFETY")
		case "blockReasonMessage":
			f.Message = r.String()
		case "safetyRatings":
			f.Ratings = r.Raw()
		default:
			r.Skip()
		}
	}
}

// enum reads an enum by name, or by number as some transports give it. Numbers
// outside the table read as their digits.
func enum(r *jsonx.Reader, numbers []string, likely string) string {
	if r.Kind() != jsonx.Number {
		return r.Intern(likely)
	}
	n := r.Int()
	if n >= 0 && n < int64(len(numbers)) {
		return numbers[n]
	}
	return strconv.FormatInt(n, 10)
}

// finishNumbers are the enum numbers of Candidate.FinishReason.
var finishNumbers = []string{
	"", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "BLOCKLIST",
	"PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "MODEL_ARMOR", "IMAGE_SAFETY",
	"IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER", "UNEXPECTED_TOOL_CALL", "NO_IMAGE",
}

// blockNumbers are the enum numbers of PromptFeedback.BlockedReason.
var blockNumbers = []string{"", "SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT"}
