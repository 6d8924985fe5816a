package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/b650d4bf/gateway"
)

// defaultModel is asked when nothing names one.
const defaultModel = "gemini-2.5-flash"

// wish is the flags that make a chat request.
type wish struct {
	model, system    string
	images, files    []string
	thinking         string
	tools            []string
	schema           string
	temperature      float64
	maxTokens        int
	request          string
	temperatureGiven bool
	strict           bool
}

// wishFlags adds the flags that make a request.
func (a *app) wishFlags(cmd *cobra.Command, w *wish) {
	f := cmd.Flags()
	f.StringVarP(&w.model, "model", "m", "", "model reference (default $GATEWAYCTL_MODEL, then "+defaultModel+")")
	f.StringVarP(&w.system, "system", "s", "", "system message, or @FILE that holds it")
	f.StringArrayVar(&w.images, "image", nil, "image `PATH|URL` (https, gs or data); may be repeated")
	f.StringArrayVar(&w.files, "file", nil, "document, audio or video `PATH|URL`; may be repeated")
	f.StringVar(&w.thinking, "thinking", "", "`BUDGET` of reasoning: tokens, off, auto, or an effort such as low or high")
	f.StringArrayVar(&w.tools, "tool", nil, "JSON `FILE` with a tool, a list of them, or a bare function; may be repeated")
	f.StringVar(&w.schema, "schema", "", "JSON Schema `FILE` that the answer follows")
	f.Float64Var(&w.temperature, "temperature", 0, "sampling temperature, 0 to 2")
	f.IntVar(&w.maxTokens, "max-tokens", 0, "most tokens of the answer, thinking included")
	f.StringVar(&w.request, "request", "", "JSON `FILE` with a whole request, in place of a prompt; other flags win over it")
	f.BoolVar(&w.strict, "strict", false, "answers with what the OpenAI schema has and nothing else")
	files(cmd, "image", "file", "tool", "schema", "request")
	a.completeModels(cmd)
}

// build makes the request of the flags and the prompt; an empty one adds no
// message.
func (a *app) build(cmd *cobra.Command, w *wish, prompt string) (*gateway.ChatCompletionRequest, error) {
	w.temperatureGiven = cmd.Flags().Changed("temperature")
	req := &gateway.ChatCompletionRequest{}
	if w.request != "" {
		data, err := readFile(w.request)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, req); err != nil {
			return nil, fmt.Errorf("%s: %w", w.request, err)
		}
		req.Stream, req.StreamOptions = false, nil
	}
	req.Model = cmp.Or(w.model, req.Model, a.getenv("GATEWAYCTL_MODEL"), defaultModel)
	if err := a.applySystem(req, w.system); err != nil {
		return nil, err
	}
	if w.temperatureGiven {
		req.Temperature = &w.temperature
	}
	if w.maxTokens < 0 {
		return nil, usage("--max-tokens must be positive")
	}
	if w.maxTokens > 0 {
		req.MaxTokens, req.MaxCompletionTokens = &w.maxTokens, nil
	}
	if err := errors.Join(applyThinking(req, w.thinking), applyTools(req, w.tools), applySchema(req, w.schema)); err != nil {
		return nil, err
	}
	message, err := w.message(prompt)
	if err != nil {
		return nil, err
	}
	if message != nil {
		req.Messages = append(req.Messages, *message)
	}
	return req, nil
}

func (a *app) applySystem(req *gateway.ChatCompletionRequest, text string) error {
	if path, ok := strings.CutPrefix(text, "@"); ok {
		data, err := readFile(path)
		if err != nil {
			return err
		}
		text = string(data)
	}
	if text == "" {
		return nil
	}
	req.Messages = slices.DeleteFunc(req.Messages, func(m gateway.Message) bool { return m.Role == gateway.RoleSystem })
	req.Messages = slices.Insert(req.Messages, 0, gateway.SystemMessage(text))
	return nil
}

