package cli

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
)

const embedLong = `Makes a vector of a text, or of each line of the standard input with --lines.
Each vector is a line of JSON.`

const embedExample = `  gatewayctl embed "a text"
  gatewayctl embed --dimensions 256 --lines - < texts.txt > vectors.jsonl`

func (a *app) embedCommand() *cobra.Command {
	model, task, dimensions, byLine := "", "", 0, false
	cmd := &cobra.Command{
		Use: "embed [flags] TEXT|-", Short: "Make vectors of texts", Long: embedLong, Example: embedExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.promptOf(args)
			if err != nil {
				return err
			}
			if text == "" {
				return usage("there is no text: gatewayctl embed TEXT, or - for the standard input")
			}
			texts := []string{text}
			if byLine {
				texts = strings.Split(text, "\n")
			}
			req := &gateway.EmbeddingRequest{Model: model, Input: gateway.EmbeddingTexts(texts...), TaskType: task}
			if dimensions != 0 {
				req.Dimensions = &dimensions
			}
			return a.call(cmd.Context(), func(ctx context.Context, l *link) error { return a.embed(ctx, l, req) })
		},
	}
	f := cmd.Flags()
	f.StringVarP(&model, "model", "m", "gemini-embedding-001", "model reference")
	f.StringVar(&task, "task", "", "what the vectors are for, such as RETRIEVAL_QUERY")
	f.IntVar(&dimensions, "dimensions", 0, "length of the vectors (default the model's)")
	f.BoolVar(&byLine, "lines", false, "a vector for each line")
	a.completeModels(cmd)
	a.placeFlags(cmd)
	a.wireFlags(cmd)
	return cmd
}

func (a *app) embed(ctx context.Context, l *link, req *gateway.EmbeddingRequest) error {
	stop := a.console.Spin(req.Model)
	defer stop()
	answer, err := l.Embeddings.Create(ctx, req)
	stop()
	if err != nil {
		a.failedMeta(err)
		return err
	}
	for i := range answer.Data {
		var b strings.Builder
		for j, x := range answer.Data[i].Embedding {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%v", x)
		}
		if err := a.console.Out("[" + b.String() + "]\n"); err != nil {
			return err
		}
	}
	if !a.quiet {
		text := fmt.Sprintf("%s · %s", answer.Model, count(len(answer.Data), "vector"))
		if answer.Usage != nil {
			text += " · " + count(int(answer.Usage.PromptTokens), "token")
		}
		a.console.Say(console.Dim, "%s\n", text)
	}
	a.remark(&answer.Meta)
	return nil
}

const imageLong = `Draws images and writes them to files. The names go to the standard output.
A file that is there already is kept, unless --force says otherwise.`

const imageExample = `  gatewayctl image -o cat.png "A cat on a mat"
  gatewayctl image -n 4 --ratio 16:9 -o draft.png "A harbour at dawn"`

func (a *app) imageCommand() *cobra.Command {
	req, n, out, force := &gateway.ImageRequest{}, 1, "", false
	cmd := &cobra.Command{
		Use: "image [flags] PROMPT|-", Short: "Draw images into files", Long: imageLong, Example: imageExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			prompt, err := a.promptOf(args)
			if err != nil {
				return err
			}
			if prompt == "" {
				return usage("the prompt is empty: gatewayctl image PROMPT, or - for the standard input")
			}
			req.Prompt, req.N = prompt, &n
			if ext := strings.ToLower(filepath.Ext(out)); ext == ".jpg" || ext == ".jpeg" {
				req.OutputFormat = "jpeg"
			}
			return a.call(cmd.Context(), func(ctx context.Context, l *link) error { return a.draw(ctx, l, req, out, force) })
		},
	}
	f := cmd.Flags()
	f.StringVarP(&req.Model, "model", "m", "gemini-2.5-flash-image", "model reference")
	f.IntVarP(&n, "n", "n", 1, "how many images")
	f.StringVar(&req.Size, "size", "", "size, such as 1024x1024")
	f.StringVar(&req.AspectRatio, "ratio", "", "shape, such as 16:9")
	f.StringVarP(&out, "output", "o", "image.png", "`FILE` to write; further images get a number")
	f.BoolVar(&force, "force", false, "replace files that are there")
	files(cmd, "output")
	a.completeModels(cmd)
	a.placeFlags(cmd)
	a.wireFlags(cmd)
	return cmd
}

func (a *app) draw(ctx context.Context, l *link, req *gateway.ImageRequest, out string, force bool) error {
	stop := a.console.Spin(req.Model)
	defer stop()
	answer, err := l.Images.Generate(ctx, req)
	stop()
	if err != nil {
		a.failedMeta(err)
		return err
	}
	for i := range answer.Data {
		name := out
		if i > 0 {
			ext := filepath.Ext(out)
			name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(out, ext), i+1, ext)
		}
		data, err := base64.StdEncoding.DecodeString(answer.Data[i].B64JSON)
		if err != nil || len(data) == 0 {
			return errors.Join(fmt.Errorf("image %d: the answer has none", i+1), err)
		}
		if err := writeNew(name, data, force); err != nil {
			return err
		}
		if err := a.console.Out(name + "\n"); err != nil {
			return err
		}
	}
	if !a.quiet {
		a.console.Say(console.Dim, "%s · %s\n", cmp.Or(answer.Meta.Model, req.Model), count(len(answer.Data), "image"))
	}
	a.remark(&answer.Meta)
	return nil
}

// writeNew writes a file that must not be there yet, unless it is forced.
func writeNew(name string, data []byte, force bool) error {
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(name, mode, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already: --force replaces it", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
