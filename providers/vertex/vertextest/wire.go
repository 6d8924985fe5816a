package vertextest

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// request is a GenerateContentRequest, as far as the rules and answers need it.
// The schema has been checked before it is decoded.
type request struct {
	Contents          []content         `json:"contents"`
	SystemInstruction *content          `json:"systemInstruction"`
	Tools             []tool            `json:"tools"`
	ToolConfig        toolConfig        `json:"toolConfig"`
	SafetySettings    []json.RawMessage `json:"safetySettings"`
	GenerationConfig  generationConfig  `json:"generationConfig"`
	CachedContent     string            `json:"cachedContent"`
	Labels            map[string]string `json:"labels"`
	ModelArmorConfig  json.RawMessage   `json:"modelArmorConfig"`
}

type tool map[string]json.RawMessage

type functionDeclaration struct {
	Name                 string          `json:"name"`
	Description          string          `json:"description"`
	Parameters           json.RawMessage `json:"parameters"`
	ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
	Response             json.RawMessage `json:"response"`
	ResponseJSONSchema   json.RawMessage `json:"responseJsonSchema"`
}

type toolConfig struct {
	FunctionCallingConfig struct {
		Mode                 string   `json:"mode"`
		AllowedFunctionNames []string `json:"allowedFunctionNames"`
		StreamArguments      bool     `json:"streamFunctionCallArguments"`
	} `json:"functionCallingConfig"`
	RetrievalConfig json.RawMessage `json:"retrievalConfig"`
}

type generationConfig struct {
	Temperature        *float64        `json:"temperature"`
	TopP               *float64        `json:"topP"`
	CandidateCount     *int            `json:"candidateCount"`
	MaxOutputTokens    *int            `json:"maxOutputTokens"`
	StopSequences      []string        `json:"stopSequences"`
	PresencePenalty    *float64        `json:"presencePenalty"`
	FrequencyPenalty   *float64        `json:"frequencyPenalty"`
	ResponseLogprobs   bool            `json:"responseLogprobs"`
	Logprobs           *int            `json:"logprobs"`
	ResponseModalities []string        `json:"responseModalities"`
	ResponseMimeType   string          `json:"responseMimeType"`
	ResponseSchema     json.RawMessage `json:"responseSchema"`
	ResponseJSONSchema json.RawMessage `json:"responseJsonSchema"`
	ResponseFormat     []struct {
		Text *struct {
			MimeType string          `json:"mimeType"`
			Schema   json.RawMessage `json:"schema"`
		} `json:"text"`
	} `json:"responseFormat"`
	ThinkingConfig thinkingConfig `json:"thinkingConfig"`
	ImageConfig    *imageConfig   `json:"imageConfig"`
	SpeechConfig   *speechConfig  `json:"speechConfig"`
}

type thinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts"`
	ThinkingBudget  *int   `json:"thinkingBudget"`
	ThinkingLevel   string `json:"thinkingLevel"`
}

type imageConfig struct {
	AspectRatio        string `json:"aspectRatio"`
	ImageSize          string `json:"imageSize"`
	ImageOutputOptions struct {
		MimeType           string `json:"mimeType"`
		CompressionQuality *int   `json:"compressionQuality"`
	} `json:"imageOutputOptions"`
}

type speechConfig struct {
	VoiceConfig             *voiceConfig `json:"voiceConfig"`
	MultiSpeakerVoiceConfig *struct {
		SpeakerVoiceConfigs []struct {
			Speaker     string       `json:"speaker"`
			VoiceConfig *voiceConfig `json:"voiceConfig"`
		} `json:"speakerVoiceConfigs"`
	} `json:"multiSpeakerVoiceConfig"`
}

type voiceConfig struct {
	PrebuiltVoiceConfig struct {
		VoiceName string `json:"voiceName"`
	} `json:"prebuiltVoiceConfig"`
}

// Members of the response are declared in the order the platform sends them.

type generateResponse struct {
	Candidates     []candidate     `json:"candidates,omitempty"`
	PromptFeedback *promptFeedback `json:"promptFeedback,omitempty"`
	UsageMetadata  usage           `json:"usageMetadata"`
	ModelVersion   string          `json:"modelVersion"`
	CreateTime     string          `json:"createTime,omitempty"`
	ResponseID     string          `json:"responseId"`
}

type candidate struct {
	Content            *content            `json:"content,omitempty"`
	FinishReason       string              `json:"finishReason,omitempty"`
	Index              int                 `json:"index,omitempty"`
	FinishMessage      string              `json:"finishMessage,omitempty"`
	GroundingMetadata  *groundingMetadata  `json:"groundingMetadata,omitempty"`
	URLContextMetadata *urlContextMetadata `json:"urlContextMetadata,omitempty"`
	AvgLogprobs        float64             `json:"avgLogprobs,omitempty"`
	LogprobsResult     *logprobsResult     `json:"logprobsResult,omitempty"`
}

