package state

import (
	"container/heap"
	"encoding/binary"
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state/lsm"
)

// The sweep of the disk goes by a calendar. It parts the keys of a table into
// stretches, and remembers of each when the first of the rows will expire that it has
// seen there. So it does not read rows that are all young, and reads those that were
// written one after the other when they have expired. The calendar is in memory only: a
// table that is restored is looked at once.

const (
	// stretchRows is the number of rows from which on a stretch is parted.
	stretchRows = 1 << 9
	// sweepWait is the part of the time to live for which a row may have expired until
	// it is removed from disk: others expire meanwhile, and are removed with it.
	sweepWait = 4
	// sweepRows and sweepStretches bound what an event looks at.
	sweepRows, sweepStretches = 1 << 12, 1 << 6
)

// tableHead is the size of what the keys of a table's rows in a key group have in
// common.
const tableHead = 1 + 2

// stretch is a part of a key group, up to where the next one begins.
type stretch struct {
	from []byte
	next *stretch
	// due is when it is looked at, at is its place in the heap of these times, -1 when
	// it has gone.
	due int64
	at  int
	// rows is the number of rows that are alive, as it was when it was looked at;
	// many before that.
	rows int
}

// calendar has the stretches of a table, the one that is due next first.
type calendar []*stretch

// Len implements heap.Interface.
func (c calendar) Len() int { return len(c) }

// Less implements heap.Interface.
func (c calendar) Less(i, j int) bool { return c[i].due < c[j].due }

// Swap implements heap.Interface.
func (c calendar) Swap(i, j int) {
	c[i], c[j] = c[j], c[i]
	c[i].at, c[j].at = i, j
}

// Push implements heap.Interface.
func (c *calendar) Push(x any) {
	s := x.(*stretch)
	s.at = len(*c)
	*c = append(*c, s)
}

// Pop implements heap.Interface.
func (c *calendar) Pop() any {
	n := len(*c) - 1
	s := (*c)[n]
	(*c)[n] = nil
	*c = (*c)[:n]
	return s
}

// memBytes is about the memory that it takes.
func (c *calendar) memBytes() int {
	if c == nil {
		return 0
	}
	const size = 160
	return size * len(*c)
}

// newCalendar returns that of a table of which nothing is known: all of it is looked
// at within a quarter of the time to live.
func (t *table) newCalendar(now int64) *calendar {
	c := &calendar{}
	lo, hi := t.db.keyGroups()
	if t.spec.ByTask {
		lo, hi = taskGroup, taskGroup+1
	}
	var last *stretch
	for g := lo; g < hi; g++ {
		from := binary.BigEndian.AppendUint16([]byte{byte(g)}, t.format.id)
		s := &stretch{from: from, due: now + int64(g-lo)*t.spec.TTL/sweepRounds/int64(hi-lo), rows: math.MaxInt32}
		if last != nil {
			last.next = s
		}
		last = s
		heap.Push(c, s)
	}
	return c
}

// sweepDisk removes rows on disk that have expired and are not in memory, where they
// may be newer. It waits for snapshots to be written.
func (t *table) sweepDisk(now int64) error {
	m, ttl := t.mortal, t.spec.TTL
	if t.db.disk.lsm == nil || t.db.disk.pending != nil || m.wait > now && m.wait <= now+2*ttl {
		return nil
	}
	if m.wait > now {
		m.disk = nil // the clock was set back
	}
	m.wait = now + ttl>>10
	cold := int64(0)
	for _, s := range t.order {
		cold += s.cold
	}
	if cold == 0 {
		m.disk = nil
		return nil
	}
	if m.disk == nil {
		m.disk = t.newCalendar(now)
	}
	disk, err := t.db.reader()
	if err != nil {
		return err
	}
	w := &sweeper{t: t, c: m.disk, disk: disk, now: now, left: sweepRows, most: m.stretchRows, found: t.newLoader()}
	for len(w.seen) < sweepStretches && w.left > 0 && (*w.c)[0].due <= now {
		if err := w.look((*w.c)[0]); err != nil {
			return err
		}
	}
	for _, s := range w.seen {
		w.join(s)
	}
	if next := (*w.c)[0].due; next > now {
		m.wait = max(m.wait, next)
	} else {
		m.wait = now
	}
	m.looked += int64(sweepRows - w.left)
	w.bury()
	return nil
}

