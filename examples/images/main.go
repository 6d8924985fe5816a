// Images draws pictures, changes one of them where a mask allows it, and orders
// captions by how well they fit.
//
//	go -C examples run ./images -dir .
//
// The platform is an emulator in the same process. With GOOGLE_CLOUD_PROJECT set,
// the calls go to the real one (GOOGLE_CLOUD_LOCATION, default us-central1, where
// Imagen is; GATEWAY_MODEL, default imagen-4.0-generate-001).
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/examples/internal/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "images:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string, args []string) error {
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	dir := flags.String("dir", "", "`directory` for the pictures, default a new one for temporary files")
	err := flags.Parse(args)
	if err == nil && *dir == "" {
		*dir, err = os.MkdirTemp("", "pictures")
	}
	if err != nil {
		return err
	}
	region := gateway.WithRegion(cmp.Or(getenv("GOOGLE_CLOUD_LOCATION"), "us-central1"))
	client, err := gateway.New(append(demo.Options(getenv), region)...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	s := studio{demo.NewPage(out, getenv), *dir}

	s.page.Title("1  Two pictures; the size is the nearest that there is")
	drawn, err := client.Images.Generate(ctx, &gateway.ImageRequest{
		Model: cmp.Or(getenv("GATEWAY_MODEL"), "imagen-4.0-generate-001"), Prompt: "A red kite above the sea", N: new(2), Size: "1792x1024",
	})
	if err != nil {
		return err
	}
	files, err := s.keep(drawn, "kite")
	if err != nil {
		return err
	}

	s.page.Title("2  The first one, changed where the mask is transparent")
	mask, err := leftHalf(files[0])
	if err != nil {
		return err
	}
	changed, err := client.Images.Edit(ctx, &gateway.ImageRequest{
		Model: "imagen-3.0-capability-001", Prompt: "A second kite",
		Images: []gateway.ImageInput{gateway.ImageBytes("image/png", files[0])}, Mask: new(gateway.ImageBytes("image/png", mask)),
	})
	if err != nil {
		return err
	}
	if _, err := s.keep(changed, "kites"); err != nil {
		return err
	}

	s.page.Title("3  The caption that fits")
	ranked, err := client.Rerank.Create(ctx, &gateway.RerankRequest{
		Model: "semantic-ranker-default@latest", Query: "two kites above the sea", TopN: new(2),
		Documents: gateway.RerankTexts("A harbour at night", "Kites above the sea", "Two kites, and the sea below"),
	})
	if err != nil {
		return err
	}
	for _, r := range ranked.Results {
		s.page.Say(fmt.Sprintf("%.2f", r.RelevanceScore), r.Document.Text)
	}
	return nil
}

// studio keeps pictures.
type studio struct {
	page demo.Page
	dir  string
}

// keep saves the pictures of an answer and returns them.
func (s studio) keep(answer *gateway.ImageResponse, name string) ([][]byte, error) {
	s.page.Warnings(answer.Meta)
	var files [][]byte
	for i := range answer.Data {
		data, mimeType, err := answer.Data[i].Bytes()
		if err != nil {
			return nil, err
		}
		path := filepath.Join(s.dir, fmt.Sprintf("%s-%d.%s", name, i+1, answer.OutputFormat))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, err
		}
		s.page.Say("saved", path)
		s.page.Note("%s, %s, %d bytes", mimeType, answer.Size, len(data))
		files = append(files, data)
	}
	return files, nil
}

// leftHalf is a mask of a picture's size whose left half is transparent.
func leftHalf(picture []byte) ([]byte, error) {
	c, err := png.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	mask := image.NewNRGBA(image.Rect(0, 0, c.Width, c.Height))
	for y := range c.Height {
		for x := c.Width / 2; x < c.Width; x++ {
			mask.SetNRGBA(x, y, color.NRGBA{A: 255})
		}
	}
	var b bytes.Buffer
	err = png.Encode(&b, mask)
	return b.Bytes(), err
}
