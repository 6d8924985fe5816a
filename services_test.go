package gateway_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const drawer = "imagen-4.0-generate-001"

// serviceClient is a client of an emulated platform, in a region that has Imagen.
func serviceClient(t *testing.T, srv *vertextest.Server, opts ...gateway.ClientOption) *gateway.Client {
	t.Helper()
	return platformClient(t, srv, append([]gateway.ClientOption{gateway.WithRegion("us-central1")}, opts...)...)
}

func TestImagesAreDrawnAndChanged(t *testing.T) {
	srv := vertextest.New()
	client := serviceClient(t, srv)
	drawn, err := client.Images.Generate(t.Context(), &gateway.ImageRequest{Model: drawer, Prompt: "A red kite", N: new(2), Size: "1792x1024"})
	if err != nil {
		t.Fatal(err)
	}
	if len(drawn.Data) != 2 || drawn.Provider != "vertex-ai" || drawn.OutputFormat != "png" || time.Since(time.Unix(drawn.Created, 0)) > time.Minute {
		t.Errorf("%+v", drawn)
	}
	data, mime, err := drawn.Data[0].Bytes()
	if err != nil || mime != "image/png" {
		t.Fatal(mime, err)
	}
	if c, err := png.DecodeConfig(bytes.NewReader(data)); err != nil || c.Width <= c.Height {
		t.Errorf("%+v, %v", c, err)
	}
	for _, model := range []string{"imagen-3.0-capability-001", "gemini-2.5-flash-image"} {
		changed, err := client.Images.Edit(t.Context(), &gateway.ImageRequest{
			Model: model, Prompt: "Make it night", Images: []gateway.ImageInput{gateway.ImageBytes("", data)},
		})
		if err != nil || len(changed.Data) != 1 || changed.Data[0].B64JSON == drawn.Data[0].B64JSON {
			t.Errorf("%s: %v", model, err)
		}
	}
}

func TestStrictImagesHaveNothingOfThePlatformsOwn(t *testing.T) {
	client := serviceClient(t, vertextest.New())
	for _, strict := range []bool{true, false} {
		out, err := client.Images.Generate(t.Context(), &gateway.ImageRequest{Model: "gemini-2.5-flash-image", Prompt: "A red kite"}, gateway.WithStrictCompliance(strict))
		if err != nil {
			t.Fatal(err)
		}
		if _, said := out.Data[0].Extra.Get("text"); said == strict {
			t.Errorf("strict %v: %s", strict, out.Data[0].Extra)
		}
	}
}

