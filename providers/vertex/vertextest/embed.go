package vertextest

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// embedJob is a request for embeddings, whatever its form.
type embedJob struct {
	facts    embedFacts
	inputs   []embedInput
	dims     int // 0 when not asked for
	truncate *bool
}

// embedInput is what becomes one element of the answer.
type embedInput struct {
	text, task, title string
	media             []embedMedium
}

// embedMedium is media within an input.
type embedMedium struct {
	kind, mime, data, uri string
	start, end, interval  float64
}

// The wire of predict.
type (
	predictBody struct {
		Instances  []json.RawMessage `json:"instances"`
		Parameters json.RawMessage   `json:"parameters"`
	}
	textInstance struct {
		Content  *string `json:"content"`
		TaskType string  `json:"task_type"`
		Title    string  `json:"title"`
	}
	mediaInstance struct {
		Text  string       `json:"text"`
		Image *mediaObject `json:"image"`
		Video *mediaObject `json:"video"`
	}
	mediaObject struct {
		Bytes    string `json:"bytesBase64Encoded"`
		GCS      string `json:"gcsUri"`
		MimeType string `json:"mimeType"`
		Segment  *struct {
			Start    float64 `json:"startOffsetSec"`
			End      float64 `json:"endOffsetSec"`
			Interval float64 `json:"intervalSec"`
		} `json:"videoSegmentConfig"`
	}
	textParameters struct {
		OutputDimensionality *int  `json:"outputDimensionality"`
		AutoTruncate         *bool `json:"autoTruncate"`
	}
	mediaParameters struct {
		Dimension *int `json:"dimension"`
	}
)

// The wire of embedContent.
type (
	embedBody struct {
		Content embedContent `json:"content"`
		Config  struct {
			OutputDimensionality *int   `json:"outputDimensionality"`
			AutoTruncate         *bool  `json:"autoTruncate"`
			TaskType             string `json:"taskType"`
			Title                string `json:"title"`
		} `json:"embedContentConfig"`
	}
	batchBody struct {
		Requests []embedBody `json:"requests"`
	}
	embedContent struct {
		Parts []struct {
			Text       *string `json:"text"`
			InlineData *struct {
				MimeType string `json:"mimeType"`
				Data     string `json:"data"`
			} `json:"inlineData"`
			FileData *struct {
				MimeType string `json:"mimeType"`
				FileURI  string `json:"fileUri"`
			} `json:"fileData"`
		} `json:"parts"`
	}
)

// checkEmbed checks a request for embeddings.
func checkEmbed(x *exchange) error {
	j, err := x.embedJob()
	if err != nil || x.cfg.withoutChecks {
		return err
	}
	return j.check()
}

// embedMessages are the messages of the verbs.
var embedMessages = map[string]string{
	"predict": "PredictRequest", "embedContent": "EmbedContentRequest", "batchEmbedContents": "BatchEmbedContentsRequest",
}

// embedJob reads the body.
func (x *exchange) embedJob() (*embedJob, error) {
	v, err := decodeBody(x.body)
	if err != nil {
		return nil, err
	}
	if err := x.checkRefused(v); err != nil {
		return nil, err
	}
	v, body, err := x.adapt(v)
	if err != nil {
		return nil, err
	}
	if !x.cfg.withoutChecks {
		if err := checkValue(embedMessages[x.target.verb], v); err != nil {
			return nil, err
		}
	}
	j := &embedJob{}
	if j.facts, err = x.findEmbedder(); err != nil {
		return nil, err
	}
	switch x.target.verb {
	case "predict":
		err = j.readPredict(body)
	case "embedContent":
		var b embedBody
		if err = strictly(body, &b, false); err == nil {
			err = j.readContent(&b)
		}
	default:
		var batch batchBody
		if err = strictly(body, &batch, false); err == nil {
			for i := range batch.Requests {
				if err = j.readContent(&batch.Requests[i]); err != nil {
					break
				}
			}
		}
	}
	return j, err
}

