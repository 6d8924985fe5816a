package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/b650d4bf/gateway/logs"
)

// maxLine bounds a record, in bytes.
const maxLine = 64 << 20

// source is the flags that say where records are.
type source struct{ file, id, url, key string }

func (a *app) sourceFlags(cmd *cobra.Command, s *source) {
	f := cmd.Flags()
	f.StringVar(&s.file, "file", "", "JSONL `FILE` of records, or - for the standard input")
	f.StringVar(&s.url, "url", "", "address of a running front, such as http://localhost:8080 (default $GATEWAYCTL_URL)")
	f.StringVar(&s.key, "key", "", "API key of the front (default $GATEWAYCTL_KEY)")
	files(cmd, "file")
}

// place completes the flags from the environment.
func (a *app) place(s *source) error {
	if s.file != "" && s.url != "" {
		return usage("--file and --url exclude each other")
	}
	if s.file == "" {
		s.url = cmp.Or(s.url, a.getenv("GATEWAYCTL_URL"))
	}
	s.key = cmp.Or(s.key, a.getenv("GATEWAYCTL_KEY"))
	a.console.Hide(s.key)
	if s.url == "" {
		return nil
	}
	u, err := url.Parse(s.url)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return usage("--url is an address such as http://localhost:8080")
	}
	if password, ok := u.User.Password(); ok {
		a.console.Hide(password)
		_, rest, _ := strings.Cut(u.User.String(), ":") // as the address has it
		a.console.Hide(rest)
	}
	return nil
}

// fetch gets a path of the front.
func (s *source) fetch(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(s.url, "/")+path, http.NoBody)
	if err != nil {
		return err
	}
	if s.key != "" {
		req.Header.Set("X-Gateway-Api-Key", s.key)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err
		}
		return fmt.Errorf("the front at %s: %w", s.url, err)
	}
	defer res.Body.Close()
	data, err := limitRead(res.Body, maxLine)
	if err != nil {
		return fmt.Errorf("the front at %s: %w", s.url, err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the front at %s: %s", s.url, refusal(res.StatusCode, data))
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("the front at %s: its answer is no log's: %w", s.url, err)
	}
	return nil
}

// refusal is the sentence of an error envelope, with what can be done.
func refusal(status int, data []byte) string {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	text := http.StatusText(status)
	if json.Unmarshal(data, &body) == nil && body.Error.Message != "" {
		text = body.Error.Message
	}
	text = fmt.Sprintf("%d: %s", status, text)
	switch status {
	case http.StatusUnauthorized:
		text += " (--key)"
	case http.StatusNotFound:
		text += " (has the front a log, and the log this record?)"
	}
	return text
}

// record finds the one record that is meant: of the front, in a file by its id, or
// the only one of a file.
func (a *app) record(ctx context.Context, s *source) (*logs.Record, error) {
	if s.url != "" {
		if s.id == "" {
			return nil, usage("name the record: gatewayctl replay --url URL ID")
		}
		r := new(logs.Record)
		return r, s.fetch(ctx, "/v1/logs/"+url.PathEscape(s.id), r)
	}
	var in io.Reader = a.console.In
	if s.file != "-" {
		f, err := os.Open(s.file)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	var found *logs.Record
	n := 0
	passed, err := eachRecord(in, func(r *logs.Record) error {
		if n++; s.id == "" || r.ID == s.id {
			found = r // the last one of an id is the one that counts
		}
		return nil
	})
	name := s.file
	if name == "-" {
		name = "the standard input"
	}
	passed.say(a.console, name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case found == nil && s.id != "":
		return nil, fmt.Errorf("%s: none of %s is %s", name, count(n, "record"), s.id)
	case found == nil:
		return nil, fmt.Errorf("%s: there is no record", name)
	case s.id == "" && n > 1:
		return nil, fmt.Errorf("%s: there are %d records: name one with --id", name, n)
	}
	return found, nil
}
