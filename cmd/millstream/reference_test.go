package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/millstream-io/millstream/internal/cli"
)

// TestReference fails when a definition has changed and the pages that are
// made from it have not.
func TestReference(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "reference")
	pages := cli.Reference()
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("docs/reference/%s is not up to date (%v); run make docs", name, err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if pages[f.Name()] == "" {
			t.Errorf("docs/reference/%s is made by nothing", f.Name())
		}
	}
}
