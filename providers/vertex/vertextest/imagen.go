package vertextest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/jpeg"
	"image/png"
	"slices"
	"strconv"
	"strings"
)

// imagenFacts is what one model of Imagen is known for.
type imagenFacts struct {
	name     string
	edits    bool // changes images, and draws none of its own
	sizes    bool // takes sampleImageSize
	negative bool // takes negativePrompt
}

// imagenTable lists the models that draw by predict, one row each.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api and
// https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api-edit
func imagenTable() []imagenFacts {
	return []imagenFacts{
		{name: "imagen-4.0-generate", sizes: true},
		{name: "imagen-4.0-ultra-generate", sizes: true},
		{name: "imagen-4.0-fast-generate"},
		{name: "imagen-3.0-generate-001", negative: true},
		{name: "imagen-3.0-generate"},
		{name: "imagen-3.0-fast-generate", negative: true},
		{name: "imagen-3.0-capability", edits: true, negative: true},
	}
}

// The wire of predict for models that draw.
type (
	imagenInstance struct {
		Prompt          string            `json:"prompt"`
		ReferenceImages []imagenReference `json:"referenceImages"`
	}
	imagenReference struct {
		Type  string       `json:"referenceType"`
		ID    *int         `json:"referenceId"`
		Image *imagenImage `json:"referenceImage"`
		Mask  *struct {
			Mode     string   `json:"maskMode"`
			Dilation *float64 `json:"dilation"`
			Classes  []int    `json:"maskClasses"`
		} `json:"maskImageConfig"`
	}
	imagenImage struct {
		Bytes    string `json:"bytesBase64Encoded"`
		GCS      string `json:"gcsUri"`
		MimeType string `json:"mimeType"`
	}
	imagenParameters struct {
		SampleCount             *int   `json:"sampleCount"`
		AspectRatio             string `json:"aspectRatio"`
		SampleImageSize         string `json:"sampleImageSize"`
		NegativePrompt          string `json:"negativePrompt"`
		Seed                    *int   `json:"seed"`
		AddWatermark            *bool  `json:"addWatermark"`
		PersonGeneration        string `json:"personGeneration"`
		SafetySetting           string `json:"safetySetting"`
		Language                string `json:"language"`
		EnhancePrompt           *bool  `json:"enhancePrompt"`
		GuidanceScale           *int   `json:"guidanceScale"`
		IncludeRaiReason        *bool  `json:"includeRaiReason"`
		IncludeSafetyAttributes *bool  `json:"includeSafetyAttributes"`
		StorageURI              string `json:"storageUri"`
		EditMode                string `json:"editMode"`
		EditConfig              *struct {
			BaseSteps *int `json:"baseSteps"`
		} `json:"editConfig"`
		OutputOptions struct {
			MimeType           string `json:"mimeType"`
			CompressionQuality *int   `json:"compressionQuality"`
		} `json:"outputOptions"`
	}
)

// The words that parameters take.
var (
	imagenRatios = []string{"", "1:1", "3:4", "4:3", "9:16", "16:9"}
	personWords  = []string{"", "dont_allow", "allow_adult", "allow_all"}
	safetyWords  = []string{"", "block_low_and_above", "block_medium_and_above", "block_only_high", "block_none"}
	editModes    = []string{"", "EDIT_MODE_DEFAULT", "EDIT_MODE_INPAINT_REMOVAL", "EDIT_MODE_INPAINT_INSERTION", "EDIT_MODE_OUTPAINT", "EDIT_MODE_BGSWAP"}
	maskModes    = []string{"MASK_MODE_USER_PROVIDED", "MASK_MODE_BACKGROUND", "MASK_MODE_FOREGROUND", "MASK_MODE_SEMANTIC"}
)

// imagenJob is a request for images.
type imagenJob struct {
	facts      imagenFacts
	instance   imagenInstance
	parameters imagenParameters
}

// findImagen returns the facts of a model that draws by predict.
func findImagen(name string) (imagenFacts, bool) {
	var found imagenFacts
	for _, f := range imagenTable() {
		rest, ok := strings.CutPrefix(name, f.name)
		if ok && len(f.name) > len(found.name) && (rest == "" || versionSuffix.MatchString(rest)) {
			found = f
		}
	}
	return found, found.name != ""
}

// checkGooglePredict checks a prediction of a model of Google's: one that draws,
// or one that embeds.
func checkGooglePredict(x *exchange) error {
	if _, ok := findImagen(x.target.model); !ok {
		return checkEmbed(x)
	}
	if x.target.location == "global" {
		return notFound(x.target)
	}
	j, err := x.imagenJob()
	if err != nil || x.cfg.withoutChecks {
		return err
	}
	return j.check()
}

