package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// screen is a program at a pseudo terminal, with all that it has written.
type screen struct {
	t    *testing.T
	cmd  *exec.Cmd
	keys *os.File
	end  chan struct{} // closed when nothing more is written

	mu   sync.Mutex
	text bytes.Buffer
	seen int // what was waited for already
}

// atTerminal starts a program whose three streams are one terminal.
func atTerminal(t *testing.T, cmd *exec.Cmd) *screen {
	t.Helper()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 160})
	if err != nil {
		t.Skip("no pseudo terminals here: ", err)
	}
	s := &screen{t: t, cmd: cmd, keys: f, end: make(chan struct{})}
	go func() {
		defer close(s.end)
		_, _ = io.Copy(s, f)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = f.Close()
		<-s.end
	})
	return s
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until the text is written, behind what was waited for before.
func (s *screen) await(text string) {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		all := s.all()
		if i := strings.Index(all[s.seen:], text); i >= 0 {
			s.seen += i + len(text)
			return
		}
	}
	s.t.Fatalf("%q is not written behind\n%q\nbut\n%q", text, s.all()[:s.seen], s.all()[s.seen:])
}

// typed waits for the prompt and types a line.
func (s *screen) typed(line string) {
	s.t.Helper()
	s.await("> ")
	s.press(line + "\r")
}

func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := s.keys.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// code waits for the end and returns the exit code.
func (s *screen) code() int {
	s.t.Helper()
	return exitCode(s.t, s.cmd.Wait())
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
)

// TestTerminalLooks checks where there are colours and progress.
func TestTerminalLooks(t *testing.T) {
	tests := []struct {
		name            string
		env             []string
		args            []string
		colours, spins  bool
		withinTheStream bool
	}{
		{"a terminal has both", nil, nil, true, true, true},
		{"NO_COLOR leaves progress", []string{"NO_COLOR=1"}, nil, false, true, true},
		{"--no-color likewise", nil, []string{"--no-color"}, false, true, true},
		{"a dumb terminal has neither", []string{"TERM=dumb"}, nil, false, false, true},
		{"nor has CI", []string{"CI=true"}, nil, false, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, url := platform(t, vertextest.WithLatency(50*time.Millisecond))
			args := append([]string{"chat", "--base-url", url, "--project", "p", "--token", "t0ken-canary", "Tell me"}, tt.args...)
			s := atTerminal(t, command(t, t.TempDir(), tt.env, args...))
			s.await(`You said: "Tell me".`)
			s.await("tokens")
			if code := s.code(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			all := s.all()
			if got := strings.Contains(all, "\x1b[2m"); got != tt.colours {
				t.Errorf("colours %v, want %v: %q", got, tt.colours, all)
			}
			if got := strings.Contains(all, "⠋"); got != tt.spins {
				t.Errorf("progress %v, want %v: %q", got, tt.spins, all)
			}
			if got := strings.Contains(all, "first after"); got != tt.withinTheStream {
				t.Errorf("streamed %v, want %v: %q", got, tt.withinTheStream, all)
			}
		})
	}
}

// TestPipesArePlain checks that a pipe beside a terminal is one.
func TestPipesArePlain(t *testing.T) {
	cmd := command(t, t.TempDir(), nil, "chat", "--emulator", "Tell me")
	var out bytes.Buffer
	terminal, other, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo terminals here: ", err)
	}
	defer func() { _ = terminal.Close() }()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = other, &out, other
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = other.Close()
	remarks, _ := io.ReadAll(terminal) // ends with an error when the program does
	if code := exitCode(t, cmd.Wait()); code != 0 || out.String() != "You said: \"Tell me\".\n" {
		t.Errorf("exit code %d, output %q", code, out.String())
	}
	if !strings.Contains(string(remarks), "\x1b[2m") {
		t.Errorf("remarks have no colours: %q", remarks)
	}
}

