package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/cli"
)

var update = flag.Bool("update", false, "write the outputs into the golden files")

// TestBadInput runs scripts that are wrong, or whose data is, through the
// command line. A file below testdata holds the script, its input files, and
// what the program has to say.
func TestBadInput(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".txt"), func(t *testing.T) {
			full, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			old, err := os.ReadFile(full)
			if err != nil {
				t.Fatal(err)
			}
			got := runCase(t, string(old))
			if *update {
				if err := os.WriteFile(full, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(old) {
				t.Errorf("got\n%s\nwant\n%s", got, old)
			}
		})
	}
}

// outputs are the sections that the program fills in; the others are files.
var outputs = []string{"exit", "stdout", "stderr"}

// runCase runs the script of a case, and returns the case with what came out.
// In the files ${NUL} stands for a byte 0, and ${CUT} takes the line break
// behind it away.
func runCase(t *testing.T, text string) string {
	t.Chdir(t.TempDir())
	var out strings.Builder
	for _, s := range sections(text) {
		if isOutput(s.name) {
			continue
		}
		fmt.Fprintf(&out, "-- %s --\n%s", s.name, s.text)
		content := strings.NewReplacer("${NUL}", "\x00", "${CUT}\n", "").Replace(s.text)
		if err := os.WriteFile(s.name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	status := cli.Main([]string{"run", "job.sql"}, strings.NewReader(""), &stdout, &stderr)
	if strings.Contains(stderr.String(), "goroutine") {
		t.Errorf("a stack trace:\n%s", &stderr)
	}
	fmt.Fprintf(&out, "-- exit --\n%d\n", status)
	for i, b := range []*bytes.Buffer{&stdout, &stderr} {
		if b.Len() > 0 {
			fmt.Fprintf(&out, "-- %s --\n%s", outputs[i+1], b)
		}
	}
	return out.String()
}

func isOutput(name string) bool {
	for _, o := range outputs {
		if name == o {
			return true
		}
	}
	return false
}

// section is a part of a golden file: what follows a line "-- name --".
type section struct{ name, text string }

func sections(text string) []section {
	var out []section
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- ")
		name, ends := strings.CutSuffix(name, " --")
		if ok && ends {
			out = append(out, section{name: name})
			continue
		}
		if len(out) > 0 {
			out[len(out)-1].text += line
		}
	}
	return out
}
