package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// roleVariable says what the program is when another one of it has started it.
const roleVariable = "GATEWAY_SOAK_ROLE"

// The roles.
const (
	roleEmulator = "emulator"
	roleGateway  = "gateway"
)

// sample is the state of a process.
type sample struct {
	// Heap is what is alive after a forced collection, RSS and PeakRSS what the system
	// counts, in bytes; CPU is the time used since the start.
	Heap, RSS, PeakRSS int64
	Goroutines, FDs    int
	CPU                time.Duration
	At                 time.Time
	Open               int64 // calls under way
	Emulator           emulatorCounts
}

// takeSample looks at this process.
func takeSample() (sample, error) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s := sample{Heap: int64(m.HeapAlloc), Goroutines: runtime.NumGoroutine(), At: time.Now()}
	var err error
	if s.FDs, err = openFiles(); err != nil {
		return s, err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return s, err
	}
	s.RSS, s.PeakRSS = statusBytes(status, "VmRSS:"), statusBytes(status, "VmHWM:")
	s.CPU, err = cpuTime()
	return s, err
}

// writeHeap writes the profile of the heap as the last collection left it.
func writeHeap(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
}

// openFiles counts the file descriptors of this process.
func openFiles() (int, error) {
	dir, err := os.ReadDir("/proc/self/fd")
	return len(dir) - 1, err // one is the directory's own
}

// cpuTime is what this process has used.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// statusBytes is a row of /proc/self/status, which counts in kB.
func statusBytes(status []byte, name string) int64 {
	_, rest, _ := bytes.Cut(status, []byte(name))
	fields := strings.Fields(string(rest))
	if len(fields) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// fileLimit is how many file descriptors a process may have.
func fileLimit() (int, error) {
	var l syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return int(min(l.Cur, 1<<30)), err
}

// command is what a process is told, on a line of its standard input; reply is what
// it says to that, on a line of its standard output.
type command struct {
	Do  string
	Arg json.RawMessage `json:",omitempty"`
}

type reply struct {
	Error  string          `json:",omitempty"`
	Answer json.RawMessage `json:",omitempty"`
}

// obey does what it is told until nobody tells it anything anymore.
func obey(in io.Reader, out io.Writer, do func(command) (any, error)) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		var c command
		if err == nil {
			err = json.Unmarshal(line, &c)
		}
		if err != nil {
			return err
		}
		var r reply
		answer, err := do(c)
		if err == nil {
			r.Answer, err = json.Marshal(answer)
		}
		if err != nil {
			r.Error = err.Error()
		}
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
	}
}

// process is another process of this program.
type process struct {
	role string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// startProcess runs this program in a role. It ends with ctx at the latest, and when
// this process does.
func startProcess(ctx context.Context, role string, env ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self) //nolint:gosec // it is this program
	cmd.Env = append(append(os.Environ(), roleVariable+"="+role), env...)
	cmd.Stderr = os.Stderr //nolint:forbidigo // what a crash says belongs there
	p := &process{role: role, cmd: cmd}
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, cmd.Start()
}

// tell has the process do something and waits for its answer.
func (p *process) tell(do string, arg, answer any) error {
	text, err := json.Marshal(arg)
	if err != nil {
		return err
	}
	line, err := json.Marshal(command{do, text})
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("%s: %s: %w", p.role, do, err)
	}
	line, err = p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s: %s: it ended: %w", p.role, do, err)
	}
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("%s: %s: %w", p.role, do, err)
	}
	if r.Error != "" {
		return fmt.Errorf("%s: %s: %s", p.role, do, r.Error)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(r.Answer, answer)
}

// end closes the input, which ends the process.
func (p *process) end() error {
	return errors.Join(p.in.Close(), p.cmd.Wait())
}
