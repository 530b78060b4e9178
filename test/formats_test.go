package test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/millstream-io/millstream/internal/cli"

	_ "github.com/millstream-io/millstream/connector/filesystem"
	_ "github.com/millstream-io/millstream/format/csv"
	_ "github.com/millstream-io/millstream/format/json"
	_ "github.com/millstream-io/millstream/format/raw"
)

// TestFormats runs the case folders of test/cases/formats: a job over files,
// and the lines that it prints and leaves.
func TestFormats(t *testing.T) {
	jobs, err := filepath.Glob("cases/formats/*/job.sql")
	if err != nil || len(jobs) == 0 {
		t.Fatal("no cases: ", err)
	}
	pending := readPending(t)
	var mu sync.Mutex
	passed, listed := 0, 0
	t.Run("all", func(t *testing.T) {
		for _, job := range jobs {
			dir := filepath.Dir(job)
			name := strings.TrimPrefix(filepath.ToSlash(dir), "cases/")
			reason, waits := pending[name]
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				err := checkFormat(t, dir)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case waits && err == nil:
					t.Errorf("%s passes, but is listed in %s as waiting for %s: remove the line", name, pendingFile, reason)
				case waits:
					listed++
				case err != nil:
					t.Error(err)
				default:
					passed++
				}
			})
		}
	})
	fmt.Printf("formats: %d cases passed, %d listed as waiting\n", passed, listed)
}

// checkFormat runs one case and compares its lines.
func checkFormat(t *testing.T, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	work := t.TempDir()
	out := filepath.Join(work, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "job.sql"))
	if err != nil {
		return err
	}
	job := filepath.Join(work, "job.sql")
	sql := strings.NewReplacer("${DIR}", dir, "${OUT}", out).Replace(string(text))
	if err := os.WriteFile(job, []byte(sql), 0o644); err != nil {
		return err
	}
	var stdout, stderr bytes.Buffer
	status := cli.Main([]string{"run", "--output", "changelog", "--data", filepath.Join(work, "data"), job},
		strings.NewReader(""), &stdout, &stderr)
	if _, err := os.Stat(filepath.Join(dir, "expected-error")); err == nil {
		if status == 0 {
			return fmt.Errorf("the job did not fail; it printed:\n%s", stdout.String())
		}
		return nil
	}
	if status != 0 {
		return fmt.Errorf("exit status %d:\n%s", status, stderr.String())
	}
	want, err := os.ReadFile(filepath.Join(dir, "expected.txt"))
	if err != nil {
		return err
	}
	got, err := lines(stdout.String(), out)
	if err != nil {
		return err
	}
	if w := strings.TrimSuffix(string(want), "\n"); w != got {
		return fmt.Errorf("got:\n%s\nwant:\n%s", got, w)
	}
	return nil
}

// lines returns what was printed and what stands in the files under out,
// sorted; a line of a file in a sub-folder after the folder's name.
func lines(printed, out string) (string, error) {
	all := split(printed)
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(out, filepath.Dir(path))
		if err != nil {
			return err
		}
		prefix := ""
		if rel != "." {
			prefix = filepath.ToSlash(rel) + ": "
		}
		for _, l := range split(string(data)) {
			all = append(all, prefix+l)
		}
		return nil
	})
	sort.Strings(all)
	return strings.Join(all, "\n"), err
}

func split(text string) []string {
	if text = strings.TrimSuffix(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