// answerGooglePredict answers a prediction of a model of Google's.
func answerGooglePredict(x *exchange) (response, error) {
	if _, ok := findImagen(x.target.model); !ok {
		return answerVectors(x)
	}
	j, err := x.imagenJob()
	if err != nil {
		return response{}, err
	}
	return j.answer()
}

// imagenJob reads the body.
func (x *exchange) imagenJob() (*imagenJob, error) {
	v, err := decodeBody(x.body)
	if err != nil {
		return nil, err
	}
	if err := x.checkRefused(v); err != nil {
		return nil, err
	}
	if err := checkValue("PredictRequest", v); err != nil && !x.cfg.withoutChecks {
		return nil, err
	}
	var b predictBody
	if err := strictly(x.body, &b, false); err != nil {
		return nil, err
	}
	j := &imagenJob{}
	j.facts, _ = findImagen(x.target.model)
	if len(b.Instances) != 1 {
		return nil, invalid("Image generation takes exactly one instance, and there are %d.", len(b.Instances))
	}
	if err := strictly(b.Instances[0], &j.instance, true); err != nil {
		return nil, err
	}
	if len(b.Parameters) > 0 {
		if err := strictly(b.Parameters, &j.parameters, true); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// check applies what the shape can't say.
func (j *imagenJob) check() error {
	if err := j.checkWords(); err != nil {
		return err
	}
	p := &j.parameters
	switch n := p.count(); {
	case strings.TrimSpace(j.instance.Prompt) == "" && !j.facts.edits:
		return invalid("Text prompt is required.")
	case n < 1 || n > 4:
		return outOfRange("sampleCount", n, 1, 5)
	case p.SampleImageSize != "" && !j.facts.sizes:
		return invalid("sampleImageSize is not supported by this model.")
	case p.NegativePrompt != "" && !j.facts.negative:
		return invalid("negativePrompt is not supported by this model.")
	case p.AspectRatio != "" && j.facts.edits:
		return invalid("aspectRatio is not supported by this model.")
	case p.Seed != nil && (p.AddWatermark == nil || *p.AddWatermark):
		return invalid("Seed is not supported when watermark is enabled.")
	case p.Seed != nil && (*p.Seed < 1 || *p.Seed > 1<<31-1):
		return outOfRange("seed", *p.Seed, 1, 1<<31)
	case p.OutputOptions.CompressionQuality != nil && (*p.OutputOptions.CompressionQuality < 0 || *p.OutputOptions.CompressionQuality > 100):
		return outOfRange("compressionQuality", *p.OutputOptions.CompressionQuality, 0, 101)
	case p.StorageURI != "" && !strings.HasPrefix(p.StorageURI, "gs://"):
		return invalid("storageUri must be a Cloud Storage URI.")
	}
	return j.checkReferences()
}

// checkWords checks the parameters that are one of several words.
func (j *imagenJob) checkWords() error {
	p := &j.parameters
	for _, w := range []struct {
		name, value string
		taken       []string
	}{
		{"aspectRatio", p.AspectRatio, imagenRatios}, {"sampleImageSize", p.SampleImageSize, []string{"", "1K", "2K"}},
		{"personGeneration", p.PersonGeneration, personWords}, {"safetySetting", p.SafetySetting, safetyWords},
		{"outputOptions.mimeType", p.OutputOptions.MimeType, []string{"", "image/png", "image/jpeg"}}, {"editMode", p.EditMode, editModes},
	} {
		if !slices.Contains(w.taken, w.value) {
			return invalid("Invalid value for %s: %q. It has to be one of: %s.", w.name, w.value, strings.TrimPrefix(strings.Join(w.taken, ", "), ", "))
		}
	}
	return nil
}

// checkReferences checks the images that are to be changed.
func (j *imagenJob) checkReferences() error {
	if !j.facts.edits {
		if len(j.instance.ReferenceImages) > 0 || j.parameters.EditMode != "" {
			return invalid("Image editing is not supported by this model.")
		}
		return nil
	}
	var raw, masks []imagenReference
	for _, r := range j.instance.ReferenceImages {
		switch r.Type {
		case "REFERENCE_TYPE_RAW":
			raw = append(raw, r)
		case "REFERENCE_TYPE_MASK":
			masks = append(masks, r)
		default:
			return invalid("Unsupported reference type %q.", r.Type)
		}
		if r.ID == nil {
			return invalid("referenceId is required for each reference image.")
		}
	}
	if len(raw) != 1 || len(masks) > 1 {
		return invalid("Exactly one raw reference image and at most one mask are required.")
	}
	size, err := raw[0].Image.size()
	if err != nil {
		return err
	}
	if len(masks) == 0 {
		return nil
	}
	return checkMask(masks[0], size)
}

// checkMask checks the part of an image that may change.
func checkMask(r imagenReference, of image.Point) error {
	switch {
	case r.Mask == nil || !slices.Contains(maskModes, r.Mask.Mode):
		return invalid("maskImageConfig.maskMode has to be one of: %s.", strings.Join(maskModes, ", "))
	case r.Mask.Dilation != nil && (*r.Mask.Dilation < 0 || *r.Mask.Dilation > 1):
		return outOfRange("dilation", *r.Mask.Dilation, 0, 1)
	case r.Mask.Mode != "MASK_MODE_USER_PROVIDED":
		return nil
	case r.Image == nil:
		return invalid("A mask image is required for MASK_MODE_USER_PROVIDED.")
	}
	size, err := r.Image.size()
	if err != nil {
		return err
	}
	if size != of && size != (image.Point{}) && of != (image.Point{}) {
		return invalid("The mask has to have the same dimensions as the image.")
	}
	return nil
}

// size checks an image and returns its size; none for one in Cloud Storage.
func (i *imagenImage) size() (image.Point, error) {
	switch {
	case i == nil || (i.Bytes == "") == (i.GCS == ""):
		return image.Point{}, invalid("Exactly one of bytesBase64Encoded and gcsUri is required for a reference image.")
	case i.GCS != "" && !strings.HasPrefix(i.GCS, "gs://"):
		return image.Point{}, invalid("gcsUri must begin with gs://.")
	case i.GCS != "":
		return image.Point{}, nil
	}
	raw, err := base64.StdEncoding.DecodeString(i.Bytes)
	if err != nil {
		return image.Point{}, invalid("Base64 decoding failed for a reference image.")
	}
	for _, decode := range []func([]byte) (image.Config, error){
		func(b []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(b)) },
		func(b []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(b)) },
	} {
		if c, err := decode(raw); err == nil {
			return image.Pt(c.Width, c.Height), nil
		}
	}
	return image.Point{}, invalid("A reference image is no PNG or JPEG.")
}

