package vertextest

import (
	"encoding/json"
	"net/http"
	"slices"
	"unicode"
)

// checkCount checks the body of countTokens.
func checkCount(x *exchange) error {
	if err := x.decodeRequest("CountTokensRequest"); err != nil || x.cfg.withoutChecks {
		return err
	}
	for _, rule := range []func(*exchange) error{checkContents, checkSystemInstruction, checkIDs, checkMedia} {
		if err := rule(x); err != nil {
			return err
		}
	}
	return nil
}

// countTokens counts what the request would cost as a prompt.
func countTokens(x *exchange) (response, error) {
	size, characters := promptTally(&x.req), 0
	if !x.target.direct {
		characters = billable(&x.req)
	}
	return jsonResponse(struct {
		TotalTokens             int             `json:"totalTokens,omitempty"`
		TotalBillableCharacters int             `json:"totalBillableCharacters,omitempty"`
		PromptTokensDetails     []modalityCount `json:"promptTokensDetails,omitempty"`
	}{size.total(), characters, size.details()})
}

// billable counts the characters of the texts, without white space.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/get-token-count
func billable(r *request) int {
	contents := r.Contents
	if r.SystemInstruction != nil {
		contents = append(slices.Clip(contents), *r.SystemInstruction)
	}
	n := 0
	for _, c := range contents {
		for _, p := range c.Parts {
			for _, char := range p.text() {
				if !unicode.IsSpace(char) {
					n++
				}
			}
		}
	}
	return n
}

// jsonResponse renders a message as a unary answer.
func jsonResponse(v any) (response, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, header: jsonHeader(), events: [][]byte{pretty(body)}}, nil
}
