package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/runtime"
)

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// screen keeps results, messages and the status line out of each other's way.
// The status line is the last thing on the terminal, and is erased before
// anything else is written.
type screen struct {
	mu             sync.Mutex
	stdout, stderr io.Writer
	// live is set if stderr is a terminal, so that there is a status line.
	live  bool
	shown bool
}

// out and err are the two streams; both may be written from any goroutine.
func (s *screen) out() io.Writer { return screenWriter{s, s.stdout} }
func (s *screen) err() io.Writer { return screenWriter{s, s.stderr} }

type screenWriter struct {
	screen *screen
	to     io.Writer
}

// Write implements io.Writer.
func (w screenWriter) Write(p []byte) (int, error) {
	w.screen.mu.Lock()
	defer w.screen.mu.Unlock()
	w.screen.erase()
	return w.to.Write(p)
}

func (s *screen) erase() {
	if s.shown {
		io.WriteString(s.stderr, "\r\x1b[K")
		s.shown = false
	}
}

func (s *screen) status(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	io.WriteString(s.stderr, line)
	s.shown = true
}

func (s *screen) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

// statusInterval is the time between two status lines.
const statusInterval = 500 * time.Millisecond

// watch shows the status line of a running job until the function that it
// returns is called.
func (s *screen) watch(metrics func() runtime.Metrics) (stop func()) {
	if !s.live {
		return func() {}
	}
	w := &watcher{screen: s, metrics: metrics, last: time.Now()}
	w.timer = time.AfterFunc(statusInterval, w.tick)
	return w.stop
}

type watcher struct {
	screen  *screen
	metrics func() runtime.Metrics

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	last    time.Time
	in, out int64
}

// tick runs on a goroutine of its timer. A status line is never worth a job,
// so a failure in here only ends the line.
func (w *watcher) tick() {
	defer func() {
		if recover() != nil {
			w.screen.clear()
		}
	}()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	now := time.Now()
	m := w.metrics()
	in, out := rowCounts(m)
	seconds := now.Sub(w.last).Seconds()
	w.screen.status(statusLine(m, float64(in-w.in)/seconds, float64(out-w.out)/seconds, now))
	w.last, w.in, w.out = now, in, out
	w.timer.Reset(statusInterval)
}

func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
	w.screen.clear()
}

// rowCounts are the rows that came out of sources and went into sinks.
func rowCounts(m runtime.Metrics) (in, out int64) {
	for _, n := range m.Nodes {
		if n.Source {
			in += n.Out
		}
		if n.Sink {
			out += n.In
		}
	}
	return in, out
}

// statusLine is short enough for a terminal of 80 columns.
func statusLine(m runtime.Metrics, in, out float64, now time.Time) string {
	line := fmt.Sprintf("in %s/s, out %s/s", short(in), short(out))
	if wm := watermark(m); wm != op.MinWatermark && wm != op.MaxWatermark {
		t := time.UnixMilli(wm)
		line += fmt.Sprintf(", watermark %s (%s)", t.UTC().Format("2006-01-02 15:04:05"), lag(now.Sub(t)))
	}
	if m.Checkpoint > 0 {
		line += fmt.Sprintf(", checkpoint %d", m.Checkpoint)
	}
	if m.FailedCheckpoints > 0 {
		line += fmt.Sprintf(", %d failed", m.FailedCheckpoints)
	}
	return line
}

// watermark is the smallest that the sinks have seen.
func watermark(m runtime.Metrics) int64 {
	wm := int64(op.MaxWatermark)
	for _, n := range m.Nodes {
		if n.Sink {
			wm = min(wm, n.Watermark)
		}
	}
	return wm
}

// short prints a number with three digits: 987, 12.3 k, 4.56 M.
func short(n float64) string {
	unit := ""
	for _, u := range []string{"k", "M", "G"} {
		if n < 999.5 {
			break
		}
		n, unit = n/1000, " "+u
	}
	switch {
	case unit == "" || n >= 99.95:
		return fmt.Sprintf("%.0f%s", n, unit)
	case n >= 9.995:
		return fmt.Sprintf("%.1f%s", n, unit)
	}
	return fmt.Sprintf("%.2f%s", n, unit)
}

// lag says how far behind the present a time is.
func lag(d time.Duration) string {
	behind := "behind"
	if d < 0 {
		d, behind = -d, "ahead"
	}
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}} {
		if d >= 2*u.size {
			return fmt.Sprintf("%d %s %s", d/u.size, u.name, behind)
		}
	}
	return fmt.Sprintf("%d ms %s", d.Milliseconds(), behind)
}