func (p *imagenParameters) count() int {
	if p.SampleCount == nil {
		return 4
	}
	return *p.SampleCount
}

// imagenPrediction is one image.
type imagenPrediction struct {
	Bytes    string `json:"bytesBase64Encoded,omitempty"`
	MimeType string `json:"mimeType,omitempty"`
	GCS      string `json:"gcsUri,omitempty"`
	Prompt   string `json:"prompt,omitempty"`
}

// answer draws. What is drawn depends on the prompt, the seed, the number of the
// image and the images to be changed.
func (j *imagenJob) answer() (response, error) {
	out := struct {
		Predictions []imagenPrediction `json:"predictions"`
	}{}
	p := &j.parameters
	const most = 8 // without checks
	for i := range min(p.count(), most) {
		kind, extension := "image/png", ".png"
		if p.OutputOptions.MimeType == "image/jpeg" {
			kind, extension = p.OutputOptions.MimeType, ".jpg"
		}
		one := imagenPrediction{MimeType: kind}
		if p.EnhancePrompt != nil && *p.EnhancePrompt {
			one.Prompt = j.instance.Prompt + ", in fine detail"
		}
		if p.StorageURI != "" {
			one.GCS = strings.TrimRight(p.StorageURI, "/") + "/1234567890123/sample_" + strconv.Itoa(i) + extension
		} else {
			data, err := j.draw(i, kind)
			if err != nil {
				return response{}, err
			}
			one.Bytes = data
		}
		out.Predictions = append(out.Predictions, one)
	}
	return jsonResponse(out)
}

// draw returns the base64 of the image with the number: in the shape of the first
// one to be changed, else in the one asked for, 256 pixels at the longer edge, and
// 512 for 2K.
func (j *imagenJob) draw(number int, kind string) (string, error) {
	motif, err := json.Marshal([]any{j.instance, j.parameters.Seed, number})
	if err != nil {
		return "", err
	}
	edge, shape := longEdge, ratio{width: 1, height: 1}
	if j.parameters.SampleImageSize == "2K" {
		edge *= 2
	}
	for _, r := range ratios() {
		if r.name == j.parameters.AspectRatio {
			shape = r
		}
	}
	if j.facts.edits && len(j.instance.ReferenceImages) > 0 {
		if size, err := j.instance.ReferenceImages[0].Image.size(); err == nil && size != (image.Point{}) {
			shape.width, shape.height = size.X, size.Y
		}
	}
	longer := max(shape.width, shape.height)
	drawn := draw(sha256.Sum256(motif), max(1, edge*shape.width/longer), max(1, edge*shape.height/longer), false)
	var b bytes.Buffer
	if kind == "image/jpeg" {
		err = jpeg.Encode(&b, drawn, nil)
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, drawn)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), err
}