type logprobsResult struct {
	TopCandidates    []topCandidates `json:"topCandidates,omitempty"`
	ChosenCandidates []tokenLogprob  `json:"chosenCandidates"`
}

type topCandidates struct {
	Candidates []tokenLogprob `json:"candidates"`
}

type tokenLogprob struct {
	Token          string  `json:"token"`
	TokenID        int     `json:"tokenId"`
	LogProbability float64 `json:"logProbability"`
}

type promptFeedback struct {
	BlockReason        string `json:"blockReason"`
	BlockReasonMessage string `json:"blockReasonMessage,omitempty"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts,omitempty"`
}

type part struct {
	Text                *string           `json:"text,omitempty"`
	Thought             bool              `json:"thought,omitempty"`
	InlineData          *blob             `json:"inlineData,omitempty"`
	FileData            *fileData         `json:"fileData,omitempty"`
	FunctionCall        *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse    *functionResponse `json:"functionResponse,omitempty"`
	ExecutableCode      json.RawMessage   `json:"executableCode,omitempty"`
	CodeExecutionResult json.RawMessage   `json:"codeExecutionResult,omitempty"`
	AudioTranscription  json.RawMessage   `json:"audioTranscription,omitempty"`
	ThoughtSignature    string            `json:"thoughtSignature,omitempty"`
	MediaResolution     json.RawMessage   `json:"mediaResolution,omitempty"`
	VideoMetadata       json.RawMessage   `json:"videoMetadata,omitempty"`
}

type blob struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

type fileData struct {
	MimeType string `json:"mimeType"`
	FileURI  string `json:"fileUri"`
}

type functionCall struct {
	Name         string          `json:"name,omitempty"`
	Args         json.RawMessage `json:"args,omitempty"`
	ID           string          `json:"id,omitempty"`
	PartialArgs  []partialArg    `json:"partialArgs,omitempty"`
	WillContinue bool            `json:"willContinue,omitempty"`
}

type functionResponse struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
	Parts    []part          `json:"parts"` // media alone
}

// hasData reports whether the part carries one of the data members.
func (p part) hasData() bool {
	return p.Text != nil || p.InlineData != nil || p.FileData != nil || p.FunctionCall != nil || p.FunctionResponse != nil ||
		len(p.ExecutableCode) > 0 || len(p.CodeExecutionResult) > 0 || len(p.AudioTranscription) > 0
}

// text returns the part's text, or nothing when it has none.
func (p part) text() string {
	if p.Text == nil {
		return ""
	}
	return *p.Text
}

// functions returns the function declarations of the tool.
func (t tool) functions() []functionDeclaration {
	var f []functionDeclaration
	if raw, ok := t["functionDeclarations"]; ok && json.Unmarshal(raw, &f) != nil {
		return nil // the schema has been checked, so this can't be
	}
	return f
}

// declarations returns all functions of the request in their order.
func (r *request) declarations() []functionDeclaration {
	var all []functionDeclaration
	for _, t := range r.Tools {
		all = append(all, t.functions()...)
	}
	return all
}

// tool returns the options of the first tool of a kind.
func (r *request) tool(kind string) (json.RawMessage, bool) {
	for _, t := range r.Tools {
		if raw, ok := t[kind]; ok {
			return raw, true
		}
	}
	return nil, false
}

// jsonHeader returns the head of every JSON answer.
func jsonHeader() http.Header {
	return http.Header{
		"Content-Type":           {"application/json; charset=UTF-8"},
		"Vary":                   {"Origin", "X-Origin", "Referer"},
		"X-Content-Type-Options": {"nosniff"},
		"Server":                 {"scaffolding on HTTPServer2"},
	}
}

// sseHeader returns the head of an event stream.
func sseHeader() http.Header {
	h := jsonHeader()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Content-Disposition", "attachment")
	return h
}

// pretty indents JSON the way the platform does outside of event streams.
func pretty(compact []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, compact, "", "  ") != nil {
		return compact
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// spaced puts a space after each colon between name and value, the way the
// platform does inside of event streams.
func spaced(compact []byte) []byte {
	out := make([]byte, 0, len(compact)+len(compact)/8)
	var quoted, escaped bool
	for _, c := range compact {
		out = append(out, c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case c == ':' && !quoted:
			out = append(out, ' ')
		}
	}
	return out
}
