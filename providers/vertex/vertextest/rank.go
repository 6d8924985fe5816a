package vertextest

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
)

// rankConfig is the only configuration there is of the ranking service.
const rankConfig = "default_ranking_config"

// maxRecords is the most records of one request.
//
// Source: https://cloud.google.com/generative-ai-app-builder/docs/reference/rest/v1/projects.locations.rankingConfigs/rank
const maxRecords = 200

// rankers are the models that order documents, with the tokens of a record that
// each reads.
//
// Source: https://cloud.google.com/generative-ai-app-builder/docs/ranking
var rankers = map[string]int{
	"semantic-ranker-default@latest": 1024, "semantic-ranker-fast@latest": 1024, "semantic-ranker-default-004": 1024, "semantic-ranker-fast-004": 1024,
	"semantic-ranker-default-003": 512, "semantic-ranker-default-002": 512, "semantic-ranker-512@latest": 512, "": 1024,
}

// The wire of the ranking service.
type (
	rankCall struct {
		Model   string            `json:"model"`
		Query   string            `json:"query"`
		TopN    int               `json:"topN"`
		Records []rankRecord      `json:"records"`
		Bare    bool              `json:"ignoreRecordDetailsInResponse"`
		Labels  map[string]string `json:"userLabels"`
	}
	rankRecord struct {
		ID      string  `json:"id"`
		Title   string  `json:"title,omitempty"`
		Content string  `json:"content,omitempty"`
		Score   float64 `json:"score"`
	}
)

// rankCall reads the body.
func (x *exchange) rankCall() (*rankCall, error) {
	if _, err := decodeBody(x.body); err != nil {
		return nil, err
	}
	q := new(rankCall)
	return q, rankShape(strictly(x.body, q, true))
}

// rankShape has the words of the ranking service for a body of another shape.
func rankShape(err error) error {
	if err == nil {
		return nil
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown member "); ok {
		return unknownName(strings.Trim(name, `".`), "")
	}
	return invalid("Invalid JSON payload received.")
}

// checkRank checks a request to order documents.
func checkRank(x *exchange) error {
	if !slices.Contains([]string{"global", "us", "eu"}, x.target.location) {
		return &statusError{Code: http.StatusNotFound, Status: "NOT_FOUND", Message: fmt.Sprintf(
			"RankingConfig with name \"%s/rankingConfigs/%s\" does not exist.", x.target.place(), rankConfig)}
	}
	q, err := x.rankCall()
	if err != nil || x.cfg.withoutChecks {
		return err
	}
	if _, ok := rankers[q.Model]; !ok {
		return invalid("Ranking model %q is not supported.", q.Model)
	}
	switch n := len(q.Records); {
	case strings.TrimSpace(q.Query) == "":
		return invalid("Query must not be empty.")
	case n == 0:
		return invalid("At least one record is required.")
	case n > maxRecords:
		return invalid("The number of records must not exceed %d, and there are %d.", maxRecords, n)
	}
	seen := map[string]bool{}
	for i, r := range q.Records {
		switch {
		case r.Title == "" && r.Content == "":
			return invalid("At least one of title or content must be set for record %d.", i)
		case r.ID == "" || seen[r.ID]:
			return invalid("Record ids must be set and unique: %q.", r.ID)
		case r.Score != 0:
			return invalid("score is output only.")
		}
		seen[r.ID] = true
	}
	return nil
}

// answerRank orders documents by the words they share with the query.
func answerRank(x *exchange) (response, error) {
	q, err := x.rankCall()
	if err != nil {
		return response{}, err
	}
	const perToken = 4 // bytes of text
	read := perToken * rankers[q.Model]
	for i := range q.Records {
		r := &q.Records[i]
		text := r.Title + " " + r.Content
		r.Score = overlap(q.Query, strings.ToValidUTF8(text[:min(len(text), read)], ""))
	}
	slices.SortStableFunc(q.Records, func(a, b rankRecord) int { return cmp.Compare(b.Score, a.Score) })
	if q.TopN > 0 && q.TopN < len(q.Records) {
		q.Records = q.Records[:q.TopN]
	}
	if q.Bare {
		for i := range q.Records {
			q.Records[i].Title, q.Records[i].Content = "", ""
		}
	}
	return jsonResponse(map[string][]rankRecord{"records": q.Records})
}

// overlap is how much of a query's words and pieces of words a text has, from 0 to
// 1, with two decimals; the platform does not give 0.
func overlap(query, text string) float64 {
	of, in := textFeatures(query, ""), textFeatures(text, "")
	var all, shared float64
	for feature, weight := range of {
		all += weight
		shared += min(weight, in[feature])
	}
	return max(math.Round(100*shared/all)/100, 1e-4)
}
