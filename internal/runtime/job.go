package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
)

// Job is one run of a graph: from a checkpoint, or from the start, to its end,
// a failure or a stop. It is either run on goroutines, by Run, or stepped on
// the caller's goroutine, by Drain and its kin.
type Job struct {
	graph *graph.Graph
	cfg   Config
	// data is nil for a job that keeps nothing.
	data *Data
	// restored is set if the job goes on from a checkpoint.
	restored bool
	// concurrent is set by Run.
	concurrent bool

	ctx    context.Context
	cancel context.CancelFunc
	// wg counts the job's goroutines, connectors those that readers asked for.
	wg, connectors sync.WaitGroup

	// transfers has a place for each file that may be fetched or uploaded at the
	// same time.
	transfers chan struct{}

	tasks   []*task
	sources []*discovery
	groups  map[string]*group
	stats   map[*graph.Node][]*stats
	control control

	failure atomic.Pointer[Error]
	// givenUp is set when the job stops as it is, without a last checkpoint.
	givenUp atomic.Bool
	// running is the number of tasks that are not done; over is closed when it
	// is 0.
	running atomic.Int32
	over    chan struct{}
	closed  bool
	// inspecting is held while tasks are asked questions, and when they are started
	// and closed.
	inspecting sync.Mutex

	lastCheckpoint, lastCheckpointTime atomic.Int64
	failed                             *failedCheckpoints
}

