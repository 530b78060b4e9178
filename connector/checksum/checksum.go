// Package checksum is a sink that keeps no rows: it counts them by kind and sums their hashes, so that two engines'
// answers to one query can be compared, whatever the order of rows and whichever intermediate updates were sent.
package checksum

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// Def defines the connector.
var Def = connector.Def{
	Name: "checksum",
	Doc: `Counts rows by kind, and sums the XXH64 hashes of +I and +U rows less those of -U and -D rows. Once its input
has ended, it prints one line on the standard output:

    checksum TABLE +I=920000 -U=0 +U=0 -D=0 net=920000 sum=2bb806162f182f1b

A row is hashed as text, its cells joined by bars: NULL as \N, times as numbers, with a backslash before | and \ in strings.`,
	Options: []format.Option{
		{Name: "mode", Kind: format.Enum, Values: []string{modeHash, modeCount, modePrint, modeLatency}, Default: modeHash, Own: true,
			Doc: "hash counts and hashes; count only counts, and its sum is -; print also prints each row's text; latency counts, and adds to " +
				"the line by how many ms the rows came later than the time that they show (percentiles), as in p99=1.250"},
		{Name: "time", Kind: format.Text, Own: true,
			Doc: "the TIMESTAMP(3) or TIMESTAMP_LTZ(3) column, in UTC, that mode latency compares with the clock"},
		{Name: "key", Kind: format.Text, Own: true,
			Doc: "BIGINT columns, with commas between: +I and +U replace the last row of their key, -U and -D remove it, " +
				"and net and sum are those of the rows that are left"},
	},
	NewSink: newSink,
}

func init() { connector.Register(&Def) }

const (
	modeHash  = "hash"
	modeCount = "count"
	modePrint = "print"
	// modeLatency is modeCount with the delays of rows.
	modeLatency = "latency"
)

// sink is a table whose rows are summed up.
type sink struct {
	table string
	cells []cell
	keys  []int // columns; empty if there is no key
	mode  string
	// timeColumn is the column that mode latency compares with the clock.
	timeColumn int

	mu       sync.Mutex
	out      io.Writer      // writers take turns
	finished map[int]totals // by subtask
}

func newSink(t *connector.Table) (connector.Sink, error) {
	s := &sink{table: t.Name, mode: t.Options.Enum("mode"), out: t.Stdout, finished: map[int]totals{}}
	for _, f := range t.Physical.Fields {
		c, ok := cellOf(f.Type)
		if !ok {
			return nil, fmt.Errorf("column %q: the connector checksum takes no %s; cast it to STRING or leave it out", f.Name, f.Type)
		}
		s.cells = append(s.cells, c)
	}
	for name := range strings.SplitSeq(t.Options.Text("key"), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		i := t.Physical.Index(name)
		if i < 0 || t.Physical.Fields[i].Type.Kind != types.BigInt {
			return nil, fmt.Errorf("'key' takes BIGINT columns of the table, and %q is none", name)
		}
		s.keys = append(s.keys, i)
	}
	if s.mode == modeLatency {
		name := t.Options.Text("time")
		if s.timeColumn = t.Physical.Index(name); s.timeColumn < 0 || !showsInstant(t.Physical.Fields[s.timeColumn].Type) {
			return nil, fmt.Errorf("'mode' = 'latency' needs 'time', the name of a TIMESTAMP(3) or TIMESTAMP_LTZ(3) column, and %q is none", name)
		}
	}
	return s, nil
}

// showsInstant reports whether values are ms since 1970.
func showsInstant(t types.Type) bool {
	return (t.Kind == types.Timestamp || t.Kind == types.TimestampLTZ) && t.Phys() == types.PhysI64
}

// Accepts implements connector.Sink.
func (s *sink) Accepts() connector.Modes { return connector.AllModes }

// Immediate implements connector.Immediate.
func (s *sink) Immediate() string {
	if s.mode == modePrint {
		return "the mode print"
	}
	return ""
}

// Open implements connector.Sink.
func (s *sink) Open(ctx *connector.WriterContext, restored [][]byte) (connector.Writer, error) {
	s.mu.Lock()
	delete(s.finished, ctx.Subtask) // a restarted job ends anew
	s.mu.Unlock()
	w := &writer{sink: s, subtask: ctx.Subtask, parallelism: ctx.Parallelism}
	if len(s.keys) > 0 && s.hashes() {
		w.last = map[string]uint64{}
	}
	for _, state := range restored {
		if err := w.restore(state); err != nil {
			return nil, fmt.Errorf("table %s: %w", s.table, err)
		}
	}
	return w, nil
}

// finish takes the totals of a writer that got all its rows, and prints those of all writers when it has them.
func (s *sink) finish(subtask, parallelism int, t totals) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished[subtask] = t
	if len(s.finished) < parallelism {
		return nil
	}
	var all totals
	for _, t := range s.finished {
		all.add(t)
	}
	sum := "-"
	switch {
	case s.hashes():
		sum = fmt.Sprintf("%016x", all.sum)
	case s.mode == modeLatency:
		sum += all.delays.String()
	}
	_, err := fmt.Fprintf(s.out, "checksum %s +I=%d -U=%d +U=%d -D=%d net=%d sum=%s\n", s.table,
		all.kinds[types.Insert], all.kinds[types.UpdateBefore], all.kinds[types.UpdateAfter], all.kinds[types.Delete], all.net, sum)
	return s.writeError(err)
}

// hashes reports whether the rows are hashed.
func (s *sink) hashes() bool { return s.mode == modeHash || s.mode == modePrint }

func (s *sink) print(text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.out.Write(text)
	return s.writeError(err)
}

func (s *sink) writeError(err error) error {
	if err != nil {
		return fmt.Errorf("table %s: cannot print to the standard output: %w", s.table, err)
	}
	return nil
}

// totals are what is left of rows.
type totals struct {
	kinds [4]int64 // rows by types.RowKind
	net   int64
	sum   uint64
	// delays are those of mode latency; checkpoints do not have them.
	delays delays
}

func (t *totals) add(o totals) {
	for k, n := range o.kinds {
		t.kinds[k] += n
	}
	t.net += o.net
	t.sum += o.sum
	t.delays = append(t.delays, o.delays...)
}
