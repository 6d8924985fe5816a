package vertextest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// answer is what the model says, before it is rendered unary or as a stream.
type answer struct {
	parts    []part // thoughts first
	reason   string // finishReason
	thoughts int    // thoughtsTokenCount, shown or not
	toolUse  int    // toolUsePromptTokenCount
	blocked  *promptFeedback
	variants int // further candidates, like the first

	grounding *groundingMetadata
	urls      *urlContextMetadata

	stop     string // the stop sequence that ended the text
	redacted bool   // the thoughts are encrypted
	omitted  bool   // the thoughts are kept from the caller
	refused  bool   // the model declined to go on
}

// maxVariants bounds further candidates when the checks are off.
const maxVariants = 7

// ownAnswer is the emulator's own reply.
func ownAnswer(x *exchange) (response, error) {
	a, err := x.think()
	if err != nil {
		return response{}, err
	}
	return a.render(x)
}

// think makes up an answer to the request.
func (x *exchange) think() (answer, error) {
	a := answer{reason: "STOP"}
	if x.silent {
		return a, nil
	}
	if n := x.req.GenerationConfig.CandidateCount; n != nil {
		a.variants = min(max(*n-1, 0), maxVariants)
	}
	if x.facts.audioOut {
		said, _ := x.lastUserText()
		a.parts = append(a.parts, x.speech(said))
		return a, nil
	}
	if err := a.ponder(x); err != nil {
		return answer{}, err
	}
	if a.refused {
		return a, nil
	}
	if calls := x.chooseCalls(); len(calls) > 0 {
		if x.oneCall {
			calls = calls[:1]
		}
		for i, c := range calls {
			args, err := json.Marshal(c.args)
			if err != nil {
				return answer{}, err
			}
			a.parts = append(a.parts, x.callPart(i, "", c.name, args))
		}
		return a, nil
	}
	modalities := x.modalities()
	if slices.Contains(modalities, "TEXT") {
		if err := a.say(x); err != nil {
			return answer{}, err
		}
	}
	if slices.Contains(modalities, "IMAGE") && a.reason == "STOP" {
		picture, err := x.picture(false)
		if err != nil {
			return answer{}, err
		}
		a.parts = append(a.parts, picture)
	}
	return a, nil
}

// modalities are what the answer is to be made of: by default text, and a
// picture too on image models.
func (x *exchange) modalities() []string {
	asked := x.req.GenerationConfig.ResponseModalities
	asked = slices.DeleteFunc(slices.Clone(asked), func(m string) bool { return m == "MODALITY_UNSPECIFIED" })
	switch {
	case len(asked) > 0:
		return asked
	case x.facts.imageOut:
		return []string{"TEXT", "IMAGE"}
	}
	return []string{"TEXT"}
}

// ponder thinks, and shows the thoughts when they are asked for or the model
// always shows them. An image model also shows a draft.
func (a *answer) ponder(x *exchange) error {
	if x.route.wire == wireClaude {
		a.obey(x)
	}
	if !x.thinking() && !x.facts.chain || a.refused {
		return nil
	}
	thought := "**Reading the request**\n\nThe request is clear; a short reply will do.\n\n"
	a.thoughts = tokens(len(thought))
	if !x.req.GenerationConfig.ThinkingConfig.IncludeThoughts && !x.facts.chain {
		return nil
	}
	a.parts = append(a.parts, part{Text: &thought, Thought: true})
	if !slices.Contains(x.modalities(), "IMAGE") || !x.facts.imageOut {
		return nil
	}
	draft, err := x.picture(true)
	a.parts = append(a.parts, draft)
	return err
}

// say adds the text, and before it what the tools of the platform did for it.
func (a *answer) say(x *exchange) error {
	if want, ok := x.responseShape(); ok {
		text, err := x.sayShaped(want)
		if err != nil {
			return err
		}
		found := x.find()
		a.speak(x, text)
		a.grounding, a.urls, a.toolUse = found.grounding, found.urls, found.toolUse
		return nil
	}
	ran, fed, err := x.runCode()
	if err != nil {
		return err
	}
	a.parts = append(a.parts, ran...)
	found := x.find()
	claims := found.claims(x.sayPlain())
	a.speak(x, strings.Join(claims, " "))
	found.support(x, claims, a.parts)
	a.grounding, a.urls, a.toolUse = found.grounding, found.urls, found.toolUse+fed
	return nil
}

