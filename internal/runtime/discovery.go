package runtime

import (
	"fmt"
	"sync/atomic"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/graph"
)

// discovery finds the splits of a source and deals them out to its readers, in
// the order in which they are found.
type discovery struct {
	job   *Job
	node  *graph.Node
	tasks []*task
	known map[string]bool
	// seq numbers the splits, file is that of the last one that was no sequel.
	seq, file int64
	// due is when to look again; never if that makes no sense.
	due int64
	// found is the number of splits that are known.
	found atomic.Int64
	// told is set once the user was told that there is nothing to read.
	told bool
}

func newDiscovery(j *Job, n *graph.Node, tasks []*task) *discovery {
	return &discovery{job: j, node: n, tasks: tasks, known: map[string]bool{}, due: never}
}

// interval is the time between two looks; 0 if there is but one.
func (d *discovery) interval() int64 {
	if d.node.Source.Source.Bounded() {
		return 0
	}
	return max(d.node.Source.Source.Interval(), 0)
}

// restore deals out the splits of a checkpoint, and looks for others, unless
// the source is bounded: then they are the same for the whole life of the job.
func (d *discovery) restore(from *checkpoint.Manifest) error {
	hands := make([][]*split, len(d.tasks))
	var old *checkpoint.Node
	if from != nil {
		old = from.Node(d.node.ID)
	}
	if old != nil {
		d.dealAgain(old, hands)
	}
	if old == nil || !d.node.Source.Source.Bounded() {
		if err := d.look(hands); err != nil {
			return err
		}
	}
	d.found.Store(int64(len(d.known)))
	for i, t := range d.tasks {
		t.post(letter{kind: letterSplits, splits: hands[i], last: d.interval() == 0})
	}
	return nil
}

// dealAgain gives each split to the reader that had it. Where the parallelism
// has changed, those that have not ended are dealt out in order.
func (d *discovery) dealAgain(old *checkpoint.Node, hands [][]*split) {
	next := 0
	for _, c := range old.Splits {
		d.known[c.ID] = true
		d.seq, d.file = max(d.seq, c.Seq+1), c.File
		i := c.Reader
		if len(old.Subtasks) != len(hands) {
			i = next % len(hands)
		}
		if c.Done {
			r := d.tasks[i].reader
			r.done = append(r.done, restoreSplit(c))
			r.begun[c.File] = true
			continue
		}
		next++
		hands[i] = append(hands[i], restoreSplit(c))
	}
}

// look asks the source for new splits.
func (d *discovery) look(hands [][]*split) error {
	d.due = never
	if n := d.interval(); n > 0 {
		d.due = d.job.cfg.Clock.Now() + n
	}
	found, err := d.node.Source.Source.Discover(d.job.ctx, d.known)
	if err != nil {
		return d.failure(err)
	}
	for _, c := range found {
		if d.known[c.ID] {
			continue
		}
		d.known[c.ID] = true
		s := newSplit(c, d.seq)
		if c.Sequel {
			s.file = d.file
		}
		d.file = s.file
		i := int(d.seq % int64(len(hands)))
		hands[i] = append(hands[i], s)
		d.seq++
	}
	d.tell()
	return nil
}

// tell says once that there is nothing to read, since that may be a mistake in
// the table's options.
func (d *discovery) tell() {
	d.found.Store(int64(len(d.known)))
	if len(d.known) > 0 || d.told || d.interval() == 0 {
		return
	}
	d.told = true
	d.job.cfg.Log(fmt.Sprintf("table %s: there is nothing to read%s yet; it is looked for again every %d ms", d.node.Source.Table, d.where(), d.interval()))
}

// where says in words where the source looks, if it can.
func (d *discovery) where() string {
	if l, ok := d.node.Source.Source.(connector.Located); ok {
		return " at " + l.Location()
	}
	return ""
}

func (d *discovery) failure(err error) *Error {
	if e, ok := err.(*Error); ok {
		return e
	}
	return &Error{Node: d.node.ID, Name: d.node.Name, Err: err, speaks: true}
}

// again looks once more and hands out what is new.
func (d *discovery) again() error {
	hands := make([][]*split, len(d.tasks))
	if err := d.look(hands); err != nil {
		return err
	}
	for i, t := range d.tasks {
		if len(hands[i]) > 0 {
			t.post(letter{kind: letterSplits, splits: hands[i]})
		}
	}
	return nil
}
