// Package conformance holds the tests that each connector must pass: what a
// source reads again is what it read before, and what a sink publishes is there
// once, wherever it was interrupted. A connector's test calls it with the
// connector's own means to make input and to look at output.
package conformance

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/text"
)

// T is what the kit needs of a *testing.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// patience is how long the kit waits for a reader to wake it.
const patience = 10 * time.Second

// Host plays the runtime for readers: it counts, keeps samples, and runs what
// they start.
type Host struct {
	mu      sync.Mutex
	counts  map[string]int64
	samples []string
	errs    chan error
	woken   chan struct{}
	ctx     context.Context
	cancel  context.CancelFunc
	// Clock is the processing time in ms; nil means the machine's.
	Clock func() int64
}

// NewHost returns a host; Close ends what its readers have started.
func NewHost() *Host {
	h := &Host{counts: map[string]int64{}, errs: make(chan error, 100), woken: make(chan struct{}, 1)}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// Close ends the goroutines of the readers.
func (h *Host) Close() { h.cancel() }

// Counts returns a copy of the counters.
func (h *Host) Counts() map[string]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string]int64{}
	for k, v := range h.counts {
		out[k] = v
	}
	return out
}

// Samples returns the samples, each as "counter: text".
func (h *Host) Samples() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.samples...)
}

// Context is that of one reader.
func (h *Host) Context() *connector.ReaderContext {
	clock := h.Clock
	if clock == nil {
		clock = func() int64 { return time.Now().UnixMilli() }
	}
	return &connector.ReaderContext{
		Context: h.ctx, Parallelism: 1, Now: clock,
		Go: func(f func(context.Context) error) {
			go func() {
				defer func() {
					if v := recover(); v != nil {
						h.errs <- fmt.Errorf("panic in a reader: %v", v)
					}
				}()
				if err := f(h.ctx); err != nil {
					h.errs <- err
				}
			}()
		},
		Wake: func() {
			select {
			case h.woken <- struct{}{}:
			default:
			}
		},
		Count: func(name string, n int64) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.counts[name] += n
		},
		Sample: func(name string, text func() string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.samples = append(h.samples, name+": "+text())
		},
	}
}

// wait waits until a reader may have more.
func (h *Host) wait() error {
	select {
	case <-h.woken:
		return nil
	case err := <-h.errs:
		return err
	case <-time.After(patience):
		return fmt.Errorf("a reader said that it waits, and did not wake the runtime in %v", patience)
	}
}

// Print prints the rows of a batch as cells of a test script, joined by " | ",
// with the kind in front if it is not +I.
func Print(b *batch.Batch) []string {
	if b == nil {
		return nil
	}
	var out []string
	for r := range b.Rows() {
		i := b.At(r)
		var cells []string
		for _, v := range b.Cols {
			cells = append(cells, string(text.AppendCell(nil, v, i)))
		}
		line := strings.Join(cells, " | ")
		if k := b.Kind(i); k != 0 {
			line = k.String() + " " + line
		}
		out = append(out, line)
	}
	return out
}
