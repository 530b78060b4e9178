package main

import (
	"io"
	"os"
	"testing"
)

// The time before the events are there is taken from what the process says while it runs, in whatever pieces that comes.
func TestPreloadWatch(t *testing.T) {
	w := &preloadWatch{pid: os.Getpid()}
	for _, piece := range []string{"started\nnexmark events 1-of-1: prel", "oaded 100 rows"} {
		if _, err := io.WriteString(w, piece); err != nil || !w.at.IsZero() {
			t.Fatalf("%v, %v before the line had ended", err, w.at)
		}
	}
	if _, err := io.WriteString(w, "\n"); err != nil || w.at.IsZero() {
		t.Errorf("%v: the line was not seen", err)
	}
}
