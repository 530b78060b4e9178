package runtime_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/clock"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/vfs"
)

// TestGrowingSource: files that appear in a directory are found by and by, are
// each read once, and are found again after a crash that forgot them.
func TestGrowingSource(t *testing.T) {
	c := clock.NewManual(1000)
	src := &rttest.Source{Chunk: 10, Unbounded: true, Every: 100}
	add := func(n int) {
		s := src.Add(fmt.Sprint(n))
		s.Ends = true
		s.Feed(rows(int64(n)*40, 40, 4)...).End()
	}
	fs, sink := vfs.NewMem(), rttest.NewSink()
	open := func(p int) (*runtime.Job, *runtime.Data) {
		data, err := runtime.OpenData(fs, "/job", "job")
		if err != nil {
			t.Fatal(err)
		}
		return newJob(t, tallyGraph(p, src, sink), runtime.Config{Clock: c}, data), data
	}
	add(0)
	add(1)
	j, data := open(2)
	drain(t, j)
	if src.Read() != 80 {
		t.Fatalf("%d rows read at the start", src.Read())
	}
	add(2)
	drain(t, j)
	if src.Read() != 80 {
		t.Fatal("the new split was read before its time")
	}
	c.Advance(100 * time.Millisecond)
	drain(t, j)
	if src.Read() != 120 || j.Over() {
		t.Fatalf("%d rows read, over %v", src.Read(), j.Over())
	}
	if err := j.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	add(3)
	c.Advance(100 * time.Millisecond)
	drain(t, j)
	if err := errors.Join(j.Close(), data.Close()); err != nil {
		t.Fatal(err)
	}
	j, data = open(3)
	drain(t, j)
	if src.Read() != 200 {
		t.Errorf("%d rows read, want split 3 twice and the others once", src.Read())
	}
	j.Stop()
	drain(t, j)
	if !j.Over() || j.Finished() {
		t.Fatalf("over %v, finished %v", j.Over(), j.Finished())
	}
	if err := errors.Join(j.Close(), data.Close()); err != nil {
		t.Fatal(err)
	}
	// The last window waits for rows behind it; no reader knows more.
	want := slices.DeleteFunc(tallies(160, 4, 50), func(r string) bool { return strings.HasSuffix(r, " 200") })
	equal(t, sink.Published(), want)
}

// TestTimeOfSplitsReadAtOnce: the rows of a split that is read in one go move
// time on, unless another split waits for its turn.
func TestTimeOfSplitsReadAtOnce(t *testing.T) {
	c := clock.NewManual(1000)
	src := &rttest.Source{Chunk: 100, Unbounded: true, Every: 100}
	add := func(id string, from int64) {
		s := src.Add(id)
		s.Ends = true
		s.Feed(rows(from, 5, 1)...).End()
	}
	add("first", 40)
	add("second", 0)
	j := newJob(t, tallyGraph(1, src, rttest.NewSink()), runtime.Config{Clock: c}, nil)
	drain(t, j)
	wm := func() int64 { return j.Metrics().Nodes[0].Watermark }
	second := wm()
	if last := rows(0, 5, 1)[4].Time; second != last {
		t.Fatalf("watermark is %d behind the second split, want %d", second, last)
	}
	add("third", 80)
	c.Advance(100 * time.Millisecond)
	drain(t, j)
	if last := rows(80, 5, 1)[4].Time; wm() != last {
		t.Fatalf("watermark is %d behind the third split, want %d", wm(), last)
	}
}

// TestOneAfterAnother: splits that end are open one at a time, others at once.
func TestOneAfterAnother(t *testing.T) {
	for _, ends := range []bool{true, false} {
		var last string
		turns := 0
		src := &rttest.Source{Chunk: 1, Unbounded: true}
		src.OnRead = func(split string) error {
			if split != last {
				last = split
				turns++
			}
			return nil
		}
		for i := range 3 {
			s := src.Add(fmt.Sprint(i))
			s.Ends = ends
			s.Feed(rows(0, 5, 1)...)
			if ends {
				s.End()
			}
		}
		j := newJob(t, tallyFreeGraph(src, rttest.NewSink()), runtime.Config{}, nil)
		drain(t, j)
		if ends != (turns == 3) {
			t.Errorf("ends %v: the reader changed splits %d times", ends, turns)
		}
	}
}