// TestModelsCannotSteerTheTerminal checks that control characters of an answer
// arrive at no terminal.
func TestModelsCannotSteerTheTerminal(t *testing.T) {
	srv, url := platform(t)
	srv.Script(vertextest.Text("be\x1b]0;owned\x07fore \x1b[2Jafter"))
	s := atTerminal(t, command(t, t.TempDir(), nil, "chat", "--base-url", url, "--project", "p", "--token", "t", "hi"))
	s.await("after")
	s.code()
	if all := s.all(); strings.Contains(all, "\x1b]0") || strings.Contains(all, "\x1b[2J") || !strings.Contains(all, "\ufffd]0;owned") {
		t.Errorf("%q", all)
	}
}

// conversation starts one with an emulator on a socket.
func conversation(t *testing.T, args ...string) (*screen, *vertextest.Server, string) {
	t.Helper()
	srv, url := platform(t)
	dir := t.TempDir()
	s := atTerminal(t, command(t, dir, nil, append([]string{"chat", "--base-url", url, "--project", "p", "--token", "t0ken-canary"}, args...)...))
	return s, srv, dir
}

// contents are the texts of the turns of a request.
func contents(t *testing.T, body []byte) []string {
	t.Helper()
	var req struct {
		Contents []struct {
			Parts []struct{ Text string }
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range req.Contents {
		text := ""
		for _, p := range c.Parts {
			text += p.Text
		}
		out = append(out, text)
	}
	return out
}

func TestConversation(t *testing.T) {
	s, srv, dir := conversation(t, "--system", "Be brief.")
	s.typed("first thing")
	s.await(`You said: "first thing".`)
	s.typed(`second \`)
	s.await(". ")
	s.press("thing\r")
	s.await(`thing".`)
	s.typed("/model gemini-2.5-pro")
	s.await("model gemini-2.5-pro")
	s.typed("third thing")
	s.await(`You said: "third thing".`)
	s.typed("/save talk.json")
	s.await("saved 7 messages")
	s.typed("/reset")
	s.await("forgotten")
	s.typed("/nonsense")
	s.await("there is no /nonsense")
	s.typed("/help")
	s.await("/quit")
	s.typed("fourth thing")
	s.await(`You said: "fourth thing".`)
	s.await("> ")
	s.press("\x1b[A\r") // the line before
	s.await(`You said: "fourth thing".`)
	s.await("> ")
	s.press(ctrlD)
	if code := s.code(); code != 0 {
		t.Errorf("exit code %d: %q", code, s.all())
	}
	requests := srv.Requests()
	if len(requests) != 5 {
		t.Fatalf("%d requests, want 5", len(requests))
	}
	if got := contents(t, requests[2].Body); len(got) != 5 || got[0] != "first thing" || got[2] != "second \nthing" || got[4] != "third thing" {
		t.Errorf("the third request has %q", got)
	}
	if got := contents(t, requests[3].Body); len(got) != 1 || got[0] != "fourth thing" {
		t.Errorf("after /reset the request has %q", got)
	}
	if !strings.Contains(requests[2].Path, "gemini-2.5-pro") {
		t.Errorf("after /model the path is %s", requests[2].Path)
	}
	got := run(t, command(t, dir, nil, "tokens", "--emulator", "--request", "talk.json"), "")
	if got.code != 0 || got.out == "" {
		t.Errorf("the saved conversation can't be used: %+v", got)
	}
}

// TestConversationKeepsSignatures has a tool called by a model that wants its
// signatures back.
func TestConversationKeepsSignatures(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool.json")
	write(t, tool, `{"name":"get_weather","parameters":{"type":"object","properties":{"location":{"type":"string"}},"required":["location"]}}`)
	s, srv, saved := conversation(t, "--tool", tool, "-m", "gemini-3-pro")
	s.typed("What is the weather in Paris?")
	s.await(`get_weather({"location":"Paris"})`)
	s.await("what does get_weather give?")
	s.await("= ")
	s.press(`{"sky":"blue"}` + "\r")
	s.await("blue")
	s.await("tokens")
	s.typed("/save talk.json")
	s.await("saved 4 messages")
	s.typed("/quit")
	if code := s.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requests := srv.Requests()
	if len(requests) != 2 || !strings.Contains(string(requests[1].Body), "thoughtSignature") {
		t.Errorf("%d requests; the last has no signature", len(requests))
	}
	if n := srv.SentinelUses(); n != 0 {
		t.Errorf("%d signatures were stood in for", n)
	}
	text, err := os.ReadFile(filepath.Join(saved, "talk.json"))
	if err != nil || !strings.Contains(string(text), "signature") {
		t.Errorf("what was saved has no signature, error %v:\n%s", err, text)
	}
	if info, err := os.Stat(filepath.Join(saved, "talk.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read what was saved: %v, error %v", info.Mode(), err)
	}
}

func TestInterruptEndsTheAnswerAlone(t *testing.T) {
	s, srv, _ := conversation(t)
	srv.Script(vertextest.Text(strings.Repeat("so slow ", 1000)).Paced(200 * time.Millisecond))
	s.typed("Tell me all")
	s.await("so slow")
	s.press(ctrlC)
	s.await("stopped")
	s.await("> ")
	s.press("half a line" + ctrlC)
	s.await("^C")
	s.typed("second thing")
	s.await(`You said: "second thing".`)
	s.await("> ")
	s.press(ctrlD)
	if code := s.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requests := srv.Requests()
	if got := contents(t, requests[len(requests)-1].Body); len(got) != 1 {
		t.Errorf("what was stopped is kept: %q", got)
	}
}

func TestErrorsDoNotEndAConversation(t *testing.T) {
	s, srv, _ := conversation(t)
	srv.Script(vertextest.Text("Cut.").CutAfterEvents(1))
	s.typed("one")
	s.await("error: ")
	s.typed("two")
	s.await(`You said: "two".`)
	s.typed("/quit")
	if code := s.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestTermination checks that SIGTERM at the prompt leaves a terminal as it was.
func TestTermination(t *testing.T) {
	before := terminalState(t, nil)
	s, _, _ := conversation(t)
	s.await("> ")
	if raw := terminalState(t, s.keys); raw == before {
		t.Errorf("the terminal is not in a mode of the program's: %s", raw)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := s.code(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if after := terminalState(t, s.keys); after != before {
		t.Errorf("the terminal is left in %s, was in %s", after, before)
	}
}

// terminalState describes the mode of a terminal; nil is a fresh one.
func terminalState(t *testing.T, f *os.File) string {
	t.Helper()
	if f == nil {
		master, other, err := pty.Open()
		if err != nil {
			t.Skip("no pseudo terminals here: ", err)
		}
		defer func() { _ = master.Close() }()
		defer func() { _ = other.Close() }()
		f = master
	}
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%+v", *state)
}

func TestInterruptedCommands(t *testing.T) {
	for _, args := range [][]string{
		{"chat", "hi"}, {"chat", "--stream", "hi"}, {"chat", "--explain=full", "hi"}, {"tokens", "hi"}, {"embed", "hi"}, {"logs", "--file", "logs.jsonl", "--follow"},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			t.Parallel()
			srv, url := platform(t, vertextest.WithLatency(time.Minute))
			if args[0] != "logs" {
				args = append(args, "--base-url", url, "--project", "p", "--token", "t0ken-canary")
			}
			dir := t.TempDir()
			write(t, filepath.Join(dir, "logs.jsonl"), `{"id":"r1","operation":"chat"}`+"\n")
			cmd := command(t, dir, nil, args...)
			out, errs := &lockedBuffer{}, &lockedBuffer{}
			cmd.Stdout, cmd.Stderr = out, errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for args[0] != "logs" && len(srv.Requests()) == 0 {
				time.Sleep(5 * time.Millisecond)
			}
			for args[0] == "logs" && !strings.Contains(out.String(), "r1") {
				time.Sleep(5 * time.Millisecond)
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if code := exitCode(t, cmd.Wait()); code != 130 || !strings.Contains(errs.String(), "interrupted") {
				t.Errorf("exit code %d, want 130: %s", code, errs.String())
			}
		})
	}
}
