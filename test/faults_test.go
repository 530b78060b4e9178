package test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/millstream-io/millstream/internal/slt"
)

// TestScriptFaults runs each script whose query has state through crashes amid
// checkpoints, with what was not synced lost, other parallelism at each start,
// and damaged files, with state in memory and on disk: MILLSTREAM_SEEDS times,
// or, of a part of the scripts, once. Each operator with tables must be reached
// by a script.
func TestScriptFaults(t *testing.T) {
	seeds := 0
	if v := os.Getenv("MILLSTREAM_SEEDS"); v != "" {
		var err error
		if seeds, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	files, err := slt.Files([]string{"cases"})
	if err != nil {
		t.Fatal(err)
	}
	pending := readPending(t)
	var mu sync.Mutex
	reached := map[string]int{}
	var crashes, found, harmless int
	t.Run("all", func(t *testing.T) {
		for i, path := range files {
			name := strings.TrimPrefix(filepath.ToSlash(path), "cases/")
			if _, waits := pending[name]; waits {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				stateful := slt.Run(path, slt.Quick).Stateful
				if len(stateful) == 0 {
					return
				}
				configs := faults(i, max(seeds, 1))
				if seeds == 0 && i%5 != 0 {
					configs = nil
				}
				res := slt.Run(path, configs)
				for _, f := range res.Failures {
					t.Error(f)
				}
				mu.Lock()
				defer mu.Unlock()
				crashes, found, harmless = crashes+res.Crashes, found+res.Found, harmless+res.Harmless
				for _, pkg := range stateful {
					reached[strings.TrimPrefix(pkg, module)]++
				}
			})
		}
	})
	if testing.Verbose() {
		fmt.Printf("crash amid a checkpoint, or kill, of a script: %d with the right answer\ndamaged file under a script: %d found, %d harmless with the right answer\n",
			crashes, found, harmless)
		for _, pkg := range slices.Sorted(maps.Keys(reached)) {
			fmt.Printf("%s: %d scripts\n", pkg, reached[pkg])
		}
	}
	for _, pkg := range statefulOperators(t) {
		if reached[pkg] == 0 {
			t.Errorf("no script under test/cases reaches %s, which has tables", pkg)
		}
	}
}

// faults are the configurations for the i-th script.
func faults(i, seeds int) []slt.Config {
	var out []slt.Config
	for n := range seeds {
		for k, restore := range []slt.Restore{slt.Faulty, slt.Damaged} {
			seed := uint64(i + n)
			out = append(out, slt.Config{Batch: 3, Parallelism: 2 + k, Restore: restore, Tiny: (i+n)%3 == k, Seed: seed})
		}
	}
	return out
}

// declares is where an operator declares a table.
var declares = regexp.MustCompile(`[sS](tate)?\.Table\(|\bwaiting\.Open\(`)

// statefulOperators are the packages of operators that declare tables.
func statefulOperators(t *testing.T) []string {
	t.Helper()
	// Operators open the tables of package waiting.
	helpers := map[string]bool{"internal/op/optest": true, "internal/op/waiting": true}
	sources, err := filepath.Glob("../internal/op/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range sources {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		pkg := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(f)), "../")
		if strings.HasSuffix(f, "_test.go") || helpers[pkg] || !declares.Match(text) {
			continue
		}
		out = append(out, pkg)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
