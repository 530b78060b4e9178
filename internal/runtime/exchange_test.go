package runtime

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
)

// wakes counts how often a task was woken.
type wakes struct{ n int }

func (w *wakes) wake() { w.n++ }

func newEdge(ship graph.Ship, n int) *outEdge {
	e := &outEdge{ship: ship, keys: []int{0}, parts: make([]*batch.Batch, n)}
	for range n {
		e.chans = append(e.chans, newChannel(&wakes{}, &wakes{}, 1000, 1<<30))
	}
	return e
}

// contents describes what waits in a channel: rows of a batch, w and the
// watermark, b and the barrier, e.
func contents(c *channel) string {
	var out []string
	for {
		it, ok := c.take(0)
		if !ok {
			return strings.Join(out, " ")
		}
		switch it.kind {
		case itemRows:
			out = append(out, fmt.Sprint(it.batch.Rows()))
		case itemTime:
			out = append(out, fmt.Sprint("w", it.n))
		case itemBarrier:
			out = append(out, fmt.Sprint("b", it.n))
		case itemEnd:
			out = append(out, "e")
		}
	}
}

// keyed makes n rows with keys 0 to keys-1 in turn.
func keyed(n, keys int64) *batch.Batch {
	rows := make([]rttest.Row, n)
	for i := range rows {
		rows[i].Key = int64(i) % keys
		rows[i].Time = int64(i)
	}
	return rttest.Batch(rows...)
}

func TestCoalesce(t *testing.T) {
	e := newEdge(graph.Hash, 1)
	for range 30 {
		e.send(keyed(100, 7))
	}
	if got := contents(e.chans[0]); got != "1100 1100" {
		t.Errorf("small batches became %s", got)
	}
	e.send(keyed(300, 7))
	if got := contents(e.chans[0]); got != "800 300" {
		t.Errorf("a large batch behind small ones: %s", got)
	}
	e.send(keyed(10, 7))
	e.broadcast(item{kind: itemTime, n: 5})
	e.send(keyed(11, 7))
	e.broadcast(item{kind: itemBarrier, n: 1})
	e.send(keyed(12, 7))
	e.broadcast(item{kind: itemEnd})
	if got := contents(e.chans[0]); got != "10 w5 11 b1 12 e" {
		t.Errorf("signals overtook rows: %s", got)
	}
	e.send(keyed(5, 7))
	if !e.flush() || e.flush() {
		t.Error("flush did not say whether there was anything")
	}
	if got := contents(e.chans[0]); got != "5" {
		t.Errorf("flushed %s", got)
	}
}

func TestHashKeepsRowsAndOrder(t *testing.T) {
	for _, parallelism := range []int{1, 2, 5} {
		e := newEdge(graph.Hash, parallelism)
		sent := int64(0)
		for _, n := range []int64{10, 5000, 300, 1, 4096} {
			b := keyed(n, 97)
			// Times rise over all batches, and each second row does not count.
			times := rttest.Column(b, 2)
			var sel []int32
			for i := range times {
				times[i] = sent
				sent++
				if i%2 == 0 {
					sel = append(sel, int32(i))
				}
			}
			e.send(b.WithSel(sel))
		}
		e.flush()
		owner, got := map[int64]int{}, 0
		for i, c := range e.chans {
			last := int64(-1)
			for {
				it, ok := c.take(0)
				if !ok {
					break
				}
				for _, r := range rttest.Rows(it.batch) {
					if o, seen := owner[r.Key]; seen && o != i {
						t.Fatalf("key %d is at %d and at %d", r.Key, o, i)
					}
					owner[r.Key] = i
					if r.Time <= last {
						t.Fatalf("row %d after row %d", r.Time, last)
					}
					last = r.Time
					got++
				}
			}
		}
		if got != 5+2500+150+1+2048 {
			t.Errorf("parallelism %d: %d rows", parallelism, got)
		}
	}
}

func TestRebalanceAndGather(t *testing.T) {
	for ship, want := range map[graph.Ship][]string{
		graph.Rebalance: {"1 4 w9", "2 w9", "3 w9"},
		graph.Gather:    {"1 2 3 4 w9", "w9", "w9"},
	} {
		e := newEdge(ship, 3)
		for n := range int64(4) {
			e.send(keyed(n+1, 1))
		}
		e.broadcast(item{kind: itemTime, n: 9})
		for i, c := range e.chans {
			if got := contents(c); got != want[i] {
				t.Errorf("%s %d: %s, want %s", ship, i, got, want[i])
			}
		}
	}
}