// NewJob makes the tasks of a graph and opens their operators and writers. data
// may be nil; otherwise the job goes on from its newest checkpoint.
func NewJob(g *graph.Graph, cfg Config, data *Data) (*Job, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	var from *checkpoint.Manifest
	if data != nil {
		if err := data.begin(); err != nil {
			return nil, err
		}
		from = data.dir.Latest()
	}
	j := &Job{
		graph: g, cfg: cfg.Defaults(), data: data, restored: from != nil,
		over: make(chan struct{}), stats: map[*graph.Node][]*stats{}, failed: &failedCheckpoints{},
	}
	j.control.job = j
	if err := j.cfg.fitQueues(g); err != nil {
		return nil, err
	}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	b := builder{job: j, from: from, chains: map[*graph.Node][]*task{}}
	if err := b.build(); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	j.control.start(b.from)
	for _, d := range j.sources {
		if err := d.restore(b.from); err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	return j, nil
}

// builder makes the tasks of a job.
type builder struct {
	job  *Job
	from *checkpoint.Manifest
	// chains are the tasks by each node that they run.
	chains map[*graph.Node][]*task
}

func (b *builder) build() error {
	if err := b.check(); err != nil {
		return err
	}
	for _, nodes := range b.job.graph.Chains() {
		for i := range nodes[0].Parallelism {
			t := b.task(nodes, i)
			for _, n := range nodes {
				b.chains[n] = append(b.chains[n], t)
			}
			if err := b.stages(t, nodes); err != nil {
				return err
			}
		}
		b.connect(nodes[0])
		if nodes[0].Source != nil {
			b.job.sources = append(b.job.sources, newDiscovery(b.job, nodes[0], b.chains[nodes[0]]))
		}
	}
	b.job.running.Store(int32(len(b.job.tasks)))
	b.job.transfers = make(chan struct{}, max(filesAtOnce, len(b.job.tasks)))
	return b.open()
}

// check refuses a checkpoint with state that the graph has no place for, or
// leaves that out.
func (b *builder) check() error {
	if b.from == nil {
		return nil
	}
	if b.from.Drained {
		return &checkpoint.RefusedError{Msg: fmt.Sprintf("job %s was drained with checkpoint %d: its windows were closed as if the input had ended, so it cannot go on; "+
			"begin from an earlier savepoint, or start anew with --fresh", b.from.Job, b.from.ID)}
	}
	from, changed, err := b.from.Adapt(b.job.graph, b.job.cfg.AllowLoss)
	if err != nil {
		return err
	}
	for _, c := range changed {
		what := "migrated"
		if c.Fate == checkpoint.Lost {
			what = "given up"
		}
		b.job.cfg.Log(fmt.Sprintf("job %s: %s: %s", b.from.Job, what, c))
	}
	b.from = from
	if b.from.Plan != b.job.graph.Fingerprint() {
		b.job.cfg.Log(fmt.Sprintf("job %s: the query is not the one that checkpoint %d was taken with; operators with the same IDs keep their state",
			b.from.Job, b.from.ID))
	}
	return nil
}

func (b *builder) task(nodes []*graph.Node, i int) *task {
	j := b.job
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	t := &task{
		job: j, id: len(j.tasks), name: fmt.Sprintf("%s %d/%d", strings.Join(names, " -> "), i, nodes[0].Parallelism),
		subtask: i, timer: never, blockedSince: unset, now: unset, outTime: op.MinWatermark, sleep: make(chan struct{}, 1),
	}
	t.chain.tail = t
	j.tasks = append(j.tasks, t)
	return t
}

// stages makes the stages of a task, and its reader.
func (b *builder) stages(t *task, nodes []*graph.Node) error {
	for _, n := range nodes {
		st := newStats()
		b.job.stats[n] = append(b.job.stats[n], st)
		saved := b.saved(n, t.subtask)
		if t.subtask == 0 {
			for _, c := range saved.counters {
				st.count(c.Name, c.N)
			}
		}
		switch {
		case n.Source != nil:
			t.reader = newReader(t, n, st)
			if b.from != nil {
				t.reader.time.out = saved.watermark
			}
			if err := b.sourceOps(t, n, st); err != nil {
				return err
			}
		case n.Sink != nil:
			s := t.addStage(n, st)
			s.resume, s.ended = saved.watermark, saved.ended
			t.sink = s
		default:
			s := t.addStage(n, st)
			s.resume, s.ended = saved.watermark, saved.ended
			o, err := n.New()
			if err != nil {
				return &Error{Node: n.ID, Name: n.Name, Subtask: t.subtask, Err: err}
			}
			s.bind(o)
		}
	}
	return nil
}

func (b *builder) sourceOps(t *task, n *graph.Node, st *stats) error {
	for i, f := range n.Source.Ops {
		s := t.addStage(n, st)
		s.rowsIn = new(atomic.Int64)
		if i < len(n.Source.Ops)-1 {
			s.rowsOut = new(atomic.Int64)
		}
		o, err := f()
		if err != nil {
			return &Error{Node: n.ID, Name: n.Name, Subtask: t.subtask, Err: err}
		}
		s.bind(o)
	}
	return nil
}

func (t *task) addStage(n *graph.Node, st *stats) *stage {
	s := &stage{
		chain: &t.chain, index: len(t.chain.stages), node: n, stats: st, rowsIn: &st.in, rowsOut: &st.out,
		in: op.MinWatermark, out: op.MinWatermark, resume: op.MinWatermark, open: max(len(n.Inputs), 1),
	}
	name := fmt.Sprintf("%s %d/%d", n.Name, t.subtask, n.Parallelism)
	s.ctx = &op.Context{
		Name: n.Name, ID: n.ID, Subtask: t.subtask, Parallelism: n.Parallelism, State: noTables{name},
		Now: t.clock, TimerAt: func(ms int64) { t.at(s, ms) }, Count: st.count, Sample: st.sample,
	}
	if n.New != nil {
		s.store = t.job.store(name, n, t.subtask, t.wake)
		s.store.cfg.Now = t.clock
		s.store.cfg.Expired = func(rows int64) { st.count("expired_rows", rows) }
		s.ctx.State = s.store
	}
	t.chain.stages = append(t.chain.stages, s)
	return s
}

// store returns the place for an instance's tables. wake wakes its task.
func (j *Job) store(name string, n *graph.Node, subtask int, wake func()) *store {
	c := state.Config{
		Name: name, Subtask: subtask, Parallelism: n.Parallelism,
		Backend: j.cfg.State.Backend, MaxRows: j.cfg.State.MaxRows, Budget: j.cfg.State.Budget, Wake: wake,
	}
	switch {
	case j.data != nil:
		c.FS, c.Dir = j.data.fs, j.data.stateDir(j.index(n), subtask)
	case c.Backend == state.Disk && c.Budget != nil:
		c.FS, c.Dir = scratch()
		c.Scratch = true
	}
	return &store{cfg: c}
}

// connect makes the channels of the inputs of a chain, which are those of its
// first node.
func (b *builder) connect(n *graph.Node) {
	to := b.chains[n]
	for k, e := range n.Inputs {
		from := b.chains[e.From]
		senders := len(from)
		if e.Ship == graph.Forward {
			senders = 1
		}
		bytes := max(b.job.cfg.QueueBytes/senders, 64<<10)
		for i, f := range from {
			out := &outEdge{ship: e.Ship, keys: e.Keys, side: e.Side, next: i % len(to)}
			for r, t := range to {
				if e.Ship == graph.Forward && r != i {
					continue
				}
				ch := newChannel(f, t, b.job.cfg.QueueBatches, bytes)
				out.chans = append(out.chans, ch)
				t.inputs = append(t.inputs, &input{ch: ch, edge: k, silent: true})
			}
			out.parts = make([]*batch.Batch, len(out.chans))
			f.outs = append(f.outs, out)
		}
	}
	for _, t := range to {
		t.time = newCombiner(len(t.inputs))
		t.open = make([]int, len(n.Inputs))
		for _, in := range t.inputs {
			t.open[in.edge]++
		}
		t.time.hold = len(t.inputs)
		if b.from != nil {
			t.time.out = b.saved(n, t.subtask).watermark
		}
	}
}

// open opens operators and writers, the last ones of each chain first.
func (b *builder) open() error {
	for _, t := range b.job.tasks {
		for i := len(t.chain.stages) - 1; i >= 0; i-- {
			s := t.chain.stages[i]
			if err := b.openStage(t, s); err != nil {
				return &Error{Node: s.node.ID, Name: s.node.Name, Subtask: t.subtask, Err: err, speaks: s.op == nil}
			}
		}
	}
	return nil
}

func (b *builder) openStage(t *task, s *stage) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked("", v)
		}
	}()
	if s.op != nil {
		if s.store != nil {
			s.store.parts = b.parts(s.node)
		}
		if o, ok := s.op.(op.Opener); ok {
			return o.Open(s.ctx)
		}
		return nil
	}
	j := b.job
	c := &connector.WriterContext{
		Context: j.ctx, Subtask: t.subtask, Parallelism: s.node.Parallelism, Job: j.cfg.Job, ID: s.node.ID, Incarnation: 1,
		Now: j.cfg.Clock.Now, Count: s.stats.count,
	}
	if j.data != nil {
		c.Incarnation = j.data.meta.Incarnation
	}
	if b.from != nil {
		c.Published = b.from.Published
	}
	var mine [][]byte
	mine, c.Others = b.sinkStates(s.node, t.subtask)
	s.writer, err = s.node.Sink.Sink.Open(c, mine)
	return err
}

