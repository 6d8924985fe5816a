package engine

import (
	"maps"
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// splice is a piece of a body that another one takes the place of.
type splice struct {
	from, to int
	text     []byte
}

// nativeBody appends what is sent to dst: the body byte for byte, but for names of
// models that are within it, which become those that the target has for the model,
// and labels made from metadata, which are added to those of the body.
func (p *Engine) nativeBody(c *call, req *providers.NativeRequest, dst []byte) ([]byte, error) {
	cuts, ok := p.modelNames(c, req)
	if !ok {
		return dst, providers.Invalid("", "the body is not valid JSON")
	}
	if labels := c.in.target.Labels; len(labels) > 0 && labelled(req.Method) {
		cuts = append(cuts, c.labelsBeside(req.Body, labels)...)
	}
	slices.SortFunc(cuts, func(a, b splice) int { return a.from - b.from })
	at := 0
	for _, cut := range cuts {
		dst = append(append(dst, req.Body[at:cut.from]...), cut.text...)
		at = cut.to
	}
	return append(dst, req.Body[at:]...), nil
}

// modelNames finds the names of models in a body: the member model, in the object
// itself, in each of its requests and in the request that is counted. What is asked
// is in the path, and the platform refuses other names beside it. ok says that the
// body is JSON.
//
// Source: https://ai.google.dev/api/tokens#method:-models.counttokens and
// https://ai.google.dev/api/embeddings#method:-models.batchembedcontents
func (p *Engine) modelNames(c *call, req *providers.NativeRequest) (cuts []splice, ok bool) {
	site, ok := p.site.(CacheSite)
	if !ok || req.Method == providers.NativePredict {
		return nil, jsonx.Valid(req.Body)
	}
	r := jsonx.NewReader(req.Body)
	var object func(nested bool)
	object = func(nested bool) {
		for r.Object(); r.NextKey(); {
			switch key := string(r.Key()); {
			case key == "model" && r.Kind() == jsonx.String:
				r.Skip()
				var w jsonx.Writer
				w.String(site.ModelName(c.in.target, &c.in.model))
				from, to := r.Span()
				cuts = append(cuts, splice{from, to, w.Bytes()})
			case (key == "generateContentRequest" || key == "generate_content_request") && !nested && r.Kind() == jsonx.Object:
				object(true)
			case key == "requests" && !nested && r.Kind() == jsonx.Array:
				for r.Array(); r.NextElem(); {
					if r.Kind() == jsonx.Object {
						object(true)
					} else {
						r.Skip()
					}
				}
			default:
				r.Skip()
			}
		}
	}
	object(false)
	return cuts, r.End() == nil
}

// labelsBeside returns where labels made from metadata go, nil for nowhere. Those of
// the body win, and are the platform's to judge.
func (c *call) labelsBeside(body []byte, hints map[string]string) []splice {
	if c.in.model.Own {
		c.warn("labels", "labels made from metadata were left out: the Gemini API has none for native requests")
		return nil
	}
	own, at, found := map[string]string{}, 0, false
	r := jsonx.NewReader(body)
	for r.Object(); r.NextKey(); {
		if string(r.Key()) != "labels" {
			r.Skip()
			continue
		}
		raw := r.Raw()
		from, _ := r.Span()
		in := jsonx.NewReader(raw)
		if found || in.Kind() != jsonx.Object {
			c.warn("labels", "labels made from metadata were left out: the request's own are not an object")
			return nil
		}
		for in.Object(); in.NextKey(); in.Skip() {
			own[string(in.Key())] = ""
		}
		at, found = from+1, true
	}
	labels, left := hintedLabels(hints, own)
	if left > 0 {
		c.warn("labels", strconv.Itoa(left)+" labels made from metadata were left out: 64 at most, each with a name of its own")
	}
	if len(labels) == 0 {
		return nil
	}
	return []splice{labelText(body, labels, own, at, found)}
}

// labelText writes labels where they go: before those of the body, or as the first
// member of it.
func labelText(body []byte, labels, own map[string]string, at int, found bool) splice {
	var w jsonx.Writer
	w.BeginObject()
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		w.Key(k)
		w.String(labels[k])
	}
	w.EndObject()
	text := w.Bytes()
	if found {
		text = text[1 : len(text)-1]
		if len(own) > 0 {
			text = append(text, ',')
		}
		return splice{at, at, text}
	}
	at = slices.Index(body, '{') + 1
	text = append([]byte(`"labels":`), text...)
	if !isEmptyObject(body) {
		text = append(text, ',')
	}
	return splice{at, at, text}
}

// warn tells what did not go to the model as it was given.
func (c *call) warn(param, message string) {
	c.known = append(c.known, providers.Warning{Code: providers.WarnUnsupported, Param: param, Message: message})
}
