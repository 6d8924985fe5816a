package vertextest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
)

// longEdge is the longer edge of a drawn picture in pixels, whatever imageSize
// asks for.
const longEdge = 256

// ratio is a taken aspect ratio.
type ratio struct {
	name          string
	width, height int
	from          int // version
}

// ratios lists the aspect ratios that image models take.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-generation
func ratios() []ratio {
	return []ratio{
		{name: "1:1", width: 1, height: 1}, {name: "2:3", width: 2, height: 3}, {name: "3:2", width: 3, height: 2},
		{name: "3:4", width: 3, height: 4}, {name: "4:3", width: 4, height: 3}, {name: "4:5", width: 4, height: 5},
		{name: "5:4", width: 5, height: 4}, {name: "9:16", width: 9, height: 16}, {name: "16:9", width: 16, height: 9},
		{name: "21:9", width: 21, height: 9},
		{name: "1:4", width: 1, height: 4, from: 31}, {name: "4:1", width: 4, height: 1, from: 31},
		{name: "1:8", width: 1, height: 8, from: 31}, {name: "8:1", width: 8, height: 1, from: 31},
	}
}

// checkImage applies the rules of imageConfig.
func checkImage(x *exchange) error {
	c := x.req.GenerationConfig.ImageConfig
	if c == nil {
		return nil
	}
	if !x.facts.imageOut {
		return invalid("Unable to submit request because image_config is not supported by this model.")
	}
	known := func(r ratio) bool { return r.name == c.AspectRatio && r.from <= x.facts.version }
	switch o := c.ImageOutputOptions; {
	case c.AspectRatio != "" && !slices.ContainsFunc(ratios(), known):
		return invalid("Unable to submit request because aspect_ratio %q is not supported by this model.", c.AspectRatio)
	case c.ImageSize != "" && !slices.Contains([]string{"512", "1K", "2K", "4K"}, c.ImageSize):
		return invalid("Unable to submit request because image_size %q is not one of 512, 1K, 2K, 4K.", c.ImageSize)
	case o.MimeType != "" && o.MimeType != "image/png" && o.MimeType != "image/jpeg":
		return invalid("Unable to submit request because the image output type %q is not one of image/png, image/jpeg.", o.MimeType)
	case o.CompressionQuality != nil && (*o.CompressionQuality < 0 || *o.CompressionQuality > 100):
		return outOfRange("compressionQuality", *o.CompressionQuality, 0, 101)
	}
	return nil
}

// picture returns a part with a drawing. It depends on the user's text and on
// all images of the conversation, so that an edit differs from its original.
func (x *exchange) picture(draft bool) (part, error) {
	c := imageConfig{}
	if x.req.GenerationConfig.ImageConfig != nil {
		c = *x.req.GenerationConfig.ImageConfig
	}
	shape := ratio{width: 1, height: 1}
	for _, r := range ratios() {
		if r.name == c.AspectRatio {
			shape = r
		}
	}
	longer := max(shape.width, shape.height)
	drawn := draw(x.motif(), longEdge*shape.width/longer, longEdge*shape.height/longer, draft)
	var b bytes.Buffer
	kind := "image/png"
	var err error
	if c.ImageOutputOptions.MimeType == "image/jpeg" {
		kind = c.ImageOutputOptions.MimeType
		err = jpeg.Encode(&b, drawn, nil)
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, drawn)
	}
	if err != nil {
		return part{}, err
	}
	p := part{Thought: draft, InlineData: &blob{MimeType: kind, Data: base64.StdEncoding.EncodeToString(b.Bytes())}}
	if x.rules.signatures && !draft {
		p.ThoughtSignature = x.signPart()
	}
	return p, nil
}

// motif is what the drawing depends on.
func (x *exchange) motif() [sha256.Size]byte {
	h := sha256.New()
	said, _ := x.lastUserText()
	h.Write([]byte(said))
	_ = x.eachPart(func(_ string, p part) error {
		if p.InlineData != nil && modalityOf(p.InlineData.MimeType) == "IMAGE" {
			h.Write([]byte(p.InlineData.Data))
		}
		return nil
	})
	return [sha256.Size]byte(h.Sum(nil))
}

// draw draws two discs on a ground; a draft has only the first one.
func draw(motif [sha256.Size]byte, width, height int, draft bool) image.Image {
	palette := color.Palette{color.White}
	for i := range 3 {
		palette = append(palette, color.RGBA{R: motif[3*i], G: motif[3*i+1], B: motif[3*i+2], A: 255})
	}
	img := image.NewPaletted(image.Rect(0, 0, width, height), palette)
	discs := []struct{ x, y, r int }{
		{width * int(motif[9]) / 256, height * int(motif[10]) / 256, min(width, height) * (64 + int(motif[11])/2) / 512},
		{width * int(motif[12]) / 256, height * int(motif[13]) / 256, min(width, height) * (64 + int(motif[14])/2) / 512},
	}
	if draft {
		discs = discs[:1]
	}
	for y := range height {
		for x := range width {
			index := uint8(1)
			for i, d := range discs {
				if dx, dy := x-d.x, y-d.y; dx*dx+dy*dy <= d.r*d.r {
					index = uint8(2 + i)
				}
			}
			img.SetColorIndex(x, y, index)
		}
	}
	return img
}
