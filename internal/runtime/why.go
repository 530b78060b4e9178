package runtime

import (
	"slices"
	"strings"
	"time"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
)

// Why says what the results of a job wait for: each operator that holds rows
// back until event time has come so far, and the splits that hold time. All
// times are ms since the epoch; those that are not known are nil.
type Why struct {
	Job string `json:"job"`
	// Running is set if the job was asked; otherwise this is what its last
	// checkpoint says.
	Running        bool  `json:"running"`
	Checkpoint     int64 `json:"checkpoint,omitempty"`
	CheckpointTime int64 `json:"checkpointTime,omitempty"`
	// Finished is set if all input has ended.
	Finished bool `json:"finished,omitempty"`
	// Now is the processing time.
	Now    int64      `json:"now"`
	Waits  []Wait     `json:"waits"`
	Tables []WhyTable `json:"tables"`
	Sinks  []WhySink  `json:"sinks"`
	Losses []WhyLoss  `json:"losses"`
	// Slow are the nodes whose input is full, so that all before them stand still.
	Slow []WhySlow `json:"slow"`
	// Busy are the tasks that did not answer in time.
	Busy []string `json:"busy"`
}

// Wait is an operator that holds rows back.
type Wait struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Watermark is that of the operator, Needs the one at which its next results
	// come. That of a checkpoint does not tell Needs.
	Watermark *int64 `json:"watermark"`
	Needs     *int64 `json:"needs"`
	// AllIdle is set if every input is idle: time stands still until one is back.
	AllIdle bool     `json:"allIdle,omitempty"`
	Holders []Holder `json:"holders"`
}

// Cause says why a split holds time back.
type Cause string

// The causes.
const (
	// CauseUnread: no row of it with a time was read yet.
	CauseUnread Cause = "unread"
	// CauseSilent: it has nothing to read.
	CauseSilent Cause = "silent"
	// CauseSlowest: it is being read, and is the one that has come least far.
	CauseSlowest Cause = "slowest"
	// CauseIdle: it is idle, and so are all others.
	CauseIdle Cause = "idle"
	// CauseQueued: it waits until those before it have been read.
	CauseQueued Cause = "queued"
	// CauseAligned: it waits for its alignment group.
	CauseAligned Cause = "aligned"
	// CauseEmpty: the reader has no split.
	CauseEmpty Cause = "empty"
)

// Holder is a split, or a reader without one, that holds time back.
type Holder struct {
	Table  string `json:"table"`
	Split  string `json:"split,omitempty"`
	Reader int    `json:"reader"`
	Cause  Cause  `json:"cause"`
	// Watermark is that of the split, EventTime the latest of its rows.
	Watermark *int64 `json:"watermark"`
	EventTime *int64 `json:"eventTime"`
	// SilentSince is since when it has nothing to read.
	SilentSince *int64 `json:"silentSince"`
	// NeedsEventTime is the event time of a row that would bring it as far as the
	// operator waits for.
	NeedsEventTime *int64 `json:"needsEventTime"`
	// More is the number of splits in the same case that are not listed.
	More int `json:"more,omitempty"`
}

// WhyTable is a table that is read.
type WhyTable struct {
	Table    string `json:"table"`
	Location string `json:"location,omitempty"`
	// Splits is the number of splits that were found.
	Splits int64 `json:"splits"`
	// Rows were read, and Passed what stands with the source in the plan.
	Rows      int64  `json:"rows"`
	Passed    int64  `json:"passed"`
	Watermark *int64 `json:"watermark"`
	// HasWatermark is set if the query needs the table's watermark.
	HasWatermark bool `json:"hasWatermark"`
	// IdleTimeout and FlushAfterIdle are the options, 0 if they are not set; Group
	// and MaxDrift those of alignment.
	IdleTimeout    int64  `json:"idleTimeout"`
	FlushAfterIdle int64  `json:"flushAfterIdle"`
	Group          string `json:"group,omitempty"`
	MaxDrift       int64  `json:"maxDrift,omitempty"`
	// Looks is the time between two looks for new splits; 0 if there is but one.
	Looks int64 `json:"looks"`
}

