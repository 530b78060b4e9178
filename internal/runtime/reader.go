package runtime

import (
	"context"
	"sync/atomic"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
)

// reader reads the splits that were dealt out to one subtask of a source.
type reader struct {
	task  *task
	node  *graph.Node
	stats *stats
	// time combines the time of the open splits.
	time *combiner

	open []*split
	// queue are the splits that end and wait for their turn.
	queue []*split
	// done are the splits that have ended, left those that were given up when
	// the job was drained.
	done []*split
	left []checkpoint.Split
	// begun are the files of the splits that were opened; sequels counts the
	// waiting splits of other files that are not the first of theirs.
	begun   map[int64]bool
	sequels map[int64]int
	// turn is the open split to ask first.
	turn int
	// more is set while new splits may be found.
	more bool
	// ended is set when the end was sent on, stopped when nothing shall be
	// read any more.
	ended, stopped bool
	// emitAt is when the next watermark may be sent, where that goes by the clock.
	emitAt int64
	// member is the reader in its alignment group, or nil; lookAt is when to look
	// at the group again although it has not woken the task.
	member *member
	lookAt int64
	// emptySince is since when there has been no split to read, or unset; flushed
	// is set once receivers were told to close their windows, until a row comes.
	emptySince int64
	flushed    bool
}

func newReader(t *task, n *graph.Node, st *stats) *reader {
	r := &reader{
		task: t, node: n, stats: st, time: newCombiner(0), more: true, begun: map[int64]bool{}, sequels: map[int64]int{},
		lookAt: never, emptySince: unset,
	}
	if n.Source.Group != "" {
		r.member = t.job.group(n.Source.Group).join(n.Source.MaxDrift, t.wake)
	}
	return r
}

// split is one split in the hands of a reader.
type split struct {
	connector.Split
	seq int64
	// file is the seq of the split of which this one is a sequel, or its own.
	file     int64
	position []byte
	// restored is the state of the split's time at the checkpoint.
	restored *inputTime

	reader    connector.Reader
	cancel    context.CancelFunc
	watermark graph.WatermarkFn
	// input is the split's number in the reader's combiner.
	input int
	// wm is the watermark that was sent, ready the one that may be sent, and held
	// the one that its rows allow.
	wm, ready, held int64
	idle            bool
	// paused is set while the split waits for its alignment group.
	paused bool
	// waiting is set while there is nothing to read, woken when that may have
	// changed.
	waiting bool
	woken   atomic.Bool
	// silent is since when nothing was there to read, times of back-pressure
	// taken out; unset if there was.
	silent int64
}

func newSplit(s connector.Split, seq int64) *split {
	return &split{Split: s, seq: seq, file: seq, ready: op.MinWatermark, held: op.MinWatermark, silent: unset}
}

// enqueue lets a split wait for its turn. Until then it holds the watermark
// back, unless it goes on where others end and the reader has one of those:
// what bounds their rows bounds its rows, too.
func (r *reader) enqueue(s *split) {
	r.queue = append(r.queue, s)
	switch {
	case !s.Sequel || s.restored != nil:
		r.time.hold++
	case !r.begun[s.file]:
		r.time.hold++
		r.sequels[s.file]++
	}
}

// dequeue is the inverse of enqueue, for the first split of the queue.
func (r *reader) dequeue() *split {
	s := r.queue[0]
	r.queue[0], r.queue = nil, r.queue[1:]
	switch {
	case !s.Sequel || s.restored != nil:
		r.time.hold--
	case !r.begun[s.file]:
		r.time.hold--
		r.sequels[s.file]--
	}
	return s
}

// begin notes that the reader has a split of a file.
func (r *reader) begin(file int64) {
	if r.begun[file] {
		return
	}
	r.begun[file] = true
	r.time.hold -= r.sequels[file]
	delete(r.sequels, file)
}

// assign takes over splits in the order in which they were found.
func (r *reader) assign(splits []*split, last bool) {
	if r.ended {
		return // the job was drained
	}
	r.more = !last
	bounded := r.node.Source.Source.Bounded()
	for _, s := range splits {
		if !bounded && !s.Ends {
			r.openSplit(s)
			continue
		}
		r.enqueue(s)
	}
	r.openNext()
	if len(r.open) > 0 {
		r.retime()
	}
	r.endIfDone()
	r.task.speak()
}

