package test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// promisesFile is the table of what is promised, with the tests that show it.
const promisesFile = "../docs/promises.md"

var promiseLink = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)

// TestPromises checks that each promise names tests, and that these are there
// and run.
func TestPromises(t *testing.T) {
	text, err := os.ReadFile(promisesFile)
	if err != nil {
		t.Fatal(err)
	}
	pending, rows := readPending(t), 0
	for n, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| promise ") {
			continue
		}
		rows++
		if len(cells) != 2 || !promiseLink.MatchString(cells[1]) {
			t.Errorf("%s:%d: no row of a promise and its tests: %s", promisesFile, n+1, line)
			continue
		}
		for _, m := range promiseLink.FindAllStringSubmatch(cells[1], -1) {
			if msg := promiseTest(m[1], filepath.Join("../docs", m[2]), pending); msg != "" {
				t.Errorf("%s:%d: %s", promisesFile, n+1, msg)
			}
		}
	}
	if rows < 60 {
		t.Errorf("%s has only %d promises", promisesFile, rows)
	}
}

// promiseTest says what is wrong with a test that is named; nothing if it is
// there, and is run.
func promiseTest(name, path string, pending map[string]string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	switch filepath.Ext(path) {
	case ".go":
		if !strings.HasSuffix(path, "_test.go") || !strings.Contains(string(text), "\nfunc "+name+"(") {
			return path + " has no test " + name
		}
	case ".slt":
		rel, err := filepath.Rel("../test/cases", path)
		if reason := pending[filepath.ToSlash(rel)]; err != nil || reason != "" {
			return path + " does not pass yet: " + reason
		}
		if strings.Contains(string(text), "# millstream: skip") {
			return path + " is skipped"
		}
	case ".txt":
	default:
		return path + " is no test"
	}
	return ""
}