// WhySink is a table that is written, or the printed result.
type WhySink struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

// WhyLoss is what an operator or source has left out.
type WhyLoss struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Counter string `json:"counter"`
	Count   int64  `json:"count"`
	Sample  string `json:"sample,omitempty"`
}

// WhySlow is a node whose input has been full since a time.
type WhySlow struct {
	Name  string `json:"name"`
	Since int64  `json:"since"`
}

// newWhy returns an explanation that says nothing; its lists are not nil, for
// those who read them as JSON.
func newWhy(job string) *Why {
	return &Why{Job: job, Waits: []Wait{}, Tables: []WhyTable{}, Sinks: []WhySink{}, Losses: []WhyLoss{}, Slow: []WhySlow{}, Busy: []string{}}
}

// Why tells what the job's results wait for. It may be called from any
// goroutine. Tasks that do not answer within patience are named as busy.
func (j *Job) Why(patience time.Duration) *Why {
	w := newWhy(j.cfg.Job)
	w.Running, w.Finished, w.Now = true, j.Finished(), j.cfg.Clock.Now()
	w.Checkpoint, w.CheckpointTime = j.lastCheckpoint.Load(), j.lastCheckpointTime.Load()
	a := &asker{why: w, reports: map[*task]*taskReport{}}
	for i, r := range j.inspect(patience) {
		switch {
		case r != nil:
			a.reports[j.tasks[i]] = r
		case j.ctx.Err() == nil:
			w.Busy = append(w.Busy, j.tasks[i].name)
		}
	}
	for _, n := range j.graph.Nodes {
		a.wait(n)
	}
	a.slow(j.tasks)
	w.count(j)
	return w
}

// count adds what the counters of a job say.
func (w *Why) count(j *Job) {
	for i, m := range j.Metrics().Nodes {
		n := j.graph.Nodes[i]
		switch {
		case n.Source != nil:
			w.Tables = append(w.Tables, j.whyTable(n, m))
		case n.Sink != nil:
			w.Sinks = append(w.Sinks, WhySink{n.Sink.Table, m.In})
		}
		for name, c := range m.Counters {
			if c > 0 {
				l := WhyLoss{ID: n.ID, Name: n.Name, Counter: name, Count: c}
				if s := m.Samples[name]; len(s) > 0 {
					l.Sample = s[0]
				}
				w.Losses = append(w.Losses, l)
			}
		}
	}
	slices.SortStableFunc(w.Losses, func(a, b WhyLoss) int {
		return strings.Compare(a.ID+" "+a.Counter, b.ID+" "+b.Counter)
	})
}

func (j *Job) whyTable(n *graph.Node, m NodeMetrics) WhyTable {
	t := WhyTable{
		Table: n.Source.Table, Rows: m.In, Passed: m.Out, Watermark: maybe(m.Watermark), HasWatermark: timed(n.Source),
		IdleTimeout: n.Source.IdleTimeout, FlushAfterIdle: n.Source.FlushAfterIdle, Group: n.Source.Group, MaxDrift: n.Source.MaxDrift,
	}
	for _, d := range j.sources {
		if d.node == n {
			t.Splits, t.Looks = d.found.Load(), d.interval()
			t.Location = strings.TrimPrefix(d.where(), " at ")
		}
	}
	return t
}

// timed reports whether a source sends watermarks.
func timed(s *graph.Source) bool { return s.Watermark != nil || s.SourceWatermark }

// maybe is a watermark that says something, or nil.
func maybe(wm int64) *int64 {
	if !known(wm) {
		return nil
	}
	return &wm
}

// asker walks through the reports of a job's tasks.
type asker struct {
	why     *Why
	reports map[*task]*taskReport
}