// pushed is a source whose reader needs a goroutine: it counts to n.
type pushed struct {
	n     int64
	fault func(i int64) error
}

func (p *pushed) Bounded() bool          { return true }
func (p *pushed) Interval() int64        { return 0 }
func (p *pushed) Modes() connector.Modes { return connector.InsertOnly }

func (p *pushed) Discover(context.Context, map[string]bool) ([]connector.Split, error) {
	return []connector.Split{{ID: "only"}}, nil
}

func (p *pushed) Open(ctx *connector.ReaderContext, _ connector.Split, position []byte) (connector.Reader, error) {
	next, _ := binary.Uvarint(position)
	r := &pushedReader{source: p, rows: make(chan int64, 16)}
	ctx.Go(func(done context.Context) error {
		for i := int64(next); i < p.n; i++ {
			if p.fault != nil {
				if err := p.fault(i); err != nil {
					return err
				}
			}
			select {
			case r.rows <- i:
				ctx.Wake()
			case <-done.Done():
				return nil
			}
		}
		close(r.rows)
		ctx.Wake()
		return nil
	})
	return r, nil
}

type pushedReader struct {
	source *pushed
	rows   chan int64
}

func (r *pushedReader) Read(int) (connector.Chunk, error) {
	select {
	case i, ok := <-r.rows:
		if !ok {
			return connector.Chunk{Status: connector.End}, nil
		}
		return connector.Chunk{Batch: rttest.Batch(rttest.Row{Time: i}), Position: binary.AppendUvarint(nil, uint64(i)+1)}, nil
	default:
		return connector.Chunk{Status: connector.Wait}, nil
	}
}

func (r *pushedReader) Close() error { return nil }

func pushedGraph(p *pushed, sink *rttest.Sink) *graph.Graph {
	g := &rttest.Graph{}
	s := g.Source("pushed", 1, nil, 0)
	s.Source.Source = p
	g.Sink("sink", 2, sink, rttest.Rebalance(s))
	return &g.Graph
}

func TestReaderWithGoroutine(t *testing.T) {
	sink := rttest.NewSink()
	if err := runtime.Run(context.Background(), pushedGraph(&pushed{n: 5000}, sink), runtime.Config{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := len(sink.Published()); got != 5000 {
		t.Errorf("%d rows", got)
	}
	fault := func(i int64) error {
		if i == 100 {
			return errors.New("connection lost")
		}
		return nil
	}
	err := runtime.Run(context.Background(), pushedGraph(&pushed{n: 5000, fault: fault}, sink), runtime.Config{}, nil)
	if err == nil || err.Error() != "connection lost" {
		t.Errorf("got %v", err)
	}
	fault = func(i int64) error { panic("nil map") }
	err = runtime.Run(context.Background(), pushedGraph(&pushed{n: 5000, fault: fault}, sink), runtime.Config{}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "pushed: panic: nil map") {
		t.Errorf("got %v", err)
	}
}

// TestSlowSinkStopsTheSource is TestBackPressure on goroutines: while a sink
// does not return, the read position stands still.
func TestSlowSinkStopsTheSource(t *testing.T) {
	src, sink := rttest.NewSource(100, rows(0, 200_000, 10)), rttest.NewSink()
	release, blocked := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	sink.OnWrite = func(*batch.Batch) error {
		if !first.Swap(true) {
			close(blocked)
		}
		<-release
		return nil
	}
	r := runtime.NewRunner(tallyFreeGraph(src, sink), runtime.Config{QueueBatches: 4}, nil)
	result := make(chan error, 1)
	go func() { result <- r.Run(context.Background()) }()
	<-blocked
	var at int64
	for still := 0; still < 20; time.Sleep(time.Millisecond) {
		if now := src.Read(); now == at {
			still++
		} else {
			at, still = now, 0
		}
	}
	// One batch in the sink, and four on their way with the watermarks between
	// them taking half of the room.
	if at > 600 {
		t.Errorf("%d rows were read", at)
	}
	close(release)
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if src.Read() != 200_000 {
		t.Errorf("%d rows were read in the end", src.Read())
	}
}