// openNext opens the first split of the queue, unless one that ends is open.
func (r *reader) openNext() {
	if len(r.queue) == 0 {
		return
	}
	bounded := r.node.Source.Source.Bounded()
	for _, s := range r.open {
		if bounded || s.Ends {
			return
		}
	}
	r.openSplit(r.dequeue())
}

func (r *reader) openSplit(s *split) {
	t := inputTime{wm: op.MinWatermark}
	switch {
	case s.restored != nil:
		t = *s.restored
	case s.Sequel && r.begun[s.file]:
		t.wm = r.time.out
	}
	r.begin(s.file)
	s.wm, s.held, s.idle = t.wm, max(s.held, t.wm), t.idle
	s.ready = s.wm
	if r.node.Source.Period > 0 {
		s.ready = s.held
	}
	s.input, r.emptySince = r.time.add(t), unset
	r.open = append(r.open, s)
	if err := r.connect(s); err != nil {
		r.fail(err)
	}
}

func (r *reader) connect(s *split) (err error) {
	t := r.task
	ctx, cancel := context.WithCancel(t.job.ctx)
	s.cancel = cancel
	if f := r.node.Source.Watermark; f != nil {
		if s.watermark, err = f(); err != nil {
			return err
		}
	}
	s.reader, err = r.node.Source.Source.Open(&connector.ReaderContext{
		Context: ctx, Subtask: t.subtask, Parallelism: r.node.Parallelism,
		Go: func(f func(context.Context) error) {
			t.job.spawn(&t.job.connectors, func() error { return f(ctx) }, r.failure)
		},
		Wake: func() {
			s.woken.Store(true)
			t.wake()
		},
		Now: t.job.cfg.Clock.Now, Count: r.stats.count, Sample: r.stats.sample,
	}, s.Split, s.position)
	return err
}

func (r *reader) failure(err error) *Error {
	return &Error{Node: r.node.ID, Name: r.node.Name, Subtask: r.task.subtask, Err: err, speaks: true}
}

func (r *reader) fail(err error) {
	if r.task.chain.err == nil {
		r.task.chain.err = r.failure(err)
	}
}

// start tells the operators the time at which a restored reader goes on.
func (r *reader) start() {
	if r.time.out > op.MinWatermark {
		r.task.chain.deliver(0, event{kind: evWatermark, n: r.time.out})
	}
}

// step reads from the next split that has something.
func (r *reader) step() Status {
	if r.stopped || r.ended {
		return r.task.rest()
	}
	for i := range r.open {
		k := (r.turn + i) % len(r.open)
		s := r.open[k]
		if s.waiting && !s.woken.Load() || r.ahead(s) {
			continue
		}
		r.turn = k + 1
		r.read(s)
		return Progress
	}
	if r.tick() {
		return Progress
	}
	return r.task.rest()
}

// read handles one chunk of a split.
func (r *reader) read(s *split) {
	r.task.chain.cur.Store(nil)
	s.woken.Store(false)
	c, err := s.reader.Read(r.task.job.cfg.BatchSize)
	if err == nil {
		err = r.handle(s, c)
	}
	if err != nil {
		r.fail(err)
	}
}

func (r *reader) handle(s *split, c connector.Chunk) error {
	n := rowsOf(c)
	if (n > 0 || c.HasWatermark) && (s.idle || s.silent != unset) {
		s.idle, s.silent = false, unset
		r.time.set(s.input, s.wm, false)
		r.retime()
	}
	if n > 0 {
		r.flushed = false
		r.stats.in.Add(int64(n))
	}
	if err := r.emit(s, c); err != nil {
		return err
	}
	if c.Position != nil {
		s.position = c.Position
	}
	r.follow(s, c)
	return nil
}

// rowsOf is the number of rows of a chunk.
func rowsOf(c connector.Chunk) int {
	if c.Batch == nil {
		return 0
	}
	return c.Batch.Rows()
}