func TestServicesAreRefusedBeforeAnythingIsSent(t *testing.T) {
	srv := vertextest.New()
	client := serviceClient(t, srv)
	input := []gateway.ImageInput{{URL: "gs://b/a.png"}}
	draw := func(q *gateway.ImageRequest) func() error {
		return func() error { _, err := client.Images.Generate(t.Context(), q); return err }
	}
	edit := func(q *gateway.ImageRequest) func() error {
		return func() error { _, err := client.Images.Edit(t.Context(), q); return err }
	}
	speak := func(q *gateway.SpeechRequest) func() error {
		return func() error {
			_, err := client.Audio.Speech.Create(t.Context(), q)
			stream, streamErr := client.Audio.Speech.CreateStream(t.Context(), q)
			if stream != nil || sentence(err) != sentence(streamErr) {
				return errors.Join(err, streamErr)
			}
			return err
		}
	}
	rank := func(q *gateway.RerankRequest) func() error {
		return func() error { _, err := client.Rerank.Create(t.Context(), q); return err }
	}
	texts := gateway.RerankTexts("a")
	for name, tt := range map[string]struct {
		call  func() error
		param string
	}{
		"no image request":              {draw(nil), "request"},
		"no prompt":                     {draw(&gateway.ImageRequest{Model: drawer}), "prompt"},
		"an image to draw from":         {draw(&gateway.ImageRequest{Model: drawer, Prompt: "p", Images: input}), "image"},
		"no image to change":            {edit(&gateway.ImageRequest{Model: drawer, Prompt: "p"}), "image"},
		"too many images":               {draw(&gateway.ImageRequest{Model: drawer, Prompt: "p", N: new(11)}), "n"},
		"a size that is none":           {draw(&gateway.ImageRequest{Model: drawer, Prompt: "p", Size: "big"}), "size"},
		"a format that is not given":    {draw(&gateway.ImageRequest{Model: drawer, Prompt: "p", OutputFormat: "webp"}), "output_format"},
		"a model that draws nothing":    {draw(&gateway.ImageRequest{Model: "gemini-2.5-flash", Prompt: "p"}), "model"},
		"an endpoint that draws":        {draw(&gateway.ImageRequest{Model: "endpoints.5", Prompt: "p"}), "model"},
		"labels that are none":          {draw(&gateway.ImageRequest{Model: drawer, Prompt: "p", Labels: map[string]string{"A": "b"}}), "labels"},
		"a bucket that is none":         {draw(&gateway.ImageRequest{Model: drawer, Prompt: "p", StorageURI: "b/c"}), "storage_uri"},
		"no speech request":             {speak(nil), "request"},
		"nothing to say":                {speak(&gateway.SpeechRequest{Model: "gemini-2.5-flash-tts", Voice: "Kore"}), "input"},
		"no voice":                      {speak(&gateway.SpeechRequest{Model: "gemini-2.5-flash-tts", Input: "a"}), "voice"},
		"mp3":                           {speak(&gateway.SpeechRequest{Model: "gemini-2.5-flash-tts", Input: "a", Voice: "Kore", ResponseFormat: "mp3"}), "response_format"},
		"a model that does not speak":   {speak(&gateway.SpeechRequest{Model: "claude-sonnet-5", Input: "a", Voice: "Kore"}), "model"},
		"speech labels that are none":   {speak(&gateway.SpeechRequest{Model: "gemini-2.5-flash-tts", Input: "a", Voice: "Kore", Labels: map[string]string{"A": "b"}}), "labels"},
		"no rerank request":             {rank(nil), "request"},
		"no query":                      {rank(&gateway.RerankRequest{Model: "semantic-ranker-fast-004", Documents: texts}), "query"},
		"no documents":                  {rank(&gateway.RerankRequest{Model: "semantic-ranker-fast-004", Query: "q"}), "documents"},
		"an empty document":             {rank(&gateway.RerankRequest{Model: "semantic-ranker-fast-004", Query: "q", Documents: gateway.RerankTexts("a", "")}), "documents[1]"},
		"an endpoint that ranks":        {rank(&gateway.RerankRequest{Model: "endpoints.5", Query: "q", Documents: texts}), "model"},
		"rerank labels that are none":   {rank(&gateway.RerankRequest{Model: "semantic-ranker-fast-004", Query: "q", Documents: texts, Labels: map[string]string{"a": "B"}}), "labels.a"},
		"a query of white space":        {rank(&gateway.RerankRequest{Model: "semantic-ranker-fast-004", Query: "\n", Documents: texts}), "query"},
		"a top that is none":            {rank(&gateway.RerankRequest{Model: "semantic-ranker-fast-004", Query: "q", Documents: texts, TopN: new(0)}), "top_n"},
		"a model name that can't be it": {rank(&gateway.RerankRequest{Model: "a/b/c", Query: "q", Documents: texts}), "model"},
	} {
		t.Run(name, func(t *testing.T) {
			e, ok := errors.AsType[*gateway.Error](tt.call())
			if !ok || e.Code != gateway.ErrInvalidRequest || e.Param != tt.param || e.Sent || e.Message == "" {
				t.Errorf("%v, want it to be about %s", e, tt.param)
			}
		})
	}
	if n := len(srv.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	for _, err := range []error{
		func() error { _, err := new(gateway.ImagesService).Generate(t.Context(), nil); return err }(),
		func() error { _, err := new(gateway.SpeechService).Create(t.Context(), nil); return err }(),
		func() error { _, err := new(gateway.SpeechService).CreateStream(t.Context(), nil); return err }(),
		func() error { _, err := new(gateway.RerankService).Create(t.Context(), nil); return err }(),
	} {
		if !errors.Is(err, gateway.ErrInvalidConfig) {
			t.Errorf("%v for a service without a client", err)
		}
	}
}

// sentence is the text of an error, "" for none.
func sentence(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestSpeechIsAFileOrAStream(t *testing.T) {
	client := serviceClient(t, vertextest.New(), gateway.WithRegion("global"))
	req := &gateway.SpeechRequest{Model: "gemini-2.5-flash-tts", Input: "One two three four", Voice: "Kore", ResponseFormat: "wav"}
	file, err := client.Audio.Speech.Create(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	samples := file.Data[44:]
	if file.ContentType != "audio/wav" || string(file.Data[:4]) != "RIFF" || int(binary.LittleEndian.Uint32(file.Data[40:])) != len(samples) ||
		int(binary.LittleEndian.Uint32(file.Data[4:])) != len(file.Data)-8 || file.Usage.TotalTokens == 0 || len(file.Meta.Attempts) != 1 {
		t.Errorf("%s, %x, %+v", file.ContentType, file.Data[:44], file.Meta)
	}
	for _, format := range []string{"pcm", "wav"} {
		own := *req
		own.ResponseFormat = format
		stream, err := client.Audio.Speech.CreateStream(t.Context(), &own)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(stream)
		if err != nil {
			t.Fatal(err)
		}
		if format == "wav" {
			data = data[44:]
		}
		if !bytes.Equal(data, samples) || stream.Usage() == nil || stream.Meta().Provider != "vertex-ai" || !strings.HasPrefix(stream.ContentType(), "audio/"+format) {
			t.Errorf("%d of %d bytes of %s, %+v", len(data), len(samples), stream.ContentType(), stream.Meta())
		}
		if n, err := stream.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) || stream.Close() != nil {
			t.Errorf("%d, %v after the end", n, err)
		}
	}
}

func TestSpeechThatBreaksOff(t *testing.T) {
	srv := vertextest.New()
	client := serviceClient(t, srv, gateway.WithRegion("global"))
	req := &gateway.SpeechRequest{Model: "gemini-2.5-flash-tts", Input: "One two three four", Voice: "Kore", ResponseFormat: "pcm"}
	srv.Script(vertextest.Auto().CutAfterEvents(2))
	stream, err := client.Audio.Speech.CreateStream(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(stream)
	if !errors.Is(err, gateway.ErrStreamCut) || len(data) == 0 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if again, err := stream.Read(make([]byte, 1)); again != 0 || !errors.Is(err, gateway.ErrStreamCut) {
		t.Errorf("%d, %v", again, err)
	}
	srv.Script(vertextest.Finish("SAFETY", ""))
	if _, err := client.Audio.Speech.CreateStream(t.Context(), req); !errors.Is(err, gateway.ErrContentFilter) {
		t.Errorf("%v", err)
	}
	stream, err = client.Audio.Speech.CreateStream(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Close(); err != nil {
		t.Error(err)
	}
	if _, err := stream.Read(make([]byte, 1)); !errors.Is(err, gateway.ErrCanceled) {
		t.Errorf("%v after Close", err)
	}
}

func TestManyDocumentsAreSharedAmongRequests(t *testing.T) {
	srv := vertextest.New()
	client := serviceClient(t, srv, gateway.WithRegion("global"))
	documents := make([]gateway.RerankDocument, 450)
	for i := range documents {
		documents[i].Text = "nothing of the kind"
	}
	documents[430].Text, documents[7].Text = "the capital of France", "a capital"
	out, err := client.Rerank.Create(t.Context(), &gateway.RerankRequest{
		Model: "semantic-ranker-default@latest", Query: "capital of France", Documents: documents, TopN: new(3),
	})
	if err != nil {
		t.Fatal(err)
	}
	var order []int
	for _, r := range out.Results {
		order = append(order, r.Index)
	}
	if diff := gocmp.Diff([]int{430, 7, 0}, order); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if out.Results[0].Document.Text != documents[430].Text || len(srv.Requests()) != 3 {
		t.Errorf("%+v in %d requests", out.Results[0].Document, len(srv.Requests()))
	}
	for _, r := range srv.Requests() {
		if r.Path != "/v1/projects/p/locations/global/rankingConfigs/default_ranking_config:rank" || r.Verb != "rank" {
			t.Errorf("%s at %s", r.Verb, r.Path)
		}
	}
}

func TestTheHostOfTheRankingService(t *testing.T) {
	for region, host := range map[string]string{
		"global": "discoveryengine.googleapis.com", "us": "us-discoveryengine.googleapis.com", "eu": "eu-discoveryengine.googleapis.com",
		"us-central1": "discoveryengine.googleapis.com",
	} {
		srv := vertextest.New()
		var asked string
		memory := srv.Transport()
		client := serviceClient(t, srv, gateway.WithRegion(region), gateway.WithHTTPClient(&http.Client{Transport: tripper(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.Host
			return memory.RoundTrip(r)
		})}))
		if _, err := client.Rerank.Create(t.Context(), &gateway.RerankRequest{Model: "semantic-ranker-fast-004", Query: "q", Documents: gateway.RerankTexts("a")}); err != nil {
			t.Fatal(err)
		}
		if asked != host {
			t.Errorf("%s is at %s, want %s", region, asked, host)
		}
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestServicesFollowConfigs has fallbacks, params of targets and retries for
// requests beside chat completions.
func TestServicesFollowConfigs(t *testing.T) {
	srv := vertextest.New()
	client := serviceClient(t, srv)
	srv.ScriptVerb("predict", vertextest.Overloaded())
	out, err := client.Images.Generate(t.Context(), &gateway.ImageRequest{Model: drawer, Prompt: "A red kite"}, gateway.WithConfig(parsed(t, `{
		"strategy":{"mode":"fallback"},"targets":[{"name":"a"},{"name":"b","override_params":{"model":"gemini-2.5-flash-image","output_format":"jpeg"}}]}`)))
	if err != nil {
		t.Fatal(err)
	}
	if out.OutputFormat != "jpeg" || out.Meta.Model != "gemini-2.5-flash-image" || len(out.Meta.Attempts) != 2 || out.Meta.Attempts[0].StatusCode != 503 {
		t.Errorf("%s, %+v", out.OutputFormat, out.Meta)
	}
	srv.ScriptVerb("rank", vertextest.RateLimited(0))
	ranked, err := client.Rerank.Create(t.Context(), &gateway.RerankRequest{Model: "m", Query: "q", Documents: gateway.RerankTexts("a")},
		gateway.WithConfig(parsed(t, `{"retry":{"attempts":2},"override_params":{"model":"semantic-ranker-fast-004"}}`)))
	if err != nil || len(ranked.Meta.Attempts) != 2 || ranked.Model != "semantic-ranker-fast-004" {
		t.Errorf("%v, %+v", err, ranked)
	}
	speech := &gateway.SpeechRequest{Model: "gemini-2.5-flash-tts", Input: "One two", Voice: "Kore", ResponseFormat: "pcm"}
	for _, create := range []func() (gateway.Meta, error){
		func() (gateway.Meta, error) {
			out, err := client.Audio.Speech.Create(t.Context(), speech, gateway.WithConfig(parsed(t, `{"retry":{"attempts":1}}`)))
			return out.Meta, err
		},
		func() (gateway.Meta, error) {
			s, err := client.Audio.Speech.CreateStream(t.Context(), speech, gateway.WithConfig(parsed(t, `{"retry":{"attempts":1}}`)))
			if err != nil {
				return gateway.Meta{}, err
			}
			_, err = io.Copy(io.Discard, s)
			return s.Meta(), err
		},
	} {
		srv.Script(vertextest.Overloaded())
		if meta, err := create(); err != nil || len(meta.Attempts) != 2 || meta.Retry != 1+1 && meta.Attempts[1].Retry != 1 {
			t.Errorf("%v, %+v", err, meta)
		}
	}
}

// TestServicesAreObservedAndLogged has what observers and the log are told, which
// is nothing of prompts and answers.
func TestServicesAreObservedAndLogged(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	client := serviceClient(t, vertextest.New(), gateway.WithRegion("us-central1"), gateway.WithLogger(zap.New(core)))
	const secret = "A-secret-prompt"
	if _, err := client.Images.Generate(t.Context(), &gateway.ImageRequest{Model: "gemini-2.5-flash-image", Prompt: secret, User: "u-1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Audio.Speech.Create(t.Context(), &gateway.SpeechRequest{Model: "gemini-2.5-flash-tts", Input: secret, Voice: "Kore"}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Rerank.Create(t.Context(), &gateway.RerankRequest{Model: "semantic-ranker-fast-004", Query: secret, Documents: gateway.RerankTexts(secret)}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Images.Generate(t.Context(), &gateway.ImageRequest{Model: drawer, Prompt: secret, Size: "1"}); err == nil {
		t.Fatal("no error")
	}
	var messages []string
	for _, e := range logs.All() {
		messages = append(messages, e.Message)
		fields, err := json.Marshal(e.ContextMap())
		if err != nil || strings.Contains(string(fields), secret) {
			t.Errorf("%s, %v", fields, err)
		}
	}
	if diff := gocmp.Diff([]string{"images", "speech", "rerank", "images failed"}, messages); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if fields := logs.All()[0].ContextMap(); fields["total_tokens"] == nil || fields["operation"] != "images" {
		t.Errorf("%v", fields)
	}
}

// TestServicesOverHTTP goes from the front to the platform and back.
func TestServicesOverHTTP(t *testing.T) {
	srv := vertextest.New()
	client := serviceClient(t, srv)
	front := httptest.NewServer(client.Handler())
	defer front.Close()
	post := func(path, body string) (*http.Response, []byte) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			res.Body = nil // of a body that broke off
		}
		return res, data
	}
	res, data := post("/v1/images/generations", `{"model":"`+drawer+`","prompt":"A red kite","quality":"high"}`)
	var drawn gateway.ImageResponse
	if err := drawn.UnmarshalJSON(data); err != nil || res.StatusCode != 200 || len(drawn.Data) != 1 || !strings.Contains(res.Header.Get("x-gateway-warnings"), `"quality"`) {
		t.Errorf("%d %v %.200s", res.StatusCode, err, data)
	}
	res, data = post("/v1/rerank", `{"model":"semantic-ranker-fast-004","query":"capital","documents":["a","capital"],"return_documents":false}`)
	if want := `{"object":"list","model":"semantic-ranker-fast-004","results":[{"index":1,"relevance_score":1},{"index":0,"relevance_score":0.0001}],"provider":"vertex-ai"}`; string(data) != want {
		t.Errorf("%d %s", res.StatusCode, data)
	}
	res, data = post("/v1/audio/speech", `{"model":"gemini-2.5-flash-tts","input":"One two","voice":"alloy"}`)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "audio/wav" || string(data[:4]) != "RIFF" || res.ContentLength != int64(len(data)) {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	wav := data[44:]
	res, data = post("/v1/audio/speech", `{"model":"gemini-2.5-flash-tts","input":"One two","voice":"alloy","response_format":"pcm"}`)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "audio/pcm; rate=24000" || !bytes.Equal(data, wav) || res.Header.Get("x-gateway-provider") != "vertex-ai" {
		t.Errorf("%d %v, %d bytes", res.StatusCode, res.Header, len(data))
	}
	srv.Script(vertextest.Auto().CutAfterEvents(1))
	if res, data = post("/v1/audio/speech", `{"model":"gemini-2.5-flash-tts","input":"One two","voice":"alloy","response_format":"pcm"}`); res.StatusCode != 200 || res.Body != nil {
		t.Errorf("%d: %d bytes of a broken stream look whole", res.StatusCode, len(data))
	}
	res, data = post("/v1/audio/speech", `{"model":"gemini-2.5-flash-tts","input":"One two","voice":"alloy","response_format":"mp3"}`)
	if res.StatusCode != 400 || !strings.Contains(string(data), `"param":"response_format"`) {
		t.Errorf("%d %s", res.StatusCode, data)
	}
	list, err := http.Get(front.URL + "/v1/models") //nolint:noctx // of the test's own server
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = list.Body.Close() }()
	var models struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(list.Body).Decode(&models); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, m := range models.Data {
		count[m.ID]++
	}
	for _, id := range []string{"imagen-4.0-generate", "semantic-ranker-default", "gemini-2.5-flash-image"} {
		if count[id] != 1 {
			t.Errorf("%s is listed %d times", id, count[id])
		}
	}
	if slices.Contains([]int{count["imagen"], count["gemini"]}, 1) {
		t.Error("families are listed")
	}
}
