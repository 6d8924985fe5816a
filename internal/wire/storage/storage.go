// Package storage is what Cloud Storage's JSON API answers, without meaning.
package storage

import "github.com/b650d4bf/gateway/internal/jsonx"

// Object is one object. Times are RFC 3339 text.
//
// Source: https://cloud.google.com/storage/docs/json_api/v1/objects
type Object struct {
	Bucket, Name, ContentType, TimeCreated, Updated string

	Size, Generation int64
	Metadata         map[string]string
}

// Decode reads one object. A member that is null counts as not given.
func (o *Object) Decode(r *jsonx.Reader) {
	*o = Object{}
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "bucket":
			o.Bucket = r.String()
		case "name":
			o.Name = r.String()
		case "contentType":
			o.ContentType = r.String()
		case "timeCreated":
			o.TimeCreated = r.String()
		case "updated":
			o.Updated = r.String()
		case "size":
			o.Size = r.LooseInt()
		case "generation":
			o.Generation = r.LooseInt()
		case "metadata":
			o.Metadata = Texts(r)
		default:
			r.Skip()
		}
	}
}

// Texts reads an object of strings.
func Texts(r *jsonx.Reader) map[string]string {
	out := map[string]string{}
	for r.Object(); r.NextKey(); {
		key := string(r.Key())
		out[key] = r.String()
	}
	return out
}

// List is one page of objects.
type List struct {
	Items         []Object
	NextPageToken string
}

// Decode reads one page.
func (l *List) Decode(r *jsonx.Reader) {
	*l = List{}
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "items":
			for r.Array(); r.NextElem(); {
				var o Object
				o.Decode(r)
				l.Items = append(l.Items, o)
			}
		case "nextPageToken":
			l.NextPageToken = r.String()
		default:
			r.Skip()
		}
	}
}