// message is the user's turn with what it shows; nil without any.
func (w *wish) message(prompt string) (*gateway.Message, error) {
	var parts []gateway.ContentPart
	for _, ref := range w.images {
		part, err := attachment(ref, true)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	for _, ref := range w.files {
		part, err := attachment(ref, false)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if prompt == "" && len(parts) == 0 {
		return nil, nil //nolint:nilnil // no message, and that is no error
	}
	if len(parts) == 0 {
		m := gateway.UserMessage(prompt)
		return &m, nil
	}
	if prompt != "" {
		parts = append(parts, gateway.TextPart(prompt))
	}
	m := gateway.UserMessage(parts)
	return &m, nil
}

// attachment is a part with a file, or with what a URL names.
func attachment(ref string, image bool) (gateway.ContentPart, error) {
	if u, err := url.Parse(ref); err == nil && slices.Contains([]string{"http", "https", "gs", "data"}, u.Scheme) {
		if image {
			return gateway.ImagePart(ref), nil
		}
		return gateway.FilePart(ref), nil
	}
	data, err := readFile(ref)
	if err != nil {
		return gateway.ContentPart{}, err
	}
	if len(data) == 0 {
		return gateway.ContentPart{}, fmt.Errorf("%s: the file is empty", ref)
	}
	if is := http.DetectContentType(data); image && strings.HasPrefix(is, "text/") && !bytes.Contains(data[:min(len(data), 512)], []byte("<svg")) {
		return gateway.ContentPart{}, fmt.Errorf("%s is no image: it holds text, which goes with --file", ref)
	}
	kind, _, _ := strings.Cut(mime.TypeByExtension(strings.ToLower(filepath.Ext(ref))), ";")
	if image && !strings.HasPrefix(kind, "image/") {
		kind = "" // the first bytes tell
	}
	return gateway.MediaPart(kind, data), nil
}

// applyThinking reads --thinking.
func applyThinking(req *gateway.ChatCompletionRequest, text string) error {
	efforts := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	budget, err := strconv.Atoi(text)
	switch {
	case text == "":
	case text == "auto":
		req.Thinking, req.ReasoningEffort = &gateway.Thinking{Type: "enabled"}, ""
	case text == "off":
		req.Thinking, req.ReasoningEffort = &gateway.Thinking{Type: "disabled"}, ""
	case slices.Contains(efforts, text):
		req.Thinking, req.ReasoningEffort = nil, text
	case err == nil && budget >= 0:
		req.Thinking, req.ReasoningEffort = &gateway.Thinking{Type: "enabled", BudgetTokens: &budget}, ""
	default:
		return usage("--thinking takes a number of tokens, off, auto, or one of " + strings.Join(efforts, ", "))
	}
	return nil
}

// applyTools reads the files of --tool.
func applyTools(req *gateway.ChatCompletionRequest, paths []string) error {
	for _, path := range paths {
		data, err := readFile(path)
		if err != nil {
			return err
		}
		tools, err := readTools(data)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		req.Tools = append(req.Tools, tools...)
	}
	return nil
}

// readTools reads a list of tools, one, or a function alone.
func readTools(data []byte) ([]gateway.Tool, error) {
	data = bytes.TrimSpace(data)
	list := []json.RawMessage{data}
	if bytes.HasPrefix(data, []byte("[")) {
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, where(data, err)
		}
	}
	var out []gateway.Tool
	for i, raw := range list {
		var head struct{ Type, Name string }
		if err := json.Unmarshal(raw, &head); err != nil {
			return nil, where(data, err)
		}
		var tool gateway.Tool
		var err error
		switch {
		case head.Type != "":
			err = json.Unmarshal(raw, &tool)
		case head.Name != "":
			tool.Type = "function"
			err = json.Unmarshal(raw, &tool.Function)
		default:
			err = errors.New("a tool has a type, such as function; a function alone has a name")
		}
		if err != nil {
			return nil, fmt.Errorf("tool %d: %w", i+1, err)
		}
		out = append(out, tool)
	}
	return out, nil
}

// applySchema reads the file of --schema.
func applySchema(req *gateway.ChatCompletionRequest, path string) error {
	if path == "" {
		return nil
	}
	data, err := readFile(path)
	if err != nil {
		return err
	}
	var head map[string]json.RawMessage
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("%s: a JSON Schema is a JSON object: %w", path, where(data, err))
	}
	name := strings.Map(func(r rune) rune {
		if r < 128 && (r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	req.ResponseFormat = &gateway.ResponseFormat{
		Type: "json_schema", JSONSchema: &gateway.JSONSchema{Name: cmp.Or(name, "answer"), Schema: data},
	}
	return nil
}

// where adds line and column to an error of JSON.
func where(data []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset > int64(len(data)) {
		return err
	}
	before := data[:max(syntax.Offset-1, 0)]
	return fmt.Errorf("line %d, column %d: %w", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'), err)
}

// promptOf joins the arguments with spaces; "-" is the standard input, which other
// arguments stand apart from. It is empty when there is nothing to read.
func (a *app) promptOf(args []string) (string, error) {
	if len(args) == 0 && a.console.InTerminal {
		return "", nil
	}
	i := slices.Index(args, "-")
	if i < 0 && len(args) > 0 {
		return strings.Join(args, " "), nil
	}
	data, err := limitRead(a.console.In, maxFile)
	if err != nil {
		return "", fmt.Errorf("the standard input: %w", err)
	}
	var parts []string
	text := strings.TrimRight(string(data), "\r\n")
	for _, part := range []string{strings.Join(args[:max(i, 0)], " "), text, strings.Join(args[min(i+1, len(args)):], " ")} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n\n"), nil
}
