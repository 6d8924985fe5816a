// Package rank is what the ranking service answers, without meaning.
package rank

import "github.com/b650d4bf/gateway/internal/jsonx"

// Answer is one answer.
//
// Source: https://cloud.google.com/generative-ai-app-builder/docs/reference/rest/v1/projects.locations.rankingConfigs/rank
type Answer struct{ Records []Record }

// Record is one record with its score.
type Record struct {
	ID    string
	Score float64
}

// Decode reads one object. A member that is null counts as not given.
func (a *Answer) Decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if string(r.Key()) != "records" {
			r.Skip()
			continue
		}
		for r.Array(); r.NextElem(); {
			var one Record
			for r.Object(); r.NextKey(); {
				switch string(r.Key()) {
				case "id":
					one.ID = r.String()
				case "score":
					one.Score = r.Float()
				default:
					r.Skip()
				}
			}
			a.Records = append(a.Records, one)
		}
	}
}
