package engine

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// baseSize is the size that all models draw, which needs not be asked for.
const baseSize = "1K"

// edges are the words for sizes with the edge of a square in pixels, and the
// square root of the area of other shapes about.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-generation
var edges = []struct {
	name   string
	pixels float64
}{{"512", 512}, {baseSize, 1024}, {"2K", 2048}, {"4K", 4096}}

// maxEdge bounds what is read as a width or height.
const maxEdge = 1 << 16

// readSize finds the shape and size to ask for: in the platform's own words, else
// nearest to the size of the schema.
func (d *drawing) readSize() error {
	q := d.q
	if err := d.checkShape(); err != nil {
		return err
	}
	d.ratio, d.size = q.AspectRatio, q.ImageSize
	if q.Size == "" || q.Size == "auto" {
		return nil
	}
	width, height, ok := parseSize(q.Size)
	switch {
	case !ok:
		return providers.Invalid("size", strconv.Quote(clipped(q.Size))+` is no size: use WIDTHxHEIGHT, such as "1024x1024", or "auto"`)
	case d.ratio != "" || d.size != "":
		d.warn(providers.WarnConflict, "size", "left out: aspect_ratio or image_size is given too, which wins")
		return nil
	case len(d.row.Ratios) == 0:
		d.warn(providers.WarnUnsupported, "size", "left out: "+d.model.Name+" draws in the shape of the image that it is given")
		return nil
	}
	d.ratio = nearestRatio(d.row.Ratios, width/height)
	edge, pixels := nearestEdge(d.row.Sizes, math.Sqrt(width*height))
	if edge != baseSize {
		d.size = edge
	}
	if width != height || width != pixels {
		d.warn(providers.WarnAdjusted, "size", "there is no "+q.Size+": the nearest is asked for, aspect_ratio "+d.ratio+" and image_size "+edge)
	}
	return nil
}

// checkShape checks what is given in the platform's words against what the model
// is known to take.
func (d *drawing) checkShape() error {
	q, row := d.q, d.row
	switch sizes := append([]string{baseSize}, row.Sizes...); {
	case !d.known: // the platform judges it
	case q.AspectRatio != "" && len(row.Ratios) == 0:
		d.warn(providers.WarnUnsupported, "aspect_ratio", "left out: "+d.model.Name+" draws in the shape of the image that it is given")
		q.AspectRatio = ""
	case q.AspectRatio != "" && !slices.Contains(row.Ratios, q.AspectRatio):
		return providers.Invalid("aspect_ratio", d.model.Name+" does not draw "+strconv.Quote(clipped(q.AspectRatio))+": use "+strings.Join(row.Ratios, ", "))
	case q.ImageSize != "" && !slices.Contains(sizes, q.ImageSize):
		return providers.Invalid("image_size", d.model.Name+" does not draw "+strconv.Quote(clipped(q.ImageSize))+": use "+strings.Join(sizes, ", "))
	}
	return nil
}

// parseSize reads WIDTHxHEIGHT.
func parseSize(s string) (width, height float64, ok bool) {
	before, after, found := strings.Cut(s, "x")
	w, err := strconv.ParseUint(before, 10, 32)
	h, err2 := strconv.ParseUint(after, 10, 32)
	ok = found && err == nil && err2 == nil && w > 0 && h > 0 && w <= maxEdge && h <= maxEdge
	return float64(w), float64(h), ok
}

// nearestRatio is the aspect ratio that is closest by proportion.
func nearestRatio(ratios []string, want float64) string {
	return slices.MinFunc(ratios, func(a, b string) int {
		return cmp.Compare(math.Abs(math.Log(ratioOf(a)/want)), math.Abs(math.Log(ratioOf(b)/want)))
	})
}

// ratioOf reads W:H; what is none is far from everything.
func ratioOf(name string) float64 {
	before, after, _ := strings.Cut(name, ":")
	w, err := strconv.ParseFloat(before, 64)
	h, err2 := strconv.ParseFloat(after, 64)
	if err != nil || err2 != nil || w <= 0 || h <= 0 {
		return math.MaxFloat64
	}
	return w / h
}

// nearestEdge is the size, of 1K and the further ones, whose edge is closest by
// proportion.
func nearestEdge(sizes []string, want float64) (name string, pixels float64) {
	name, pixels = baseSize, 1024
	for _, e := range edges {
		if e.name != baseSize && !slices.Contains(sizes, e.name) {
			continue
		}
		if math.Abs(math.Log(e.pixels/want)) < math.Abs(math.Log(pixels/want)) {
			name, pixels = e.name, e.pixels
		}
	}
	return name, pixels
}
