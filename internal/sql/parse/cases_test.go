package parse

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// casesDir is the folder of test cases whose SQL must parse; MILLSTREAM_CASES names another one.
func casesDir() string {
	if dir := os.Getenv("MILLSTREAM_CASES"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "test", "cases")
}

// TestCases parses all SQL in the test cases, except what is expected to be an error.
func TestCases(t *testing.T) {
	err := filepath.WalkDir(casesDir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".slt":
			checkScriptFile(t, path)
		case ".sql":
			_, statErr := os.Stat(filepath.Join(filepath.Dir(path), "expected-error"))
			if statErr != nil {
				checkSQL(t, path, readFile(t, path))
			}
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func checkSQL(t *testing.T, where, src string) {
	t.Helper()
	stmts, errs := Script(src)
	if len(errs) > 0 {
		t.Errorf("%s: %v\n%s", where, errs, src)
		return
	}
	for _, s := range stmts {
		checkSpans(t, src, reflect.ValueOf(s))
		checkRoundTrip(t, s)
	}
}

// checkScriptFile checks the exec, query and eval blocks of a test script.
func checkScriptFile(t *testing.T, path string) {
	lines := strings.Split(readFile(t, path), "\n")
	for i := 0; i < len(lines); i++ {
		command, _, _ := strings.Cut(lines[i], " ")
		if command != "exec" && command != "query" && command != "eval" {
			continue
		}
		start := i + 1
		for i < len(lines) && lines[i] != "----" {
			i++
		}
		if i == len(lines) {
			return
		}
		input, output := lines[start:i], []string{}
		for i++; i < len(lines) && lines[i] != ""; i++ {
			output = append(output, lines[i])
		}
		if command == "eval" {
			checkEval(t, path, input, output)
		} else if len(output) == 0 || !strings.HasPrefix(output[0], "error") {
			checkSQL(t, path, strings.Join(input, "\n"))
		}
	}
}

func checkEval(t *testing.T, path string, input, output []string) {
	n := 0
	for _, line := range input {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if n < len(output) && !strings.HasPrefix(output[n], "error") {
			if _, errs := Expr(line); len(errs) > 0 {
				t.Errorf("%s: %v\n%s", path, errs, line)
			}
		}
		n++
	}
}
