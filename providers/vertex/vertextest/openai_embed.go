package vertextest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
)

// embedVerb is the path of servers that embed in the OpenAI schema.
const embedVerb = "embeddings"

// What OpenAI's API takes, and what servers do that say nothing else.
//
// Sources: https://platform.openai.com/docs/api-reference/embeddings/create and
// https://huggingface.co/docs/text-embeddings-inference/cli_arguments
const (
	openaiDimensions = 1536
	openaiInputs     = 2048
	serverInputs     = 32
)

// openEmbed is a request for vectors in the OpenAI schema.
type openEmbed struct {
	Model          string          `json:"model"`
	Input          json.RawMessage `json:"input"`
	Dimensions     *int            `json:"dimensions"`
	EncodingFormat string          `json:"encoding_format"`
	User           string          `json:"user"`

	texts []string
	sizes []int // in tokens
}

// checkServedEmbed checks a request to the server of an endpoint.
func checkServedEmbed(x *exchange) error {
	e, err := x.findEndpoint()
	switch raw := x.target.verb != embedVerb; {
	case err != nil:
		return err
	case e.Dimensions == 0, e.RawOnly != raw:
		return &statusError{Code: http.StatusNotFound, Status: "NotFoundError", Message: "Not Found", own: true}
	}
	return checkOpenEmbed(x)
}

// checkOpenEmbed checks a request in the OpenAI schema.
func checkOpenEmbed(x *exchange) error {
	_, err := x.openEmbed()
	return err
}

// openEmbed reads the body.
func (x *exchange) openEmbed() (*openEmbed, error) {
	q := new(openEmbed)
	d := json.NewDecoder(bytes.NewReader(x.body))
	own := x.route.wire == wireOpenAI
	if own && !x.cfg.withoutChecks {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(q); err != nil {
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return nil, x.badChat("Unrecognized request argument supplied: " + strings.Trim(name, `"`))
		}
		return nil, x.badChat("The request body has a member of the wrong type.")
	}
	most, longest := openaiInputs, openaiDimensions
	if own {
		if err := x.findOpenAI(); err != nil {
			return nil, err
		}
	} else {
		e := x.cfg.served[x.target.model]
		x.chat.served, longest, most = e.Model, e.Dimensions, e.Inputs
		if most == 0 {
			most = serverInputs
		}
	}
	if err := q.read(); err != nil {
		return nil, x.badChat(err.Error())
	}
	switch n := len(q.texts); {
	case n > most && own:
		return nil, x.badChat(fmt.Sprintf("'$.input' is invalid. Invalid 'input': array too long. Expected an array with maximum length %d, but got an array with length %d instead.", most, n))
	case n > most:
		return nil, &statusError{
			Code: http.StatusRequestEntityTooLarge, Status: "Validation", own: true,
			Message: fmt.Sprintf("batch size %d > maximum allowed batch size %d", n, most),
		}
	case q.Dimensions != nil && (*q.Dimensions < 1 || *q.Dimensions > longest):
		return nil, x.badChat(fmt.Sprintf("Invalid value for 'dimensions' = %d. Must be less than or equal to %d.", *q.Dimensions, longest))
	case q.EncodingFormat != "" && q.EncodingFormat != "float" && q.EncodingFormat != "base64":
		return nil, x.badChat("Invalid value for 'encoding_format'.")
	}
	if q.Dimensions == nil {
		q.Dimensions = &longest
	}
	return q, nil
}

// read takes the input apart.
func (q *openEmbed) read() error {
	var text string
	var list []json.RawMessage
	var ids []int
	switch {
	case json.Unmarshal(q.Input, &text) == nil && text != "":
		q.add(text)
		return nil
	case json.Unmarshal(q.Input, &ids) == nil && len(ids) > 0:
		q.addTokens(ids)
		return nil
	case json.Unmarshal(q.Input, &list) != nil || len(list) == 0:
		return fmt.Errorf("'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference")
	}
	for i, raw := range list {
		switch {
		case json.Unmarshal(raw, &text) == nil && text != "":
			q.add(text)
		case json.Unmarshal(raw, &ids) == nil && len(ids) > 0:
			q.addTokens(ids)
		default:
			return fmt.Errorf("'$.input[%d]' is invalid", i)
		}
	}
	return nil
}

func (q *openEmbed) add(text string) {
	q.texts, q.sizes = append(q.texts, text), append(q.sizes, tokens(len(text)))
}

func (q *openEmbed) addTokens(ids []int) {
	q.texts, q.sizes = append(q.texts, fmt.Sprint(ids)), append(q.sizes, len(ids))
}

// openVector is an element of the answer.
type openVector struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"`
}

// answerOpenEmbed answers in the OpenAI schema.
func answerOpenEmbed(x *exchange) (response, error) {
	q, err := x.openEmbed()
	if err != nil {
		return response{}, err
	}
	data := make([]openVector, 0, len(q.texts))
	used := 0
	for i, text := range q.texts {
		vector := unit(vectorOf(textFeatures(text, ""), *q.Dimensions))
		one := openVector{Object: "embedding", Index: i, Embedding: floatList{values: vector}}
		if q.EncodingFormat == "base64" {
			one.Embedding = packed(vector)
		}
		data = append(data, one)
		used += q.sizes[i]
	}
	body, err := json.Marshal(map[string]any{
		"object": "list", "model": x.chat.served, "data": data,
		"usage": map[string]int{"prompt_tokens": used, "total_tokens": used},
	})
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, header: x.ownHeader(), events: [][]byte{body}}, nil
}

// packed is a vector as little-endian floats of 32 bits.
func packed(vector []float64) string {
	var data []byte
	for _, f := range vector {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(f)))
	}
	return base64.StdEncoding.EncodeToString(data)
}

// predictVectors answers the instances {"inputs":…} of a server of a user.
//
// Source: https://huggingface.co/docs/google-cloud/examples/vertex-ai-notebooks-deploy-embedding-on-vertex-ai
func (x *exchange) predictVectors(e Endpoint) (response, error) {
	var call struct {
		Instances []struct {
			Inputs string `json:"inputs"`
		} `json:"instances"`
	}
	if err := json.Unmarshal(x.body, &call); err != nil {
		return response{}, invalid("The instances have members of the wrong type.")
	}
	list := make([]floatList, 0, len(call.Instances))
	for _, one := range call.Instances {
		if one.Inputs == "" {
			return response{}, invalid("`inputs` cannot be empty")
		}
		list = append(list, floatList{values: unit(vectorOf(textFeatures(one.Inputs, ""), e.Dimensions))})
	}
	return x.predicted(list)
}
