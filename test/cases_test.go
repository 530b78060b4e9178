// Package test runs the project's cases: scripts and folders whose answers
// come from Flink, or are right where Flink's are not.
package test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/millstream-io/millstream/internal/slt"

	_ "github.com/millstream-io/millstream/connector/script"
)

// pendingFile lists the cases that are not reached yet, with what they wait
// for. A listed case that passes fails the run, so the list only shrinks.
const pendingFile = "cases/pending.txt"

// readPending returns the reasons by case.
func readPending(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(pendingFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(line, ": ")
		if !ok || reason == "" {
			t.Fatalf("%s:%d: no reason: a line is CASE: what it waits for", pendingFile, n)
		}
		if _, twice := out[name]; twice {
			t.Fatalf("%s:%d: %s is listed twice", pendingFile, n, name)
		}
		out[name] = reason
	}
	return out
}

// configs are the ways to run a script: all of them, or the plain one and a
// disturbed one with -short.
func configs() []slt.Config {
	if testing.Short() {
		return append(slt.Quick, slt.Config{Batch: 3, Parallelism: 4, Restore: slt.Random, Seed: 1})
	}
	return slt.Matrix(1)
}

// TestScripts runs every script of test/cases over the matrix.
func TestScripts(t *testing.T) {
	files, err := slt.Files([]string{"cases"})
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts: ", err)
	}
	pending := readPending(t)
	var mu sync.Mutex
	passed, listed := map[string]int{}, map[string]int{}
	t.Run("all", func(t *testing.T) {
		for _, path := range files {
			name := strings.TrimPrefix(filepath.ToSlash(path), "cases/")
			reason, waits := pending[name]
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				area := strings.SplitN(name, "/", 2)[0]
				if waits {
					mu.Lock()
					listed[area]++
					mu.Unlock()
					if slt.Run(path, slt.Quick).Passed() {
						t.Errorf("%s passes, but is listed in %s as waiting for %s: remove the line", name, pendingFile, reason)
					}
					return
				}
				res := slt.Run(path, configs())
				for _, f := range res.Failures {
					t.Error(f)
				}
				if len(res.Failures) == 0 {
					mu.Lock()
					passed[area]++
					mu.Unlock()
				}
			})
		}
	})
	for area, n := range passed {
		fmt.Printf("%s: %d scripts passed, %d listed as waiting\n", area, n, listed[area])
	}
	for name := range pending {
		if _, err := os.Stat(filepath.Join("cases", name)); err != nil {
			t.Errorf("%s lists %s, which does not exist", pendingFile, name)
		}
	}
}
