package engine

import (
	"math"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// modifiers say how a part's media is read. The paths are those of the members
// they came from, for warnings.
type modifiers struct {
	level      string // MEDIA_RESOLUTION_LOW and so on
	levelPath  string
	start, end string // durations such as "1.5s"
	fps        float64
	videoPath  string
}

// The members beyond the schema that say how media is read: on the part, on its
// image_url or file, and on its input_audio.
var (
	partMembers  = []string{"media_resolution", "mediaResolution", "video_metadata", "videoMetadata"}
	fileMembers  = append([]string{"detail"}, partMembers...)
	audioMembers = append([]string{"mime_type"}, fileMembers...)
)

// modifiers reads what a part says of its media beyond the data.
func (e *geminiEncoder) modifiers(i, j int, p *providers.ContentPart) (modifiers, error) {
	var mods modifiers
	detail := innerDetail(p)
	if len(p.Extra)+len(innerExtra(p)) == 0 && detail == "" {
		return mods, nil
	}
	raw, member := e.modifier(i, j, p, "media_resolution", "mediaResolution")
	if raw != nil {
		level, ok := readLevel(raw)
		if !ok {
			return mods, providers.Invalid(partPath(i, j, member), "must be LOW, MEDIUM, HIGH or ULTRA_HIGH")
		}
		mods.level, mods.levelPath = level, partPath(i, j, member)
	}
	if detail != "" && detail != "auto" {
		e.detail(partPath(i, j, p.Type+".detail"), detail, raw != nil, &mods)
	}
	if mods.level == "" {
		mods.levelPath = ""
	}
	raw, member = e.modifier(i, j, p, "video_metadata", "videoMetadata")
	if raw == nil {
		return mods, nil
	}
	return mods, e.videoMetadata(partPath(i, j, member), raw, &mods)
}

// innerExtra returns the members beyond the schema of a part's inner object.
func innerExtra(p *providers.ContentPart) providers.Extra {
	switch {
	case p.Type == providers.PartImageURL && p.ImageURL != nil:
		return p.ImageURL.Extra
	case p.Type == providers.PartInputAudio && p.InputAudio != nil:
		return p.InputAudio.Extra
	case p.Type == providers.PartFile && p.File != nil:
		return p.File.Extra
	}
	return nil
}

// innerDetail returns the detail that a part's inner object gives.
func innerDetail(p *providers.ContentPart) string {
	if p.Type == providers.PartImageURL && p.ImageURL != nil && p.ImageURL.Detail != "" {
		return p.ImageURL.Detail
	}
	return extraText(innerExtra(p), "detail")
}

// detail reads OpenAI's word for a resolution, which a media_resolution beats.
func (e *geminiEncoder) detail(path, detail string, beaten bool, mods *modifiers) {
	level, ok := levelOf(detail)
	switch {
	case !ok:
		e.warnf(providers.WarnUnsupported, path, "left out: low, high and auto are known")
	case level == "":
	case !beaten:
		mods.level, mods.levelPath = level, path
	case level != mods.level:
		e.warnf(providers.WarnConflict, path, "left out: media_resolution is given too")
	}
}

// modifier finds a member in the inner object or the part, in either spelling.
// A second one is warned of.
func (e *geminiEncoder) modifier(i, j int, p *providers.ContentPart, names ...string) (value []byte, member string) {
	for _, place := range []struct {
		prefix string
		extra  providers.Extra
	}{{p.Type + ".", innerExtra(p)}, {"", p.Extra}} {
		if len(place.extra) == 0 {
			continue
		}
		for _, name := range names {
			raw, ok := place.extra.Get(name)
			switch {
			case !ok || string(raw) == "null":
			case value != nil:
				e.warnf(providers.WarnConflict, partPath(i, j, place.prefix+name), "left out: "+member+" is given too")
			default:
				value, member = raw, place.prefix+name
			}
		}
	}
	return value, member
}

// levels are the resolutions, without their common prefix.
var levels = map[string]string{
	"": "", "AUTO": "", "UNSPECIFIED": "",
	"LOW": "MEDIA_RESOLUTION_LOW", "MEDIUM": "MEDIA_RESOLUTION_MEDIUM",
	"HIGH": levelHigh, "ULTRA_HIGH": levelUltraHigh,
}

const (
	levelHigh      = "MEDIA_RESOLUTION_HIGH"
	levelUltraHigh = "MEDIA_RESOLUTION_ULTRA_HIGH"
)

// levelOf returns the platform's word for a resolution, "" for its own choice.
func levelOf(s string) (level string, ok bool) {
	level, ok = levels[strings.TrimPrefix(strings.ToUpper(s), "MEDIA_RESOLUTION_")]
	return level, ok
}

// readLevel reads a resolution: a word, or the object that the platform has for
// a part.
func readLevel(raw []byte) (level string, ok bool) {
	r := jsonx.NewReader(raw)
	if r.Kind() == jsonx.Object {
		raw, _ = jsonx.Lookup(raw, "level")
		r.Reset(raw)
	}
	if r.Kind() != jsonx.String {
		return "", false
	}
	return levelOf(r.String())
}

// videoMetadata reads which part of a video is looked at, and how closely.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/video-understanding
func (e *geminiEncoder) videoMetadata(path string, raw []byte, mods *modifiers) error {
	if r := jsonx.NewReader(raw); r.Kind() != jsonx.Object {
		return providers.Invalid(path, "must be an object with start_offset, end_offset and fps")
	}
	for name, value := range jsonx.Members(raw) {
		if string(value) == "null" {
			continue
		}
		ok, member := true, path+"."+name
		switch name {
		case "start_offset", "startOffset":
			mods.start, ok = duration(value)
		case "end_offset", "endOffset":
			mods.end, ok = duration(value)
		case "fps":
			r := jsonx.NewReader(value)
			mods.fps = r.Float()
			if r.End() != nil || mods.fps <= 0 || mods.fps > 24 {
				return providers.Invalid(member, "must be a number above 0, and 24 at most")
			}
		default:
			e.warnf(providers.WarnUnknown, member, "left out: the platform does not know it")
			continue
		}
		if !ok {
			return providers.Invalid(member, `must be seconds, such as "1.5s" or 1.5`)
		}
		mods.videoPath = path
	}
	if mods.start != "" && mods.end != "" && secondsOf(mods.end) <= secondsOf(mods.start) {
		return providers.Invalid(path, "the end offset must lie after the start offset")
	}
	return nil
}

// maxSeconds bounds an offset; what is beyond it is not a place in a video.
const maxSeconds = 1e9

// duration writes seconds, as text or number, in the platform's form: decimal,
// with nine digits after the point at most, and an s.
func duration(raw []byte) (string, bool) {
	r := jsonx.NewReader(raw)
	text := string(raw)
	if r.Kind() == jsonx.String {
		text = strings.TrimSuffix(strings.TrimSpace(r.String()), "s")
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > maxSeconds || strings.ContainsAny(text, "xX_pP") {
		return "", false
	}
	n = math.Round(n*1e9) / 1e9
	return strconv.FormatFloat(n, 'f', -1, 64) + "s", true
}

// secondsOf reads what duration wrote.
func secondsOf(text string) float64 {
	n, _ := strconv.ParseFloat(strings.TrimSuffix(text, "s"), 64)
	return n
}

// fitModifiers takes off what the media can't have. A model without resolutions
// of parts takes one for the whole request, which the tally looks for; images
// that the model made itself have no say in it.
func (e *geminiEncoder) fitModifiers(role string, md *media, mods *modifiers) {
	kind := kindOf(md.mime)
	if mods.videoPath != "" && kind != kindVideo && md.mime != "" {
		e.warnf(providers.WarnUnsupported, mods.videoPath, "left out: it is for video, and this is "+md.mime)
		mods.videoPath = ""
	}
	if kind == kindAudio || kind == kindText {
		if mods.level != "" {
			e.warnf(providers.WarnUnsupported, mods.levelPath, "left out: "+md.mime+" has no resolution")
		}
		mods.level = ""
		return
	}
	if !e.m.facts.PartResolution {
		if role == "model" && mods.level == "" {
			return
		}
		e.tally.resolution.add(mods.level, mods.levelPath)
		mods.level = ""
	}
}

func (e *geminiEncoder) writeModifiers(mods *modifiers) {
	if mods.videoPath != "" {
		e.w.Key("videoMetadata")
		e.w.BeginObject()
		if mods.start != "" {
			e.w.Key("startOffset")
			e.w.Verbatim(mods.start)
		}
		if mods.end != "" {
			e.w.Key("endOffset")
			e.w.Verbatim(mods.end)
		}
		if mods.fps > 0 {
			e.w.Key("fps")
			e.w.Float(mods.fps)
		}
		e.w.EndObject()
	}
	if mods.level != "" {
		e.w.Key("mediaResolution")
		e.w.BeginObject()
		e.w.Key("level")
		e.w.String(mods.level)
		e.w.EndObject()
	}
}

// resolutionTally finds out whether all parts ask for the same resolution.
type resolutionTally struct {
	parts, given int
	level, path  string // of the first part that gives one
	mixed        bool
}

func (t *resolutionTally) add(level, path string) {
	t.parts++
	if level == "" {
		return
	}
	t.given++
	if t.level == "" {
		t.level, t.path = level, path
	}
	t.mixed = t.mixed || level != t.level
}

// requestResolution writes the resolution of the whole request: what it asks
// for, or what all parts do where the model has none of parts.
func (e *geminiEncoder) requestResolution() error {
	t := &e.tally.resolution
	level, path := t.level, t.path
	if raw, given := e.take("media_resolution"); raw != nil {
		whole, ok := readLevel(raw)
		if !ok {
			return providers.Invalid(given, "must be LOW, MEDIUM or HIGH")
		}
		if t.given > 0 && (t.mixed || whole != level) {
			e.warnf(providers.WarnConflict, path, "left out: this model takes one resolution for the whole request, "+
				"which media_resolution gives")
		}
		level, path = whole, given
	} else if t.mixed || t.given < t.parts {
		if t.given > 0 {
			e.warnf(providers.WarnUnsupported, path, "left out: this model takes one resolution for the whole request, "+
				"and its parts differ: give all the same, or give media_resolution")
		}
		return nil
	}
	if level == levelUltraHigh {
		level = levelHigh
		e.warnf(providers.WarnAdjusted, path, "lowered to "+levelHigh+": the highest for a whole request")
	}
	if level != "" {
		e.w.Key("mediaResolution")
		e.w.String(level)
	}
	return nil
}
