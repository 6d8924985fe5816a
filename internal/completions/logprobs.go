package completions

import (
	"slices"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// tracker follows the text of one choice.
type tracker struct {
	echo   string // what is still to be said before the text
	offset int    // characters before the next token

	said    bool // there is text
	refusal []byte
}

// tracker returns that of a choice of the prompt.
func (j *job) tracker(prompt int) tracker {
	if !j.q.Echo {
		return tracker{}
	}
	text := j.q.Prompt.Texts[prompt]
	return tracker{echo: text, offset: utf8.RuneCountInString(text)}
}

// text returns a piece, after the prompt if that was not said yet. A refusal,
// which extra may have, is the text of a choice that has no other: it comes with
// the last piece.
func (t *tracker) text(piece string, extra providers.Extra, last bool) string {
	if len(extra) > 0 {
		t.refusal = append(t.refusal, jsonx.LookupString(extra, "refusal")...)
	}
	if t.said = t.said || piece != ""; last && !t.said {
		piece, t.said = string(t.refusal), true
	}
	piece = t.echo + piece
	t.echo = ""
	return piece
}

// logprobs turns those of a chat completion into the older form.
func (t *tracker) logprobs(q *providers.CompletionRequest, lp *providers.Logprobs) *providers.CompletionLogprobs {
	if lp == nil || q.Logprobs == nil {
		return nil
	}
	n := len(lp.Content)
	out := &providers.CompletionLogprobs{
		Tokens: make([]string, 0, n), TokenLogprobs: make([]float64, 0, n), TextOffset: make([]int, 0, n),
	}
	if *q.Logprobs > 0 {
		out.TopLogprobs = make([][]providers.CompletionAlternative, 0, n)
	}
	for i := range lp.Content {
		token := &lp.Content[i]
		out.Tokens = append(out.Tokens, token.Token)
		out.TokenLogprobs = append(out.TokenLogprobs, token.Logprob)
		out.TextOffset = append(out.TextOffset, t.offset)
		t.offset += utf8.RuneCountInString(token.Token)
		if out.TopLogprobs != nil {
			out.TopLogprobs = append(out.TopLogprobs, alternatives(token))
		}
	}
	return out
}

// alternatives lists the likeliest tokens of a place, and the one that was
// taken. A JSON object has each but once.
func alternatives(token *providers.TokenLogprob) []providers.CompletionAlternative {
	var list []providers.CompletionAlternative
	add := func(name string, logprob float64) {
		if !slices.ContainsFunc(list, func(a providers.CompletionAlternative) bool { return a.Token == name }) {
			list = append(list, providers.CompletionAlternative{Token: name, Logprob: logprob})
		}
	}
	for i := range token.TopLogprobs {
		add(token.TopLogprobs[i].Token, token.TopLogprobs[i].Logprob)
	}
	add(token.Token, token.Logprob)
	return list
}