// strictly decodes a body; known says that no other members may be in it.
func strictly(body []byte, into any, known bool) error {
	d := json.NewDecoder(strings.NewReader(string(body)))
	if known {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(into); err != nil {
		name, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
		if ok {
			return invalid("Invalid value at 'instances' or 'parameters': unknown member %s.", name)
		}
		return invalid("Invalid JSON payload received.")
	}
	return nil
}

func (j *embedJob) readPredict(body []byte) error {
	var b predictBody
	if err := strictly(body, &b, false); err != nil {
		return err
	}
	if len(b.Parameters) > 0 {
		var text textParameters
		var own mediaParameters
		into := any(&text)
		if j.facts.own {
			into = &own
		}
		if err := strictly(b.Parameters, into, true); err != nil {
			return err
		}
		for _, dims := range []*int{text.OutputDimensionality, own.Dimension} {
			if dims != nil {
				j.dims = *dims
				if err := j.checkDims(); err != nil {
					return err
				}
			}
		}
		j.truncate = text.AutoTruncate
	}
	for _, raw := range b.Instances {
		if err := j.readInstance(raw); err != nil {
			return err
		}
	}
	return nil
}

func (j *embedJob) readInstance(raw []byte) error {
	if j.facts.own {
		var i mediaInstance
		if err := strictly(raw, &i, true); err != nil {
			return err
		}
		in := embedInput{text: i.Text}
		for kind, m := range map[string]*mediaObject{"image": i.Image, "video": i.Video} {
			if m != nil {
				medium := embedMedium{kind: kind, mime: m.MimeType, data: m.Bytes, uri: m.GCS}
				if s := m.Segment; s != nil {
					medium.start, medium.end, medium.interval = s.Start, s.End, s.Interval
				}
				in.media = append(in.media, medium)
			}
		}
		slices.SortFunc(in.media, func(a, b embedMedium) int { return strings.Compare(a.kind, b.kind) })
		j.inputs = append(j.inputs, in)
		return nil
	}
	var i textInstance
	if err := strictly(raw, &i, true); err != nil {
		return err
	}
	if i.Content == nil {
		return invalid("Required field 'content' is missing in an instance.")
	}
	j.inputs = append(j.inputs, embedInput{text: *i.Content, task: i.TaskType, title: i.Title})
	return nil
}

func (j *embedJob) readContent(b *embedBody) error {
	in := embedInput{task: b.Config.TaskType, title: b.Config.Title}
	if d := b.Config.OutputDimensionality; d != nil {
		if len(j.inputs) > 0 && j.dims != *d {
			return invalid("All requests of a batch must have the same output dimensionality.")
		}
		j.dims = *d
		if err := j.checkDims(); err != nil {
			return err
		}
	}
	j.truncate = b.Config.AutoTruncate
	var texts []string
	for _, p := range b.Content.Parts {
		switch {
		case p.Text != nil:
			texts = append(texts, *p.Text)
		case p.InlineData != nil:
			in.media = append(in.media, embedMedium{kind: "part", mime: p.InlineData.MimeType, data: p.InlineData.Data})
		case p.FileData != nil:
			in.media = append(in.media, embedMedium{kind: "part", mime: p.FileData.MimeType, uri: p.FileData.FileURI})
		}
	}
	in.text = strings.Join(texts, "\n")
	j.inputs = append(j.inputs, in)
	return nil
}

// tokensOf counts the tokens of an input, media at 258 each.
func (in *embedInput) tokensOf() int { return tokens(len(in.text)) + 258*len(in.media) }

// cut reports whether an input is longer than the model reads, and its tokens
// after that.
func (j *embedJob) cut(in *embedInput) (n int, truncated bool) {
	n = in.tokensOf()
	if len(in.media) == 0 && n > j.facts.inputTokens {
		return j.facts.inputTokens, true
	}
	return n, false
}

// vector makes the vector of a text or a whole content.
func (j *embedJob) vector(features map[string]float64) floatList {
	vector := vectorOf(features, j.facts.dims)
	if j.dims > 0 && j.dims < len(vector) {
		vector = vector[:j.dims]
		if !j.facts.leavesShort {
			vector = unit(vector)
		}
	}
	return floatList{vector, j.facts.widened}
}

// whole makes the vector of all that an input holds.
func (j *embedJob) whole(in *embedInput) floatList {
	text, task := in.text, in.task
	if j.facts.media && !j.facts.own {
		task, text = taskOf(text)
	}
	const perToken = 4 // bytes of text
	if n, truncated := j.cut(in); truncated {
		text = strings.ToValidUTF8(text[:min(len(text), n*perToken)], "")
	}
	features := map[string]float64{}
	if text != "" {
		features = textFeatures(in.title+" "+text, task)
	}
	for _, m := range in.media {
		features["media:"+m.data+m.uri] += 4
	}
	return j.vector(features)
}

// The answers.
type (
	embedStatistics struct {
		TokenCount int  `json:"token_count"`
		Truncated  bool `json:"truncated"`
	}
	valueList struct {
		Values     floatList        `json:"values"`
		Statistics *embedStatistics `json:"statistics,omitempty"`
	}
	videoVector struct {
		Start     float64   `json:"startOffsetSec"`
		End       float64   `json:"endOffsetSec"`
		Embedding floatList `json:"embedding"`
	}
	prediction struct {
		Embeddings      *valueList    `json:"embeddings,omitempty"`
		TextEmbedding   *floatList    `json:"textEmbedding,omitempty"`
		ImageEmbedding  *floatList    `json:"imageEmbedding,omitempty"`
		VideoEmbeddings []videoVector `json:"videoEmbeddings,omitempty"`
	}
	embedUsage struct {
		PromptTokenCount    int             `json:"promptTokenCount"`
		TotalTokenCount     int             `json:"totalTokenCount"`
		PromptTokensDetails []modalityCount `json:"promptTokensDetails,omitempty"`
	}
)

// answerVectors answers predict with vectors.
func answerVectors(x *exchange) (response, error) {
	j, err := x.embedJob()
	if err != nil {
		return response{}, err
	}
	var out struct {
		Predictions []prediction   `json:"predictions"`
		Metadata    map[string]int `json:"metadata,omitempty"`
	}
	billed := 0
	for i := range j.inputs {
		in := &j.inputs[i]
		if j.facts.own {
			out.Predictions = append(out.Predictions, j.ownVectors(in))
			continue
		}
		n, truncated := j.cut(in)
		out.Predictions = append(out.Predictions, prediction{
			Embeddings: &valueList{Values: j.whole(in), Statistics: &embedStatistics{n, truncated}},
		})
		for _, r := range in.text {
			if !unicode.IsSpace(r) {
				billed++
			}
		}
	}
	if !j.facts.own {
		out.Metadata = map[string]int{"billableCharacterCount": billed}
	}
	return jsonResponse(out)
}

// ownVectors makes a vector for the text and for each medium.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-multimodal-embeddings
func (j *embedJob) ownVectors(in *embedInput) prediction {
	var p prediction
	if in.text != "" {
		p.TextEmbedding = new(j.vector(textFeatures(in.text, "")))
	}
	for _, m := range in.media {
		features := map[string]float64{"media:" + m.data + m.uri: 1}
		if m.kind == "image" {
			p.ImageEmbedding = new(j.vector(features))
			continue
		}
		const usual, least, most = 16, 4, 120 // seconds; of an interval, and of all of a video
		end, interval := min(m.end, m.start+most), m.interval
		if end == 0 {
			end = m.start + 2*usual
		}
		if interval < least {
			interval = usual
		}
		for at := m.start; at < end; at += interval {
			features["at"] = at
			p.VideoEmbeddings = append(p.VideoEmbeddings, videoVector{at, min(at+interval, end), j.vector(features)})
		}
	}
	return p
}

// answerEmbed answers embedContent and its batches.
func answerEmbed(x *exchange) (response, error) {
	j, err := x.embedJob()
	if err != nil {
		return response{}, err
	}
	var (
		list      []valueList
		used      int
		truncated bool
	)
	for i := range j.inputs {
		n, cut := j.cut(&j.inputs[i])
		used += n
		truncated = truncated || cut
		list = append(list, valueList{Values: j.whole(&j.inputs[i])})
	}
	usage := embedUsage{PromptTokenCount: used, TotalTokenCount: used, PromptTokensDetails: []modalityCount{{"TEXT", used}}}
	if x.target.verb == "batchEmbedContents" {
		return jsonResponse(struct {
			Embeddings    []valueList `json:"embeddings"`
			UsageMetadata embedUsage  `json:"usageMetadata"`
		}{list, usage})
	}
	return jsonResponse(struct {
		Embedding     valueList  `json:"embedding"`
		Truncated     bool       `json:"truncated,omitempty"`
		UsageMetadata embedUsage `json:"usageMetadata"`
	}{list[0], truncated, usage})
}

// isBase64 reports whether s is base64 in the standard alphabet.
func isBase64(s string) bool {
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil && s != ""
}