// wait adds a node if one of its instances holds rows back: that whose results
// are due first.
func (a *asker) wait(n *graph.Node) {
	var first *taskReport
	wm, due := int64(op.MaxWatermark), int64(op.MaxWatermark)
	for _, r := range a.reports {
		for _, s := range r.stages {
			if s.node != n {
				continue
			}
			wm = min(wm, s.in)
			if s.waits && (first == nil || s.due < due || s.due == due && r.task.id < first.task.id) {
				first, due = r, s.due
			}
		}
	}
	if first == nil {
		return
	}
	w := Wait{ID: n.ID, Name: n.Name, Watermark: maybe(wm), Needs: &due, AllIdle: first.idle}
	h := holders{asker: a, due: due, seen: map[*task]bool{}, list: []Holder{}}
	h.of(first)
	w.Holders = h.list
	a.why.Waits = append(a.why.Waits, w)
}

// holders collects the splits that hold the time of a task.
type holders struct {
	*asker
	due  int64
	seen map[*task]bool
	list []Holder
}

// of follows the inputs that hold a task's time.
func (h *holders) of(r *taskReport) {
	if r == nil || h.seen[r.task] {
		return
	}
	h.seen[r.task] = true
	if r.reader != nil {
		h.reader(r)
		return
	}
	low, active, spoken := int64(op.MaxWatermark), false, true
	for _, in := range r.inputs {
		if in.silent {
			spoken = false
			h.of(h.reports[in.from])
		}
		if in.counts() {
			low, active = min(low, in.wm), true
		}
	}
	if !spoken {
		return
	}
	for _, in := range r.inputs {
		if active && in.counts() && in.wm == low || !active && in.idle {
			h.of(h.reports[in.from])
		}
	}
}

// counts reports whether an input or a split may hold time back.
func (t *inputTime) counts() bool { return !t.ended && !t.idle && !t.behind }

// maxHolders is the number of splits that are named for each reader.
const maxHolders = 5

// reader adds the splits that hold a reader's time.
func (h *holders) reader(r *taskReport) {
	n := r.task.reader.node
	base := Holder{Table: n.Source.Table, Reader: r.task.subtask}
	rr := r.reader
	low, active := int64(op.MaxWatermark), false
	for i := range rr.splits {
		if s := &rr.splits[i]; s.counts() {
			low, active = min(low, s.wm), true
		}
	}
	switch {
	case rr.ended:
		return
	case len(rr.queued) > 0:
		q := base
		q.Split, q.Cause, q.More = rr.queued[0], CauseQueued, len(rr.queued)-1
		h.list = append(h.list, q)
	case len(rr.splits) == 0:
		h.empty(base, r.wm, n.Source)
		return
	}
	named := 0
	for i := range rr.splits {
		s := &rr.splits[i]
		if active && !(s.counts() && s.wm == low) || !active && !s.idle {
			continue
		}
		if named++; named > maxHolders {
			h.list[len(h.list)-1].More++
			continue
		}
		h.list = append(h.list, h.split(base, s, n.Source))
	}
}

// empty adds a reader without splits; those of one table are one.
func (h *holders) empty(base Holder, wm int64, src *graph.Source) {
	for i := range h.list {
		if o := &h.list[i]; o.Table == base.Table && o.Cause == CauseEmpty {
			if known(wm) && (o.Watermark == nil || *o.Watermark < wm) {
				h.times(o, wm, wm, src)
			}
			o.More++
			return
		}
	}
	base.Cause = CauseEmpty
	h.times(&base, wm, wm, src)
	h.list = append(h.list, base)
}

// times fills in the times of a split: of its watermark, and of what its rows
// allow.
func (h *holders) times(o *Holder, wm, held int64, src *graph.Source) {
	o.Watermark = maybe(wm)
	if !src.DelayKnown {
		return
	}
	if known(held) {
		t := held + src.Delay
		o.EventTime = &t
	}
	if known(h.due) {
		t := h.due + src.Delay
		o.NeedsEventTime = &t
	}
}

