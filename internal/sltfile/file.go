// Package sltfile reads the form of test scripts: blocks of a command, its
// input and its expected output. docs/testing.md describes it.
package sltfile

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// File is a script.
type File struct {
	Path   string
	Blocks []*Block
	// Skip is the reason of "# millstream: skip": the script is for Flink alone.
	Skip  string
	lines []string
}

// Block is one command with its input and its expected output.
type Block struct {
	// Line is the number of the command's line, from 1; Input begins at
	// Line+1, the expected output at OutLine (or would begin there).
	Line, OutLine int
	// Cmd is the command's first word, Args the others.
	Cmd   string
	Args  []string
	Input []string
	Want  []string
	// outEnd is the line behind the output and its fence.
	outEnd int
}

// Read reads and parses a script.
func Read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, string(data))
}

// Parse parses the text of a script; path is for errors.
func Parse(path, text string) (*File, error) {
	f := &File{Path: path}
	sc := bufio.NewScanner(strings.NewReader(text))
	sc.Buffer(nil, 1<<26)
	for sc.Scan() {
		f.lines = append(f.lines, strings.TrimSuffix(sc.Text(), "\r"))
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := 0; i < len(f.lines); {
		line := strings.TrimSpace(f.lines[i])
		switch {
		case line == "":
			i++
		case strings.HasPrefix(line, "#"):
			f.directive(line)
			i++
		default:
			b, next, err := f.block(i)
			if err != nil {
				return nil, err
			}
			f.Blocks = append(f.Blocks, b)
			i = next
		}
	}
	return f, nil
}

// directive notes a comment that is for us. Those that begin with "flink:" are
// for Flink's runner of the same scripts.
func (f *File) directive(line string) {
	if rest, ok := strings.CutPrefix(strings.TrimSpace(line[1:]), "millstream: skip"); ok {
		f.Skip = strings.TrimSpace(rest)
	}
}

// block parses the block whose command stands in lines[i].
func (f *File) block(i int) (*Block, int, error) {
	words := strings.Fields(f.lines[i])
	b := &Block{Line: i + 1, Cmd: words[0], Args: words[1:]}
	j := i + 1
	for ; j < len(f.lines) && f.lines[j] != "----"; j++ {
		b.Input = append(b.Input, f.lines[j])
	}
	if j == len(f.lines) {
		return nil, 0, fmt.Errorf("%s:%d: the block %q has no line ----", f.Path, b.Line, b.Cmd)
	}
	j++
	b.OutLine = j + 1
	if j < len(f.lines) && f.lines[j] == "----" {
		return f.fenced(b, j+1)
	}
	for ; j < len(f.lines) && strings.TrimSpace(f.lines[j]) != ""; j++ {
		b.Want = append(b.Want, f.lines[j])
	}
	b.outEnd = j
	return b, j, nil
}

// fenced reads output up to a doubled line ----.
func (f *File) fenced(b *Block, j int) (*Block, int, error) {
	for ; j+1 < len(f.lines); j++ {
		if f.lines[j] == "----" && f.lines[j+1] == "----" {
			b.outEnd = j + 2
			return b, j + 2, nil
		}
		b.Want = append(b.Want, f.lines[j])
	}
	return nil, 0, fmt.Errorf("%s:%d: the output of %q has no closing pair of lines ----", f.Path, b.Line, b.Cmd)
}

// Rewrite returns the script's text with other outputs: got[i] is that of
// Blocks[i].
func (f *File) Rewrite(got [][]string) string {
	var out []string
	at := 0
	for i, b := range f.Blocks {
		out = append(out, f.lines[at:b.OutLine-1]...)
		blank := false
		for _, l := range got[i] {
			blank = blank || strings.TrimSpace(l) == ""
		}
		if blank {
			out = append(out, "----")
		}
		out = append(out, got[i]...)
		if blank {
			out = append(out, "----", "----")
		}
		at = b.outEnd
	}
	out = append(out, f.lines[at:]...)
	return strings.Join(out, "\n") + "\n"
}