// thinking reports whether the model thinks on this request.
func (x *exchange) thinking() bool {
	switch b := x.facts.budget; {
	case x.route.wire != wireGemini:
		return x.thinks
	case !x.facts.thinks():
		return false
	case b == nil:
		return true
	case x.req.GenerationConfig.ThinkingConfig.ThinkingBudget != nil:
		return *x.req.GenerationConfig.ThinkingConfig.ThinkingBudget != 0
	default:
		return !b.defaultOff
	}
}

// speak adds the text, as far as stop sequences and maxOutputTokens let it.
func (a *answer) speak(x *exchange, text string) {
	for _, stop := range x.req.GenerationConfig.StopSequences {
		if stop == "" {
			continue
		}
		before, _, found := strings.Cut(text, stop)
		if text = before; found {
			a.stop = stop
		}
	}
	if limit := x.req.GenerationConfig.MaxOutputTokens; limit != nil {
		room := max(*limit-a.thoughts, 0)
		if tokens(len(text)) > room {
			text, a.reason, a.stop = prefix(text, 4*room), "MAX_TOKENS", ""
		}
	}
	if text != "" {
		a.parts = append(a.parts, x.signedText(text))
	}
}

// prefix returns at most n bytes of text, whole characters only.
func prefix(text string, n int) string {
	if n >= len(text) {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// sayPlain reports function results, else greets a greeting, else echoes.
func (x *exchange) sayPlain() string {
	if results := x.lastResponses(); len(results) > 0 {
		lines := make([]string, 0, len(results))
		for _, r := range results {
			lines = append(lines, fmt.Sprintf("%s answered: %s", r.Name, canonical(r.Response)))
		}
		return strings.Join(lines, "\n")
	}
	said, media := x.lastUserText()
	switch {
	case said == "" && len(media) == 0:
		return "Go on."
	case said == "":
		return fmt.Sprintf("You sent %s.", strings.Join(media, ", "))
	case len(media) > 0:
		return fmt.Sprintf("You sent %s and said: %q.", strings.Join(media, ", "), said)
	case isGreeting(said):
		return "Hello! How can I help you today?"
	}
	return `You said: "` + said + `".`
}

// text joins the texts that aren't thoughts.
func (a answer) text() string {
	var b strings.Builder
	for _, p := range a.parts {
		if !p.Thought {
			b.WriteString(p.text())
		}
	}
	return b.String()
}

// isGreeting reports whether a text is nothing but a greeting.
func isGreeting(text string) bool {
	word := strings.ToLower(strings.Trim(text, " !.,?"))
	return slices.Contains([]string{"hi", "hello", "hey", "good morning", "good evening", "hi there", "hello there"}, word)
}

// lastResponses returns the function responses that end the conversation.
func (x *exchange) lastResponses() []functionResponse {
	if len(x.req.Contents) == 0 {
		return nil
	}
	var list []functionResponse
	for _, p := range x.req.Contents[len(x.req.Contents)-1].Parts {
		if p.FunctionResponse != nil {
			list = append(list, *p.FunctionResponse)
		}
	}
	return list
}

// lastUserText returns the texts of the latest user content that isn't made of
// function responses, and the types of the media beside them.
func (x *exchange) lastUserText() (text string, media []string) {
	for _, c := range slices.Backward(x.req.Contents) {
		if !c.isUser() || hasResponse(c) {
			continue
		}
		var texts []string
		for _, p := range c.Parts {
			switch {
			case p.InlineData != nil:
				media = append(media, p.InlineData.MimeType)
			case p.FileData != nil:
				media = append(media, p.FileData.MimeType)
			case p.text() != "":
				texts = append(texts, p.text())
			}
		}
		return strings.Join(texts, "\n"), media
	}
	return "", nil
}

// signedText returns a text part, signed where the model signs texts.
func (x *exchange) signedText(text string) part {
	p := part{Text: &text}
	if x.rules.signatures {
		p.ThoughtSignature = x.signPart()
	}
	return p
}

// callPart returns the i-th call of a step. The first one is signed when the
// model signs or has thought.
func (x *exchange) callPart(i int, id, name string, args json.RawMessage) part {
	c := &functionCall{Name: name, Args: args, ID: id}
	if c.ID == "" && x.rules.callIDs {
		c.ID = callID(x.body, i)
	}
	p := part{FunctionCall: c}
	if i == 0 && (x.rules.signatures || x.thinking()) {
		p.ThoughtSignature = x.signCall(name, args)
	}
	return p
}

// callID returns eight characters that depend on the request and the position.
func callID(body []byte, i int) string {
	h := fnv.New64a()
	_, _ = h.Write(body)
	_, _ = h.Write([]byte{byte(i), byte(i >> 8)})
	s := strconv.FormatUint(h.Sum64(), 36)
	return ("00000000" + s)[len(s):]
}

// envelope returns a response with the members that are the same in each chunk.
func (x *exchange) envelope() generateResponse {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, x.server.serial()))
	r := generateResponse{ModelVersion: x.servedModel(), ResponseID: base64.RawURLEncoding.EncodeToString(sum[:17])}
	if !x.target.direct {
		r.CreateTime = time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	return r
}

// servedModel is the name under which an answer is given.
func (x *exchange) servedModel() string {
	if x.target.publisher == "" {
		return x.facts.name
	}
	return x.target.model
}

// render turns the answer into the form the request asks for.
func (a answer) render(x *exchange) (response, error) {
	switch x.route.wire {
	case wireClaude:
		return a.renderClaude(x)
	case wireMaaS, wireServed, wireMistral, wireOpenAI:
		return a.renderChat(x)
	case wirePredict:
		return a.renderPredictions(x)
	}
	whole := a.whole(x)
	if x.route.stream {
		return renderStream(x, a.chunks(x, whole))
	}
	body, err := json.Marshal(whole)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, header: jsonHeader(), events: [][]byte{pretty(body)}}, nil
}