func (h *holders) split(base Holder, s *splitReport, src *graph.Source) Holder {
	base.Split = s.id
	h.times(&base, s.wm, s.held, src)
	switch {
	case s.idle:
		base.Cause = CauseIdle
	case s.paused:
		base.Cause = CauseAligned
	case s.held == op.MinWatermark:
		base.Cause = CauseUnread
	case s.silent != unset:
		base.Cause = CauseSilent
	default:
		base.Cause = CauseSlowest
	}
	if s.silent != unset {
		base.SilentSince = &s.silent
	}
	return base
}

// slow adds the tasks whose input is full although they themselves could go on.
func (a *asker) slow(tasks []*task) {
	since := map[*task]int64{}
	for _, t := range tasks {
		r := a.reports[t]
		if r == nil || r.blocked == unset {
			continue
		}
		for _, to := range t.fullReceivers() {
			if b := a.reports[to]; b != nil && b.blocked != unset {
				continue // it waits itself
			}
			if at, has := since[to]; !has || r.blocked < at {
				since[to] = r.blocked
			}
		}
	}
	for _, t := range tasks {
		if at, has := since[t]; has {
			a.why.Slow = append(a.why.Slow, WhySlow{t.name, at})
		}
	}
}

// fullReceivers are the tasks that have no room for what this one sends.
func (t *task) fullReceivers() (out []*task) {
	for _, e := range t.outs {
		for _, c := range e.chans {
			if to, is := c.to.(*task); is && c.full.Load() {
				out = append(out, to)
			}
		}
	}
	return out
}

// WhyOf tells what a checkpoint says of a job that is not running.
func WhyOf(m *checkpoint.Manifest) *Why {
	w := newWhy(m.Job)
	w.Checkpoint, w.CheckpointTime, w.Now, w.Finished = m.ID, m.Time, m.Time, m.Finished
	var sources []*checkpoint.Node
	for i := range m.Nodes {
		n := &m.Nodes[i]
		wm, state := int64(op.MaxWatermark), false
		for _, s := range n.Subtasks {
			wm = min(wm, s.Watermark)
			state = state || s.State != nil && len(s.State.Files) > 0
		}
		if table, is := strings.CutPrefix(n.Name, "Source["); is {
			sources = append(sources, n)
			w.Tables = append(w.Tables, WhyTable{
				Table: strings.TrimSuffix(table, "]"), Splits: int64(len(n.Splits)), Watermark: maybe(wm),
				HasWatermark: slices.ContainsFunc(n.Splits, func(s checkpoint.Split) bool { return s.Opened && known(s.Held) }),
			})
		} else if state {
			w.Waits = append(w.Waits, Wait{ID: n.ID, Name: n.Name, Watermark: maybe(wm), Holders: []Holder{}})
		}
		for _, c := range n.Counters {
			w.Losses = append(w.Losses, WhyLoss{ID: n.ID, Name: n.Name, Counter: c.Name, Count: c.N})
		}
	}
	for i := range w.Waits {
		for _, n := range sources {
			w.Waits[i].Holders = append(w.Waits[i].Holders, savedHolders(n)...)
		}
	}
	return w
}

// savedHolders are the splits of a checkpoint that have come least far.
func savedHolders(n *checkpoint.Node) (out []Holder) {
	table := strings.TrimSuffix(strings.TrimPrefix(n.Name, "Source["), "]")
	low := int64(op.MaxWatermark)
	for _, s := range n.Splits {
		if s.Opened && !s.Done && !s.Idle && !s.Behind {
			low = min(low, s.Watermark)
		}
	}
	for _, s := range n.Splits {
		h := Holder{Table: table, Split: s.ID, Reader: s.Reader, Cause: CauseSlowest}
		if s.Opened {
			h.Watermark = maybe(s.Watermark)
		}
		switch {
		case s.Done || s.Idle || s.Behind:
			continue
		case !s.Opened:
			h.Cause = CauseQueued
		case s.Watermark > low:
			continue
		case s.Held == op.MinWatermark:
			h.Cause = CauseUnread
		}
		if len(out) == maxHolders {
			out[maxHolders-1].More++
			continue
		}
		out = append(out, h)
	}
	return out
}
