package conformance

import (
	"context"
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/connector"
)

// chunk is one chunk of a split in words.
type chunk struct {
	rows     []string
	position string
}

// ReadAll reads all splits of a bounded source to their ends, at most max rows
// at a time, and returns the rows of the splits one after another. It returns
// what it has if there is an error.
func ReadAll(h *Host, s connector.Source, max int) ([]string, error) {
	splits, err := s.Discover(context.Background(), map[string]bool{})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, sp := range splits {
		chunks, err := readSplit(h, s, sp, nil, max)
		for _, c := range chunks {
			out = append(out, c.rows...)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func readSplit(h *Host, s connector.Source, sp connector.Split, position []byte, max int) (out []chunk, err error) {
	r, err := s.Open(h.Context(), sp, position)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	at := string(position)
	for {
		c, err := r.Read(max)
		if err != nil {
			return out, err
		}
		if c.Position != nil {
			at = string(c.Position)
		}
		if rows := Print(c.Batch); len(rows) > 0 || c.Position != nil && c.Status != connector.Wait {
			out = append(out, chunk{rows, at})
		}
		switch c.Status {
		case connector.End:
			return out, nil
		case connector.Wait, connector.Idle:
			if err := h.wait(); err != nil {
				return out, err
			}
		}
	}
}

// Replay checks that a bounded source, read from each position that it gives,
// gives the same chunks as before, and that the rows do not depend on how many
// are asked for at a time. New makes the source as a new process would. It
// returns the rows.
func Replay(t T, newSource func() connector.Source) []string {
	t.Helper()
	var all []string
	for n, max := range []int{4096, 3, 1} {
		s := newSource()
		splits, err := s.Discover(context.Background(), map[string]bool{})
		if err != nil {
			t.Fatalf("Discover: %v", err)
		}
		seen := map[string]bool{}
		var rows []string
		for _, sp := range splits {
			if seen[sp.ID] {
				t.Errorf("two splits have the ID %q", sp.ID)
			}
			seen[sp.ID] = true
			rows = append(rows, replaySplit(t, newSource, sp, max)...)
		}
		if n == 0 {
			all = rows
		} else if !slices.Equal(rows, all) {
			t.Errorf("with %d rows at a time: %d rows, otherwise %d", max, len(rows), len(all))
		}
		again, err := newSource().Discover(context.Background(), seen)
		if err != nil || len(again) > 0 {
			t.Errorf("Discover with all splits known: %d new ones, %v", len(again), err)
		}
	}
	return all
}

func replaySplit(t T, newSource func() connector.Source, sp connector.Split, max int) (rows []string) {
	t.Helper()
	h := NewHost()
	defer h.Close()
	chunks, err := readSplit(h, newSource(), sp, nil, max)
	if err != nil {
		t.Fatalf("split %s: %v", sp.ID, err)
	}
	for i, c := range chunks {
		rows = append(rows, c.rows...)
		if every := len(chunks)/maxReplays + 1; i%every != 0 && i != len(chunks)-1 {
			continue
		}
		again, err := readSplit(h, newSource(), sp, []byte(c.position), max)
		if err != nil {
			t.Fatalf("split %s from position %x: %v", sp.ID, c.position, err)
		}
		if got, want := tidy(again), tidy(chunks[i+1:]); !slices.Equal(got, want) {
			t.Errorf("split %s, %d rows at a time, from position %x: %d chunks, the first time there were %d after it\n%v\n%v",
				sp.ID, max, c.position, len(again), len(chunks)-i-1, got, want)
			return rows
		}
	}
	return rows
}

// maxReplays bounds from how many positions of a split is read again.
const maxReplays = 40

// tidy joins each chunk to one line, and leaves out those without rows.
func tidy(chunks []chunk) []string {
	var out []string
	for _, c := range chunks {
		if len(c.rows) > 0 {
			out = append(out, fmt.Sprintf("%q at %x", c.rows, c.position))
		}
	}
	return out
}