func TestChannelBounds(t *testing.T) {
	from, to := &wakes{}, &wakes{}
	c := newChannel(from, to, 4, 1<<20)
	put := func() { c.put(item{kind: itemRows, batch: keyed(1, 1)}) }
	for i := range 4 {
		if c.full.Load() {
			t.Fatalf("full with %d of 4", i)
		}
		put()
	}
	if !c.full.Load() || to.n != 1 {
		t.Fatalf("full %v, receiver woken %d times", c.full.Load(), to.n)
	}
	put() // what one event makes always fits
	for i := range 2 {
		c.take(0)
		if !c.full.Load() || from.n != 0 {
			t.Fatalf("sender woken with %d left", 4-i)
		}
	}
	c.take(0)
	if c.full.Load() || from.n != 1 {
		t.Fatalf("full %v, sender woken %d times", c.full.Load(), from.n)
	}
	c.put(item{kind: itemRows, batch: keyed(1<<17, 1)})
	if !c.full.Load() {
		t.Error("3 MiB are not too much for 1 MiB")
	}
}

// TestSlowReceiver lets a receiver take 40 ms for each item: no more may wait than it
// does in 100 ms. It may be as many as ever once it is fast again, and what it waits
// for others does not count.
func TestSlowReceiver(t *testing.T) {
	c := newChannel(&wakes{}, &wakes{}, 8, 1<<20)
	rows := func() { c.put(item{kind: itemRows, batch: keyed(1, 1)}) }
	held := func() int {
		n := 0
		for !c.full.Load() {
			rows()
			n++
		}
		for c.n > 0 {
			c.take(0)
		}
		return n
	}
	run := func(ms int64) {
		now := int64(0)
		for range 100 {
			rows()
			rows()
			for c.n > 1 {
				c.take(now)
				now += ms
			}
		}
		c.take(now)
	}
	if n := held(); n != 8 {
		t.Fatalf("%d of 8 items fit before anything is known", n)
	}
	run(40)
	if c.room != 2 {
		t.Errorf("%d items of 40 ms may wait", c.room)
	}
	run(500)
	if c.room != 1 {
		t.Errorf("%d items of 500 ms may wait", c.room)
	}
	run(1)
	if n := held(); n != 8 {
		t.Errorf("%d items of 1 ms may wait, not 8", n)
	}
	rows()
	c.put(item{kind: itemBarrier, n: 1})
	rows()
	c.take(0)
	c.take(0)
	c.take(10_000)
	if c.room != 8 {
		t.Errorf("%d items may wait after a barrier of 10 s", c.room)
	}
}

func TestWatermarksReplaceEachOther(t *testing.T) {
	c := newChannel(&wakes{}, &wakes{}, 2, 1<<20)
	for n := range int64(100) {
		c.put(item{kind: itemTime, n: n})
	}
	c.put(item{kind: itemTime, n: 100, idle: true})
	c.put(item{kind: itemBarrier, n: 1})
	c.put(item{kind: itemTime, n: 101, idle: true})
	if got := contents(c); got != "w99 w100 b1 w101" {
		t.Errorf("got %s", got)
	}
}

// BenchmarkHandOver measures a channel between two goroutines.
func BenchmarkHandOver(b *testing.B) {
	for _, rows := range []int64{1, 1024, 4096} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			data := keyed(rows, 1)
			from, to := &bell{make(chan struct{}, 1)}, &bell{make(chan struct{}, 1)}
			c := newChannel(from, to, 8, 1<<30)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for got := 0; got < b.N; {
					if _, ok := c.take(0); ok {
						got++
					} else {
						<-to.c
					}
				}
			}()
			for range b.N {
				for c.full.Load() {
					<-from.c
				}
				c.put(item{kind: itemRows, batch: data})
			}
			<-done
			report(b, rows)
		})
	}
}

type bell struct{ c chan struct{} }

func (w *bell) wake() {
	select {
	case w.c <- struct{}{}:
	default:
	}
}

func report(b *testing.B, rows int64) {
	total := float64(rows) * float64(b.N)
	b.ReportMetric(total/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/total, "ns/row")
}

// BenchmarkHashExchange measures the sending end.
func BenchmarkHashExchange(b *testing.B) {
	for _, parallelism := range []int{1, 2, 8} {
		for _, rows := range []int64{64, 4096} {
			b.Run(fmt.Sprintf("p=%d/rows=%d", parallelism, rows), func(b *testing.B) {
				data := keyed(rows, 1000)
				e := newEdge(graph.Hash, parallelism)
				for range b.N {
					e.send(data)
					for _, c := range e.chans {
						for c.count.Load() > 0 {
							c.take(0)
						}
					}
				}
				report(b, rows)
			})
		}
	}
}
