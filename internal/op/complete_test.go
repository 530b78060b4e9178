package op_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestComplete checks that each operator has scripts, which run with a restore
// at every step, and a benchmark.
func TestComplete(t *testing.T) {
	helpers := map[string]bool{"optest": true, "window": true, "waiting": true, "fold": true}
	dirs, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range dirs {
		if !d.IsDir() || helpers[d.Name()] {
			continue
		}
		n++
		scripts, _ := filepath.Glob(filepath.Join(d.Name(), "testdata", "*"))
		tests, _ := filepath.Glob(filepath.Join(d.Name(), "*_test.go"))
		var code strings.Builder
		for _, f := range tests {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(data)
		}
		for _, s := range scripts {
			if !strings.Contains(code.String(), `optest.Run(t, "`+filepath.Base(s)+`"`) {
				t.Errorf("no test of %s runs %s", d.Name(), s)
			}
		}
		if len(scripts) == 0 {
			t.Errorf("operator %s has no script under testdata", d.Name())
		}
		if !strings.Contains(code.String(), "func Benchmark") {
			t.Errorf("operator %s has no benchmark", d.Name())
		}
	}
	if n == 0 {
		t.Fatal("no operators found")
	}
}
