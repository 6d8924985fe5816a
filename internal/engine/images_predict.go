package engine

import (
	"bytes"
	"context"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/images"
	"github.com/b650d4bf/gateway/providers"
)

// imageKinds are the kinds of JSON of members that go to predict.
var imageKinds = map[string]jsonx.Kind{
	"add_watermark": jsonx.Bool, "person_generation": jsonx.String, "safety_setting": jsonx.String, "language": jsonx.String,
	"enhance_prompt": jsonx.Bool, "guidance_scale": jsonx.Number, "include_rai_reason": jsonx.Bool, "include_safety_attributes": jsonx.Bool,
	"edit_mode": jsonx.String, "base_steps": jsonx.Number, "mask_mode": jsonx.String, "mask_dilation": jsonx.Number,
	"parameters": jsonx.Object, "image_config": jsonx.Object,
}

// readExtra reads the members beyond the schema's fields.
func (d *drawing) readExtra() error {
	for name, value := range d.q.Extra.All() {
		if string(value) == "null" {
			continue
		}
		p := findImageParam(name)
		if p == nil || !p.extension {
			d.unfamiliar(name, value)
			continue
		}
		if r := jsonx.NewReader(value); imageKinds[p.name] != 0 && r.Kind() != imageKinds[p.name] {
			return providers.Invalid(name, "expected "+imageKinds[p.name].String())
		}
		if p.at(d.row.Method).action == warn {
			d.warn(providers.WarnUnsupported, name, "left out: "+d.model.Name+" does not take it")
			continue
		}
		if d.row.Method == catalog.ImageContent {
			d.further = jsonx.AppendMember(d.further, p.name, value)
			continue
		}
		if !d.row.Takes(p.name) {
			d.warn(providers.WarnUnsupported, name, "left out: "+d.model.Name+" does not take it")
			continue
		}
		d.readOwn(p, value)
	}
	if d.row.Method == catalog.ImageContent {
		return nil
	}
	if d.dilation != nil && d.mask == nil && d.maskMode == "" {
		d.warn(providers.WarnUnsupported, "mask_dilation", "left out: there is no mask")
	}
	return d.parameters()
}

// unfamiliar deals with a member that is in no row: those of a chat completion go
// along with a conversation, where they are judged.
func (d *drawing) unfamiliar(name string, value []byte) {
	_, common := ownChat[name]
	switch {
	case d.row.Method == catalog.ImageContent && !common && findParam(name) != nil:
		d.further = jsonx.AppendMember(d.further, name, value)
	case !saysNothing(value):
		d.warnOnce(name, providers.WarnUnknown, name, "left out: the platform does not know it")
	}
}

// ownChat are members of a chat completion that an image request decides itself.
var ownChat = map[string]struct{}{
	"messages": {}, "stream": {}, "stream_options": {}, "modalities": {}, "response_format": {}, "image_config": {}, "n": {}, "metadata": {},
	"store": {}, "audio": {}, "tool_choice": {}, "functions": {}, "function_call": {}, "system_instruction": {}, "contents": {},
}

// readOwn keeps a member for the prediction.
func (d *drawing) readOwn(p *imageParam, value []byte) {
	r := jsonx.NewReader(value)
	switch p.name {
	case "person_generation":
		d.set(p.name, "personGeneration", jsonText(personWord(r.String(), false)))
	case "mask_mode", "mask_dilation":
		if len(d.images) == 0 {
			d.warn(providers.WarnUnsupported, p.name, "left out: it is for an edit")
		} else if p.name == "mask_mode" {
			d.maskMode = r.String()
		} else {
			d.dilation = value
		}
	case "base_steps":
		d.set(p.name, "editConfig", jsonx.AppendMember(nil, "baseSteps", value))
	case "parameters": // after the members that have a name of their own
	default:
		d.set(p.name, lastSegment(p.at(d.row.Method).wire), value)
	}
}

// personWord is the spelling that a method has for who may be drawn.
func personWord(word string, content bool) string {
	word = strings.ToLower(word)
	if !content {
		if word == "allow_none" {
			return "dont_allow"
		}
		return word
	}
	if word == "dont_allow" {
		word = "allow_none"
	}
	return strings.ToUpper(word)
}

