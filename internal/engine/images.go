package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

var _ providers.ImageGenerator = (*Engine)(nil)

// Images draws what req asks for, in as many requests as that takes, some of them
// at a time; the first failure ends them all. Images that the platform filtered
// out are told in a warning, unless none is left.
func (p *Engine) Images(ctx context.Context, t *providers.Target, req *providers.ImageRequest) (*providers.ImageResponse, error) {
	if m, open := p.openModel(t); open {
		return p.imagesOpen(ctx, t, m, req)
	}
	own := *req
	d := &drawing{p: p, t: t, q: &own}
	if err := d.prepare(); err != nil {
		return nil, err
	}
	var err error
	if d.row.Method == catalog.ImageContent {
		err = d.converse(ctx)
	} else {
		err = d.predict(ctx)
	}
	if err != nil {
		return nil, d.mislaid(err)
	}
	return d.finish()
}

// drawing is one call, however many requests it takes.
type drawing struct {
	p *Engine
	t *providers.Target
	q *providers.ImageRequest // a copy

	model Model
	row   *catalog.ImageModel
	known bool

	count       int    // images wanted
	ratio, size string // "" for what the model does by itself
	mime        string // of files, "" likewise
	images      []media
	mask        *media
	params      []byte // the parameters of a prediction, an object or nil
	maskMode    string
	dilation    []byte
	further     []byte // members for a chat completion, an object or nil
	remarks

	drawn    [][]providers.Image // by request
	filtered []string            // why images were held back
	usage    *providers.ImageUsage
	last     error // of a request whose answer was filtered
}

// prepare finds the model and whatever is wrong before anything is sent.
func (d *drawing) prepare() error {
	if d.count = 1; d.q.N != nil {
		d.count = *d.q.N
	}
	if err := d.findModel(); err != nil {
		return err
	}
	if err := d.readSize(); err != nil {
		return err
	}
	if err := d.readFormat(); err != nil {
		return err
	}
	if err := d.readImages(); err != nil {
		return err
	}
	if m := d.q.Moderation; m != "" && m != "auto" && m != "low" {
		return providers.Invalid("moderation", "unknown moderation "+strconv.Quote(clipped(m))+`: use "auto" or "low"`)
	}
	d.leftovers()
	return d.readExtra()
}

// findModel reads the model reference and finds the model's facts.
func (d *drawing) findModel() error {
	m, err := d.p.site.Model(d.t.Model)
	if err != nil {
		return err
	}
	d.model = m
	if m.Family == FamilyGemini {
		d.row, d.known = d.p.models.LookupImage(m.Publisher, m.Name)
	}
	if d.row != nil && d.row.Method == catalog.ImageContent && !d.known {
		if row, known := d.p.models.Lookup(m.Publisher, m.Name); known && !row.Gives("IMAGE") {
			d.row = nil
		}
	}
	switch {
	case d.row == nil:
		return badModel(m.Name + " draws nothing: use a model such as imagen-4.0-generate-001 or gemini-2.5-flash-image")
	case m.Own && d.row.Method == catalog.ImagePredict:
		return badModel("Imagen is asked on Vertex AI only: use a model such as gemini-2.5-flash-image here")
	case len(d.q.Images) > 0 && d.row.Edits == 0:
		return badModel(m.Name + " changes no images: use imagen-3.0-capability-001, or a model such as gemini-2.5-flash-image")
	case len(d.q.Images) == 0 && !d.row.Draws:
		return badModel(m.Name + " only changes images: give one, or use a model such as imagen-4.0-generate-001")
	case !d.known && d.row.Method == catalog.ImagePredict:
		d.warn(providers.WarnUnknownModel, "model", "the model is not in the table of models that draw; the facts of its family are used")
	}
	return nil
}

// readFormat finds the type of file to ask for.
func (d *drawing) readFormat() error {
	format := strings.ToLower(d.q.OutputFormat)
	if format == "jpg" {
		format = "jpeg"
	}
	if format != "" {
		d.mime = "image/" + format
		if !slices.Contains(d.row.Formats, d.mime) {
			return providers.Invalid("output_format", strconv.Quote(clipped(d.q.OutputFormat))+" is not given: use "+strings.ReplaceAll(strings.Join(d.row.Formats, " or "), "image/", ""))
		}
	}
	if d.q.OutputCompression != nil && d.mime != "image/jpeg" {
		d.warn(providers.WarnUnsupported, "output_compression", "left out: it is for output_format jpeg")
		d.q.OutputCompression = nil
	}
	return nil
}

