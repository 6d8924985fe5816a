// Package testkit holds what the tests of several packages need: text archives
// with the files of one scenario, and golden files that a flag rewrites. Only
// tests import it.
//
// # Archives
//
// An archive is text: a comment, and then files, each after a line that is
// "-- NAME --". The format is that of [golang.org/x/tools/txtar]; it holds no
// line that looks like such a marker, and a file ends with a line feed.
//
// [golang.org/x/tools/txtar]: https://pkg.go.dev/golang.org/x/tools/txtar
package testkit

import (
	"bytes"
	"strings"
)

// Archive is a comment and a list of files.
type Archive struct {
	Comment []byte
	Files   []File
}

// File is one file of an archive.
type File struct {
	Name string
	Data []byte
}

// Parse reads an archive. Any text is one: what is no marker belongs to the
// file, or to the comment, before it. The files alias data.
func Parse(data []byte) *Archive {
	a := new(Archive)
	var name string
	a.Comment, name, data = cutMarker(data)
	for name != "" {
		f := File{Name: name}
		f.Data, name, data = cutMarker(data)
		a.Files = append(a.Files, f)
	}
	return a
}

// Format writes the archive. A file that does not end with a line feed gets one.
func (a *Archive) Format() []byte {
	var b bytes.Buffer
	writeText(&b, a.Comment)
	for _, f := range a.Files {
		b.WriteString("-- " + f.Name + " --\n")
		writeText(&b, f.Data)
	}
	return b.Bytes()
}

// Get returns a file's data, or nil when there is no such file.
func (a *Archive) Get(name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// Set replaces a file's data, or adds the file at the end. Empty data takes the
// file out.
func (a *Archive) Set(name string, data []byte) {
	for i, f := range a.Files {
		switch {
		case f.Name != name:
			continue
		case len(data) == 0:
			a.Files = append(a.Files[:i:i], a.Files[i+1:]...)
		default:
			a.Files[i].Data = data
		}
		return
	}
	if len(data) > 0 {
		a.Files = append(a.Files, File{name, data})
	}
}

func writeText(b *bytes.Buffer, text []byte) {
	b.Write(text)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		b.WriteByte('\n')
	}
}

// cutMarker returns the text before the first marker, the marker's name, and
// the text after its line. Without a marker, name is empty.
func cutMarker(data []byte) (before []byte, name string, after []byte) {
	for from := 0; from < len(data); {
		line, _, _ := bytes.Cut(data[from:], []byte("\n"))
		end := min(from+len(line)+1, len(data))
		if name := markerName(line); name != "" {
			return data[:from], name, data[end:]
		}
		from = end
	}
	return data, "", nil
}

func markerName(line []byte) string {
	s := strings.TrimSuffix(string(line), "\r")
	rest, ok := strings.CutPrefix(s, "-- ")
	if !ok {
		return ""
	}
	name, ok := strings.CutSuffix(rest, " --")
	if !ok {
		return ""
	}
	return strings.TrimSpace(name)
}