// sinkStates are the states of the old subtasks that a writer takes over, and
// those that others do.
func (b *builder) sinkStates(n *graph.Node, subtask int) (mine, others [][]byte) {
	if b.from == nil {
		return nil, nil
	}
	old := b.from.Node(n.ID)
	if old == nil {
		return nil, nil
	}
	mine = [][]byte{}
	for i, s := range old.Subtasks {
		switch {
		case s.Sink == nil:
		case i%n.Parallelism == subtask:
			mine = append(mine, s.Sink)
		default:
			others = append(others, s.Sink)
		}
	}
	return mine, others
}

// saved is what the checkpoint tells one instance of a node.
type saved struct {
	watermark int64
	ended     []int
	counters  []checkpoint.Counter
}

// saved returns what the instance had seen. Where the parallelism has changed
// that is what all old instances had.
func (b *builder) saved(n *graph.Node, subtask int) saved {
	none := saved{watermark: op.MinWatermark}
	if b.from == nil {
		return none
	}
	old := b.from.Node(n.ID)
	if old == nil || len(old.Subtasks) == 0 {
		return none
	}
	if len(old.Subtasks) == n.Parallelism {
		s := old.Subtasks[subtask]
		return saved{s.Watermark, s.Ended, old.Counters}
	}
	out := saved{watermark: op.MaxWatermark, counters: old.Counters}
	times := map[int]int{}
	for _, s := range old.Subtasks {
		out.watermark = min(out.watermark, s.Watermark)
		for _, in := range s.Ended {
			times[in]++
		}
	}
	for in := range n.Inputs {
		if times[in] == len(old.Subtasks) {
			out.ended = append(out.ended, in)
		}
	}
	return out
}