// readImages reads the images of an edit.
func (d *drawing) readImages() error {
	switch n := len(d.q.Images); {
	case n > d.row.Edits && d.row.Edits > 0:
		return providers.Invalid("image", d.model.Name+" takes "+strconv.Itoa(d.row.Edits)+" at most, and there are "+strconv.Itoa(n))
	case d.q.Mask != nil && !d.row.Masks:
		return providers.Invalid("mask", d.model.Name+" takes no mask: say in the prompt what to change, or use imagen-3.0-capability-001")
	}
	for i := range d.q.Images {
		m, err := d.readImage(d.q.ImagePath(i), &d.q.Images[i])
		if err != nil {
			return err
		}
		d.images = append(d.images, m)
	}
	if d.q.Mask == nil {
		return nil
	}
	m, err := d.readImage("mask", d.q.Mask)
	if err != nil {
		return err
	}
	if m.base64 != "" {
		if m, err = inverted(m); err != nil {
			return err
		}
	}
	d.mask = &m
	return nil
}

func (d *drawing) readImage(path string, in *providers.ImageInput) (media, error) {
	d.unknown(path, in.Extra)
	from := mediaSource{member: "url", ref: in.URL + in.Base64, mime: in.MimeType, bare: in.URL == "", own: d.model.Own}
	m, fault := from.parse()
	switch {
	case fault != "":
	case m.mime != "" && !strings.HasPrefix(m.mime, "image/"):
		fault = "the media type " + strconv.Quote(clipped(m.mime)) + " is not that of an image"
	case d.row.Method == catalog.ImagePredict && m.uri != "" && !strings.HasPrefix(m.uri, "gs://"):
		fault = "give a gs:// URL, base64 or a data URI: " + d.model.Name + " fetches nothing from the web"
	}
	if fault != "" {
		return media{}, providers.Invalid(path, fault)
	}
	return m, nil
}

// leftovers warns of members of the schema that have no counterpart.
func (d *drawing) leftovers() {
	q := d.q
	for _, m := range []struct {
		name, value string
		says        []string // values that say nothing
		hint        string
	}{
		{"quality", q.Quality, []string{"auto", "standard"}, "; choose another model, or image_size"},
		{"style", q.Style, nil, "; say it in the prompt"},
		{"background", q.Background, []string{"auto", "opaque"}, "; no background is transparent"},
		{"input_fidelity", q.InputFidelity, nil, ""},
	} {
		if m.value != "" && !slices.Contains(m.says, m.value) {
			d.warn(providers.WarnUnsupported, m.name, "left out: the platform has no such parameter"+m.hint)
		}
	}
	if n := q.PartialImages; n != nil && *n > 0 {
		d.warn(providers.WarnUnsupported, "partial_images", "left out: images are not streamed")
	}
	if d.row.Method == catalog.ImagePredict {
		if q.NegativePrompt != "" && !d.row.Takes("negative_prompt") {
			d.warn(providers.WarnUnsupported, "negative_prompt", "left out: "+d.model.Name+" does not take it")
			q.NegativePrompt = ""
		}
		return
	}
	for _, m := range []struct {
		name  string
		given bool
	}{
		{"negative_prompt", q.NegativePrompt != ""}, {"storage_uri", q.StorageURI != ""},
		{"moderation", q.Moderation != "" && q.Moderation != "auto"},
	} {
		if m.given {
			d.warn(providers.WarnUnsupported, m.name, "left out: "+d.model.Name+" does not take it")
		}
	}
}

// maxReason bounds what is told of a filter's reason, in bytes.
const maxReason = 300

// finish completes the answer.
func (d *drawing) finish() (*providers.ImageResponse, error) {
	out := &providers.ImageResponse{Created: time.Now().Unix(), Provider: d.p.site.Name(), Usage: d.usage}
	for _, list := range d.drawn {
		out.Data = append(out.Data, list...)
	}
	if len(out.Data) == 0 {
		return nil, d.nothing()
	}
	if short := d.count - len(out.Data); short > 0 {
		text := strconv.Itoa(short) + " of " + strconv.Itoa(d.count) + " images are missing"
		if len(d.filtered) > 0 {
			text += ", the platform held them back: " + strings.Join(d.filtered, "; ")
		}
		d.warnings = append(d.warnings, providers.Warning{Code: providers.WarnDroppedBlock, Param: "n", Message: text})
	}
	d.place(out)
	d.countUntold()
	out.Meta.Warnings = d.warnings
	return out, nil
}