// whole returns the unary form.
func (a answer) whole(x *exchange) generateResponse {
	g := x.envelope()
	g.PromptFeedback = a.blocked
	var answered tally
	if a.blocked == nil {
		for i := range a.variants + 1 {
			c := candidate{FinishReason: a.reason, Index: i}
			if len(a.parts) > 0 {
				c.Content = &content{Role: "model", Parts: a.parts}
			}
			c.GroundingMetadata, c.URLContextMetadata = a.grounding, a.urls
			x.addLogprobs(&c)
			g.Candidates = append(g.Candidates, c)
			answered.addVisible(a.parts)
		}
	}
	g.UsageMetadata = usageOf(x, answered, a)
	return g
}

// addVisible counts the parts that aren't thoughts.
func (t *tally) addVisible(parts []part) {
	for _, p := range parts {
		switch {
		case p.Thought:
		case p.isSpeech():
			t.addMedia("AUDIO", p.speechTokens())
		default:
			t.addPart(p, imageOutTokens)
		}
	}
}

// addLogprobs adds the average, and the tokens when they are asked for.
func (x *exchange) addLogprobs(c *candidate) {
	const each = -0.25 // of every token
	if x.rules.logprobs && c.Content != nil {
		c.AvgLogprobs = each
	}
	cfg := x.req.GenerationConfig
	if !cfg.ResponseLogprobs || c.Content == nil {
		return
	}
	c.LogprobsResult = &logprobsResult{ChosenCandidates: []tokenLogprob{}}
	for _, p := range c.Content.Parts {
		if p.Thought {
			continue
		}
		for _, word := range words(p.text()) {
			h := fnv.New32a()
			_, _ = h.Write([]byte(word))
			t := tokenLogprob{Token: word, TokenID: int(h.Sum32() >> 15), LogProbability: each}
			c.LogprobsResult.ChosenCandidates = append(c.LogprobsResult.ChosenCandidates, t)
			if cfg.Logprobs != nil {
				c.LogprobsResult.TopCandidates = append(c.LogprobsResult.TopCandidates, topCandidates{[]tokenLogprob{t}})
			}
		}
	}
}