// index is the position of a node in the graph.
func (j *Job) index(n *graph.Node) int {
	for i, m := range j.graph.Nodes {
		if m == n {
			return i
		}
	}
	return -1
}

// fail ends the job; the first reason counts.
func (j *Job) fail(err *Error) {
	err.Err = refuseDamage(err.Err)
	if j.failure.CompareAndSwap(nil, err) {
		j.failed.add(err.Err, j.cfg.Clock.Now())
		j.cancel()
	}
}

// Err returns why the job has failed; nil if it has not.
func (j *Job) Err() error {
	if err := j.failure.Load(); err != nil {
		return err
	}
	return nil
}

// ended notes that a task is done.
func (j *Job) ended(*task) {
	if j.running.Add(-1) == 0 {
		close(j.over)
	}
}

// Over reports whether the job has come to its end: all input has been
// processed, or it was stopped, and the last checkpoint was committed.
func (j *Job) Over() bool { return j.running.Load() == 0 }

// Finished reports whether all input has ended. That of a job that was drained
// has not.
func (j *Job) Finished() bool { return j.control.finished.Load() && !j.control.drained.Load() }

// spawn runs f on a goroutine of its own; an error or a panic fails the job.
func (j *Job) spawn(wg *sync.WaitGroup, f func() error, wrap func(error) *Error) {
	wg.Add(1)
	go func() {
		defer wg.Done()
		defer func() {
			if v := recover(); v != nil {
				stack := panicked("", v)
				err := wrap(stack.Err)
				err.Stack = stack.Stack
				j.fail(err)
			}
		}()
		if err := f(); err != nil && j.ctx.Err() == nil {
			j.fail(wrap(err))
		}
	}()
}

// failure is the wrap of spawn for goroutines of the job itself.
func failure(err error) *Error { return &Error{Err: err} }

// connectorGrace is how long Close waits for the goroutines of readers. One may
// be in a read that nothing can interrupt, such as that of a terminal.
const connectorGrace = time.Second

// await waits for the job's goroutines to end.
func (j *Job) await() {
	j.wg.Wait()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		j.connectors.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(connectorGrace):
	}
}

// Close releases all that the job holds. What is not in a checkpoint is lost,
// as in a crash.
func (j *Job) Close() error {
	if j.closed {
		return nil
	}
	j.closed = true
	j.cancel()
	j.await()
	j.inspecting.Lock()
	defer j.inspecting.Unlock()
	j.control.end()
	var errs []error
	for _, t := range j.tasks {
		errs = append(errs, t.close())
	}
	if j.data != nil {
		errs = append(errs, j.data.clearState())
	}
	return errors.Join(errs...)
}

// close closes operators, the writer, the readers and the state of a task.
func (t *task) close() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.Join(err, panicked(t.name, v))
		}
	}()
	if t.reader != nil {
		err = t.reader.close()
	}
	for _, s := range t.chain.stages {
		if c, ok := s.op.(op.Closer); ok {
			err = errors.Join(err, c.Close())
		}
		if s.writer != nil {
			err = errors.Join(err, s.writer.Close())
		}
		if s.store != nil {
			err = errors.Join(err, s.store.close())
		}
	}
	return err
}