// follow does what comes behind the rows of a chunk.
func (r *reader) follow(s *split, c connector.Chunk) {
	if !c.Hold {
		s.ready = max(s.ready, s.held)
	}
	s.waiting = c.Status == connector.Wait || c.Status == connector.Idle
	switch c.Status {
	case connector.End:
		// Its last rows count as those before do: there may be no other split
		// for long, and windows that end before them would wait for one.
		s.wm = s.ready
		r.time.set(s.input, s.wm, s.idle)
		r.retime()
		r.endSplit(s)
		return
	case connector.Idle:
		s.wm, s.idle = s.ready, true
	}
	if s.waiting && s.silent == unset {
		s.silent = r.task.clock()
	}
	r.advance(s)
}

// endSplit closes a split and goes on with the next one. That one is opened
// first, so that time does not jump to the end in between.
func (r *reader) endSplit(s *split) {
	s.cancel()
	if err := s.reader.Close(); err != nil {
		r.fail(err)
		return
	}
	s.reader = nil
	for i, o := range r.open {
		if o == s {
			r.open = append(r.open[:i], r.open[i+1:]...)
			break
		}
	}
	r.done = append(r.done, &split{Split: connector.Split{ID: s.ID}, seq: s.seq, file: s.file})
	r.openNext()
	r.time.end(s.input)
	if len(r.open) > 0 {
		r.retime()
	}
	r.endIfDone()
}

// endIfDone sends the end on when there is and will be nothing to read; while
// there may be, a reader without splits is idle.
func (r *reader) endIfDone() {
	switch {
	case len(r.open)+len(r.queue) > 0 || r.ended:
	case r.more:
		if r.emptySince == unset {
			r.emptySince = r.task.clock()
		}
		r.report()
		if !r.time.idle {
			r.time.idle = true
			r.task.chain.deliver(0, event{kind: evIdle, flag: true})
		}
	default:
		r.ended = true
		r.retime()
		r.task.chain.deliver(0, event{kind: evEnd})
		r.task.job.sourceEnded()
	}
}

// save returns what a checkpoint holds of the reader.
func (r *reader) save() checkpoint.NodePart {
	p := checkpoint.NodePart{Node: r.node.ID, Index: r.task.subtask, Counters: r.stats.counts()}
	p.Watermark = r.time.out
	for _, s := range r.done {
		p.Splits = append(p.Splits, checkpoint.Split{ID: s.ID, Seq: s.seq, File: s.file, Reader: p.Index, Done: true})
	}
	p.Splits = append(append(p.Splits, r.left...), r.saveSplits()...)
	return p
}

// saveSplits returns what a checkpoint holds of the splits that are being read
// and of those that wait for that.
func (r *reader) saveSplits() (out []checkpoint.Split) {
	for _, s := range r.open {
		c := s.save(r.task.subtask)
		t := r.time.inputs[s.input]
		c.Opened, c.Watermark, c.Held, c.Idle, c.Behind = true, s.wm, s.held, t.idle, t.behind
		out = append(out, c)
	}
	for _, s := range r.queue {
		c := s.save(r.task.subtask)
		if t := s.restored; t != nil {
			c.Opened, c.Watermark, c.Held, c.Idle, c.Behind = true, t.wm, s.held, t.idle, t.behind
		}
		out = append(out, c)
	}
	return out
}

// drain sends the end on, as if the input had ended where the reader is.
func (r *reader) drain() {
	if r.ended || r.stopped {
		return
	}
	r.left = r.saveSplits()
	if err := r.close(); err != nil {
		r.fail(err)
		return
	}
	for _, s := range r.open {
		r.time.end(s.input)
	}
	r.open, r.queue, r.time.hold, r.more = nil, nil, 0, false
	r.endIfDone()
}

func (s *split) save(reader int) checkpoint.Split {
	return checkpoint.Split{ID: s.ID, Seq: s.seq, File: s.file, Reader: reader, Data: s.Data, Position: s.position, Ends: s.Ends, Sequel: s.Sequel}
}

// restoreSplit is the inverse of save.
func restoreSplit(c checkpoint.Split) *split {
	s := newSplit(connector.Split{ID: c.ID, Data: c.Data, Ends: c.Ends, Sequel: c.Sequel}, c.Seq)
	s.position, s.file = c.Position, c.File
	if c.Opened {
		s.restored = &inputTime{wm: c.Watermark, idle: c.Idle, behind: c.Behind}
		s.held = c.Held
	}
	return s
}

// close closes all open splits.
func (r *reader) close() error {
	var first error
	for _, s := range r.open {
		s.cancel()
		if s.reader == nil {
			continue
		}
		if err := s.reader.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