// sweeper goes on with the sweep of a table's rows on disk, in one event.
type sweeper struct {
	t    *table
	c    *calendar
	disk *lsm.Reader
	now  int64
	// left is the number of rows that may be looked at, most that of a stretch.
	left, most int
	// seen are stretches that were looked at.
	seen []*stretch
	// found and keys are the rows that have expired.
	found *loader
	keys  keyList
	// rows is the number of rows of the stretch that are alive, oldest is when the
	// first of them was written.
	rows   int
	oldest int64
}

// look reads a stretch that is due: it finds the rows that have expired, and enters
// when to look at the others again.
func (w *sweeper) look(s *stretch) error {
	next := s.next
	to := after(s.from[:tableHead])
	if next != nil && s.from[0] == next.from[0] {
		to = next.from
	}
	deadline := w.now - w.t.spec.TTL
	w.rows, w.oldest = 0, w.now
	rest := false
	err := w.disk.Range(s.from, to, func(key, value []byte) (bool, error) {
		if w.left == 0 || w.rows == w.most {
			s = w.part(s, key)
		}
		if rest = w.left == 0; rest {
			return false, nil
		}
		w.left--
		written, ok := w.t.timeIn(value)
		if !ok {
			return true, nil // who needs the row will tell that it is damaged
		}
		if written > deadline {
			w.rows++
			w.oldest = min(w.oldest, written)
			return true, nil
		}
		w.keys.add(key)
		return true, w.found.add(key, value)
	})
	if err != nil || rest {
		return err // the rest is for the next event
	}
	w.enter(s)
	w.seen = append(w.seen, s)
	return nil
}

// part ends a stretch before a key, and begins another one there.
func (w *sweeper) part(s *stretch, key []byte) *stretch {
	rest := &stretch{from: append([]byte(nil), key...), next: s.next, due: s.due, rows: math.MaxInt32}
	s.next = rest
	heap.Push(w.c, rest)
	w.enter(s)
	w.rows, w.oldest = 0, w.now
	return rest
}

// enter notes when to look again at a stretch that was looked at: some time after the
// first of its rows expires, or of those that will be written.
func (w *sweeper) enter(s *stretch) {
	ttl := w.t.spec.TTL
	s.rows = w.rows
	s.due = max(w.oldest+ttl+ttl/sweepWait, w.now+1)
	heap.Fix(w.c, s.at)
}

// join makes one of a stretch that was looked at and those behind it, as long as they
// have few rows. Those that are due are left alone: what is found is still there until
// the event is over, and must not be found twice.
func (w *sweeper) join(s *stretch) {
	for s.at >= 0 && s.due > w.now {
		n := s.next
		if n == nil || n.from[0] != s.from[0] || n.due <= w.now || s.rows > 0 && n.rows > 0 && s.rows+n.rows > w.most/2 {
			return
		}
		heap.Remove(w.c, n.at)
		n.at = -1
		s.next, s.rows, s.due = n.next, s.rows+n.rows, min(s.due, n.due)
		heap.Fix(w.c, s.at)
	}
}

// bury removes those of the expired rows that are not in memory.
func (w *sweeper) bury() {
	t, n := w.t, w.found.len()
	if n == 0 {
		return
	}
	k := &Keys{Cols: w.found.keys, Hash: batch.Hash(w.found.keys, nil, n, nil), Rows: make([]int32, 1)}
	buried := 0
	var slot [1]int32
	for i := range n {
		key := w.keys.at(i)
		s := t.space(nsOf(key))
		k.Rows[0] = int32(i)
		if s.lookup(k, slot[:]); slot[0] >= 0 {
			continue
		}
		t.graves.rows.add(key)
		s.cold--
		s.listed()
		buried++
	}
	t.db.expired(buried)
}
