// Media sends an image, a PDF, a video and audio, counts their tokens before
// they are sent, and shows what a refusal says.
//
//	go -C examples run ./media
//
// The platform is an emulator in the same process. With GOOGLE_CLOUD_PROJECT set,
// the calls go to the real one (GOOGLE_CLOUD_LOCATION, default global;
// GATEWAY_MODEL, default gemini-3-flash-preview).
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/examples/internal/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "media:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string) error {
	client, err := gateway.New(demo.Options(getenv)...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	d := desk{demo.NewPage(out, getenv), client, cmp.Or(getenv("GATEWAY_MODEL"), "gemini-3-flash-preview")}

	square, err := picture()
	if err != nil {
		return err
	}
	// Each part has a resolution of its own on Gemini 3 and later.
	closely := gateway.MediaPart("image/png", square)
	closely.ImageURL.Detail = "high"

	for _, q := range []struct {
		title, text string
		part        gateway.ContentPart
	}{
		{"1  An image from memory, in high resolution", "Which colour is this?", closely},
		{"2  A PDF in Cloud Storage", "What is this paper about?",
			gateway.FilePart("gs://cloud-samples-data/generative-ai/pdf/2312.11805v3.pdf")},
		{"3  Five seconds of a video, two frames of each", "Which animals are there?",
			gateway.VideoPart("gs://cloud-samples-data/video/animals.mp4",
				gateway.VideoClip{Start: 10 * time.Second, End: 15 * time.Second, FPS: 2})},
		{"4  Audio from memory", "What is to be heard?", gateway.AudioPart("wav", silence())},
	} {
		d.page.Title(q.title)
		if err := d.ask(ctx, q.text, q.part); err != nil {
			return err
		}
	}

	d.page.Title("5  What is refused, before anything is sent")
	for _, part := range []gateway.ContentPart{
		gateway.FilePart("gs://my-bucket/minutes.docx"),
		gateway.FilePart("gs://my-bucket/scan"),
		gateway.MediaPart("image/png", make([]byte, 8<<20)),
	} {
		err := d.ask(ctx, "What is this?", part)
		refused, ok := errors.AsType[*gateway.Error](err)
		switch {
		case ok:
			d.page.Say("error", fmt.Sprintf("%s\nin %s\n%s", refused.Code, refused.Param, refused.Message))
		case err != nil:
			return err
		} // else the model takes it: Gemini 4 reads office documents
	}
	return nil
}

// desk asks about media.
type desk struct {
	page   demo.Page
	client *gateway.Client
	model  string
}

// ask counts the tokens of a question, and then asks it.
func (d desk) ask(ctx context.Context, text string, part gateway.ContentPart) error {
	req := &gateway.ChatCompletionRequest{
		Model:    d.model,
		Messages: []gateway.Message{gateway.UserMessage([]gateway.ContentPart{part, gateway.TextPart(text)})},
	}
	if err := d.show(text, part); err != nil {
		return err
	}
	count, err := d.client.Chat.Completions.CountTokens(ctx, req)
	if err != nil {
		return err
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(count.ByModality)) {
		kinds = append(kinds, fmt.Sprintf("%d of %s", count.ByModality[kind], kind))
	}
	d.page.Note("%d tokens, counted before sending: %s", count.TotalTokens, strings.Join(kinds, ", "))
	answer, err := d.client.Chat.Completions.Create(ctx, req)
	if err != nil {
		return err
	}
	d.page.Say("assistant", answer.Text())
	d.page.Warnings(answer.Meta)
	return nil
}

// show prints the question with its part, whose long base64 is cut short.
func (d desk) show(text string, part gateway.ContentPart) error {
	written, err := json.Marshal(part)
	if err != nil {
		return err
	}
	if n := len(written); n > 200 {
		written = slices.Concat(written[:90], []byte(" … "), written[n-40:])
	}
	d.page.Say("user", text+"\n"+string(written))
	return nil
}

// picture is a red square, as a PNG file.
func picture() ([]byte, error) {
	img := image.NewPaletted(image.Rect(0, 0, 64, 64), color.Palette{color.RGBA{R: 0xd0, A: 0xff}})
	var file bytes.Buffer
	err := png.Encode(&file, img)
	return file.Bytes(), err
}

// silence is a second of it, as a WAV file: 8000 samples of 16 bits.
func silence() []byte {
	const rate, size = 8000, 2 * 8000
	le := binary.LittleEndian
	file := le.AppendUint32([]byte("RIFF"), 36+size)
	file = le.AppendUint32(append(file, "WAVEfmt "...), 16)
	for _, v := range []uint16{1, 1, rate, 0, 2 * rate, 0, 2, 16} { // plain samples, one channel
		file = le.AppendUint16(file, v)
	}
	file = le.AppendUint32(append(file, "data"...), size)
	return append(file, make([]byte, size)...)
}
