package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	compatRow  = regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|.*$")
	compatLink = regexp.MustCompile(`\]\(([^)]+)\)`)
	differs    = regexp.MustCompile(`(?m)^(?:#|--) flink: differs (\S+)`)
)

// TestCompat: each case whose answer is deliberately not Flink's names a row of
// docs/compat.md, and each row names a test that exists.
func TestCompat(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	text, err := os.ReadFile(filepath.Join(docs, "compat.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range compatRow.FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = true
		links := compatLink.FindAllStringSubmatch(m[0], -1)
		if len(links) == 0 {
			t.Errorf("row %s has no test", m[1])
		}
		for _, l := range links {
			if _, err := os.Stat(filepath.Join(docs, l[1])); err != nil {
				t.Errorf("row %s: %v", m[1], err)
			}
		}
	}
	err = filepath.WalkDir(filepath.Join("..", "..", "test", "cases"), func(path string, e fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || e.IsDir() || ext != ".slt" && ext != ".sql" {
			return err
		}
		data, err := os.ReadFile(path)
		for _, m := range differs.FindAllStringSubmatch(string(data), -1) {
			if !rows[m[1]] {
				t.Errorf("%s differs from Flink by %q, which is no row of docs/compat.md", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