// set adds a parameter, unless it is there.
func (d *drawing) set(path, key string, value []byte) {
	if have, ok := jsonx.Lookup(d.params, key); ok {
		if !bytes.Equal(have, value) {
			d.warn(providers.WarnConflict, path, "left out: it is given in another place too, which wins")
		}
		return
	}
	d.params = jsonx.AppendMember(d.params, key, value)
}

func jsonText(s string) []byte {
	var w jsonx.Writer
	w.String(s)
	return w.Bytes()
}

// parameters adds to the parameters what the schema's members become, and then
// what came in the platform's own form.
func (d *drawing) parameters() error {
	q := d.q
	extra := d.params
	d.params = nil
	for _, m := range []struct{ path, key, value string }{
		{"aspect_ratio", "aspectRatio", d.ratio}, {"image_size", "sampleImageSize", d.size},
		{"negative_prompt", "negativePrompt", q.NegativePrompt}, {"storage_uri", "storageUri", q.StorageURI},
	} {
		if m.value != "" {
			d.set(m.path, m.key, jsonText(m.value))
		}
	}
	if d.mime != "" {
		options := jsonx.AppendMember(nil, "mimeType", jsonText(d.mime))
		if c := q.OutputCompression; c != nil {
			options = jsonx.AppendMember(options, "compressionQuality", strconv.AppendInt(nil, int64(*c), 10))
		}
		d.set("output_format", "outputOptions", options)
	}
	for key, value := range jsonx.Members(extra) {
		d.set(key, key, value)
	}
	raw, _ := q.Extra.Get("parameters")
	for key, value := range jsonx.Members(raw) {
		switch key {
		case "sampleCount", "seed":
			d.warn(providers.WarnConflict, "parameters."+key, "left out: give n and seed as members of the request")
		default:
			d.set("parameters."+key, key, value)
		}
	}
	switch _, given := jsonx.Lookup(d.params, "safetySetting"); {
	case q.Moderation != "low":
	case !given:
		d.set("moderation", "safetySetting", []byte(`"block_only_high"`))
	default:
		d.warn(providers.WarnConflict, "moderation", "left out: safety_setting is given too, which wins")
	}
	if _, given := jsonx.Lookup(d.params, "includeRaiReason"); !given {
		d.set("", "includeRaiReason", []byte("true"))
	}
	if _, given := jsonx.Lookup(d.params, "editMode"); !given && (d.mask != nil || d.maskMode != "") {
		d.set("", "editMode", []byte(`"EDIT_MODE_INPAINT_INSERTION"`))
	}
	return d.checkSeed()
}

// checkSeed turns the watermark off where there is a seed, which the platform
// takes only then.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api
func (d *drawing) checkSeed() error {
	if d.q.Seed == nil {
		return nil
	}
	if s := *d.q.Seed; s < 1 || s > math.MaxInt32-int64(d.count) {
		return providers.Invalid("seed", "must be from 1 to "+strconv.Itoa(math.MaxInt32-d.count))
	}
	switch mark, given := jsonx.Lookup(d.params, "addWatermark"); {
	case !given:
		d.warn(providers.WarnAdjusted, "add_watermark", "turned off: the platform takes a seed only without a watermark")
		d.params = jsonx.AppendMember(d.params, "addWatermark", []byte("false"))
	case string(mark) == "true":
		return providers.Invalid("seed", "the platform takes a seed only without a watermark: set add_watermark to false, or leave the seed out")
	}
	return nil
}

// predict asks for all images.
func (d *drawing) predict(ctx context.Context) error {
	labels, err := d.labelsOf(d.q.Labels, d.t.Labels)
	if err != nil {
		return err
	}
	requests := (d.count + d.row.MaxImages - 1) / max(1, d.row.MaxImages)
	answers := make([]images.Answer, requests)
	err = inParallel(ctx, d.t, requests, func(ctx context.Context, i int) error {
		n := min(d.row.MaxImages, d.count-i*d.row.MaxImages)
		return d.ask(ctx, i, n, labels, &answers[i])
	})
	if err != nil {
		return err
	}
	d.drawn = make([][]providers.Image, requests)
	for i := range answers {
		for j := range answers[i].Predictions {
			d.take(i, &answers[i].Predictions[j])
		}
	}
	return nil
}