// nothing is the error for an answer without any image.
func (d *drawing) nothing() error {
	switch {
	case d.last != nil: // which says more than its reason
		return d.last
	case len(d.filtered) > 0:
		e := answerError(providers.ErrContentFilter, "all images were held back: "+strings.Join(d.filtered, "; "))
		e.Provider = d.p.site.Name()
		return e
	}
	e := answerError(providers.ErrEmptyResponse, "the answer has no image")
	if reason, ok := jsonx.Lookup(d.params, "includeRaiReason"); ok && string(reason) == "false" {
		e = answerError(providers.ErrContentFilter, "all images were held back; include_rai_reason tells why")
	}
	e.Provider = d.p.site.Name()
	return e
}

// hold notes why images were held back, each reason once.
func (d *drawing) hold(reason string) {
	reason = strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	if !slices.Contains(d.filtered, reason) {
		d.filtered = append(d.filtered, reason)
	}
}

// place puts the images into the form that was asked for, and tells what they
// are like, by the first one.
func (d *drawing) place(out *providers.ImageResponse) {
	first := &out.Data[0]
	if data := first.B64JSON; data != "" {
		out.OutputFormat, out.Size = describe(data)
	} else if strings.HasSuffix(first.URL, ".png") {
		out.OutputFormat = "png"
	} else if strings.HasSuffix(first.URL, ".jpg") || strings.HasSuffix(first.URL, ".jpeg") {
		out.OutputFormat = "jpeg"
	}
	stored := first.B64JSON == ""
	switch {
	case stored && d.q.ResponseFormat == providers.ImageFormatBase64:
		d.warn(providers.WarnConflict, "response_format", "left out: storage_uri is given too, and the images are there")
	case !stored && d.q.ResponseFormat == providers.ImageFormatURL:
		d.warn(providers.WarnAdjusted, "response_format", "the platform has no https URLs: each url is a data URI; with storage_uri, where the model takes it, it is a gs:// URL")
		for i := range out.Data {
			one := &out.Data[i]
			mime := sniff(one.B64JSON)
			one.URL, one.B64JSON = "data:"+mime+";base64,"+one.B64JSON, ""
		}
	}
}

// describe returns the format of a file, and its width and height, as far as
// they can be told.
func describe(data string) (format, size string) {
	read := func(decode func(io.Reader) (image.Config, error)) string {
		c, err := decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
		if err != nil {
			return ""
		}
		return strconv.Itoa(c.Width) + "x" + strconv.Itoa(c.Height)
	}
	switch mime := sniff(data); mime {
	case "image/png":
		return "png", read(png.DecodeConfig)
	case "image/jpeg":
		return "jpeg", read(jpeg.DecodeConfig)
	default:
		return strings.TrimPrefix(mime, "image/"), ""
	}
}

// mislaid adds the remedy to the error for a model that is not where it was
// looked for.
func (d *drawing) mislaid(err error) error {
	const hint = " (Imagen is in regions, not in global: use WithRegion, such as WithRegion(\"us-central1\"))"
	region := d.t.Region
	if d.model.Resource != "" {
		region = d.model.Location
	}
	if e, ok := failure(err); ok && e.Code == providers.ErrModelNotFound && d.row.Method == catalog.ImagePredict && region == "global" {
		own := *e
		own.Message += hint
		return &own
	}
	return err
}

// maxMask bounds the pixels of a mask that is turned over. A small file may stand
// for many, of 8 bytes each once it is read.
const maxMask = 4096 * 4096

// inverted turns a mask of the schema, whose transparent part may change, into one
// of the platform, whose white part may. One without transparency is the
// platform's already.
//
// Source: https://platform.openai.com/docs/api-reference/images/createEdit and
// https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api-edit
func inverted(m media) (media, error) {
	if m.mime != "image/png" {
		return m, nil // which other formats have no transparency
	}
	raw, err := base64.StdEncoding.DecodeString(m.base64)
	if err != nil {
		return m, providers.Invalid("mask", "the data is not base64 in the standard alphabet")
	}
	c, err := png.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return m, providers.Invalid("mask", "is no PNG that can be read")
	}
	if c.Width*c.Height > maxMask {
		return m, providers.Invalid("mask", "is too large: "+strconv.Itoa(c.Width)+"x"+strconv.Itoa(c.Height))
	}
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return m, providers.Invalid("mask", "is no PNG that can be read")
	}
	if o, ok := picture.(interface{ Opaque() bool }); ok && o.Opaque() {
		return m, nil
	}
	b := picture.Bounds()
	white := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			if _, _, _, alpha := picture.At(b.Min.X+x, b.Min.Y+y).RGBA(); alpha == 0 {
				white.Pix[y*white.Stride+x] = 0xff
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, white); err != nil {
		return m, providers.Invalid("mask", "is no PNG that can be read")
	}
	m.base64 = base64.StdEncoding.EncodeToString(out.Bytes())
	return m, nil
}
