package process

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the outputs into the documents and the files of testdata")

// TestDocuments does what the README and the quick start tell: it writes their
// files (blocks with a file's name) and runs their commands (lines that begin
// with "$ " in blocks of kind console), whose outputs must be those printed.
func TestDocuments(t *testing.T) {
	for _, doc := range []string{"README.md", "docs/quickstart.md"} {
		t.Run(filepath.Base(doc), func(t *testing.T) {
			full, err := filepath.Abs(filepath.Join("../..", doc))
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(full)
			if err != nil {
				t.Fatal(err)
			}
			p := newPlace(t)
			examples, err := filepath.Abs("../../examples")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(examples, p.path("examples")); err != nil {
				t.Fatal(err)
			}
			got := p.follow(string(text))
			if *update {
				if err := os.WriteFile(full, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// follow does what a document tells, and returns it with the outputs that came
// where those printed are wrong.
func (p *place) follow(doc string) string {
	p.t.Helper()
	lines := strings.Split(doc, "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		info, ok := strings.CutPrefix(lines[i], "```")
		if !ok {
			continue
		}
		end := i + 1
		for lines[end] != "```" {
			end++
		}
		block := lines[i+1 : end]
		_, file, isFile := strings.Cut(info, " ")
		switch {
		case isFile:
			p.write(file, strings.Join(block, "\n")+"\n")
		case info == "console":
			block = p.commands(block)
		}
		out = append(append(out, block...), lines[end])
		i = end
	}
	return strings.Join(out, "\n")
}

// commands runs the commands of a block and compares their outputs.
func (p *place) commands(block []string) []string {
	p.t.Helper()
	var out []string
	for i := 0; i < len(block); i++ {
		out = append(out, block[i])
		cmd, ok := strings.CutPrefix(block[i], "$ ")
		if !ok {
			continue
		}
		end := i + 1
		for end < len(block) && !strings.HasPrefix(block[end], "$ ") {
			end++
		}
		want := block[i+1 : end]
		got := p.shell(cmd)
		if !printedAs(got, want) {
			if !*update {
				p.t.Errorf("$ %s\ngot\n%s\nwant\n%s", cmd, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			want = got
		}
		out = append(out, want...)
		i = end - 1
	}
	return out
}

// printedAs compares outputs; three dots stand for anything within a line.
func printedAs(got, want []string) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		parts := strings.Split(want[i], "...")
		for j := range parts {
			parts[j] = regexp.QuoteMeta(parts[j])
		}
		if !regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(got[i]) {
			return false
		}
	}
	return true
}

// shell runs a command line, in which millstream is the program under test, and
// returns the lines that it prints.
func (p *place) shell(line string) []string {
	p.t.Helper()
	c := exec.Command("bash", "-c", line)
	c.Dir = p.dir
	c.Env = append(os.Environ(), "LC_ALL=C", "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	// A command may well fail; then its output says so.
	out, _ := c.CombinedOutput()
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}