// labelsOf returns the labels of a call, checked, as an object or nil: the
// request's own, and beside them those made from metadata.
func (r *remarks) labelsOf(own, hints map[string]string) ([]byte, error) {
	keys, err := checkLabels(own)
	if err != nil {
		return nil, err
	}
	var out []byte
	for _, k := range keys {
		out = jsonx.AppendMember(out, k, jsonText(own[k]))
	}
	hinted, left := hintedLabels(hints, own)
	if left > 0 {
		r.warn(providers.WarnUnsupported, "metadata", strconv.Itoa(left)+" entries found no room among the labels")
	}
	for _, k := range slices.Sorted(maps.Keys(hinted)) {
		out = jsonx.AppendMember(out, k, jsonText(hinted[k]))
	}
	return out, nil
}

// ask sends one request, for n images.
func (d *drawing) ask(ctx context.Context, i, n int, labels []byte, into *images.Answer) error {
	c := &call{in: request{target: d.t, model: d.model, site: d.p.site}}
	u, err := d.p.site.URL(d.t, &c.in.model, "predict", "")
	if err != nil {
		return err
	}
	var w jsonx.Writer
	if err := c.write(&w, func() error { return d.body(&w, i, n, labels) }); err != nil {
		return err
	}
	return responsible(d.p.exchange(ctx, u, c, into.Decode))
}

// body writes one request.
func (d *drawing) body(w *jsonx.Writer, i, n int, labels []byte) error {
	w.BeginObject()
	w.Key("instances")
	w.BeginArray()
	w.BeginObject()
	w.Key("prompt")
	w.String(d.q.Prompt)
	if len(d.images) > 0 {
		w.Key("referenceImages")
		w.BeginArray()
		d.references(w)
		w.EndArray()
	}
	w.EndObject()
	w.EndArray()
	w.Key("parameters")
	w.BeginObject()
	w.Key("sampleCount")
	w.Int(int64(n))
	if d.q.Seed != nil {
		w.Key("seed")
		w.Int(*d.q.Seed + int64(i))
	}
	w.Members(d.params)
	w.EndObject()
	if labels != nil {
		w.Key("labels")
		w.Raw(labels)
	}
	w.EndObject()
	return w.Err()
}

// references writes the image to change, and what may change of it.
func (d *drawing) references(w *jsonx.Writer) {
	id := 0
	begin := func(kind string) {
		id++
		w.BeginObject()
		putText(w, "referenceType", kind)
		putNumber(w, "referenceId", id)
	}
	for i := range d.images {
		begin("REFERENCE_TYPE_RAW")
		d.images[i].reference(w)
		w.EndObject()
	}
	if d.mask == nil && d.maskMode == "" {
		return
	}
	begin("REFERENCE_TYPE_MASK")
	mode := d.maskMode
	if d.mask != nil {
		d.mask.reference(w)
		if mode == "" {
			mode = "MASK_MODE_USER_PROVIDED"
		}
	}
	w.Key("maskImageConfig")
	w.BeginObject()
	putText(w, "maskMode", mode)
	if d.dilation != nil {
		w.Key("dilation")
		w.Raw(d.dilation)
	}
	w.EndObject()
	w.EndObject()
}

// reference writes an image as a reference has it.
func (m *media) reference(w *jsonx.Writer) {
	w.Key("referenceImage")
	w.BeginObject()
	if m.uri != "" {
		putText(w, "gcsUri", m.uri)
	} else {
		w.Key("bytesBase64Encoded")
		w.Verbatim(m.base64)
	}
	putText(w, "mimeType", m.mime)
	w.EndObject()
}

// take puts a prediction into the answer.
func (d *drawing) take(request int, p *images.Prediction) {
	if p.Data == "" && p.URI == "" {
		if p.Filtered != "" {
			d.hold(p.Filtered)
		}
		return
	}
	one := providers.Image{B64JSON: p.Data, URL: p.URI}
	if p.Prompt != d.q.Prompt {
		one.RevisedPrompt = p.Prompt
	}
	if len(p.Safety) > 0 {
		one.Extra = jsonx.AppendMember(nil, "safety_attributes", p.Safety)
	}
	d.drawn[request] = append(d.drawn[request], one)
}

// responsible tells a prompt that was refused for what it says from one that is
// malformed: the platform has the same status for both.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/image/responsible-ai-imagen
func responsible(err error) error {
	e, ok := failure(err)
	if !ok || e.StatusCode != http.StatusBadRequest {
		return err
	}
	text := strings.ToLower(e.Message)
	if strings.Contains(text, "responsible ai practices") || strings.Contains(text, "usage guidelines") {
		own := *e
		own.Code = providers.ErrContentFilter
		return &own
	}
	return err
}
