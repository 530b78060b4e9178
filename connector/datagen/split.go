package datagen

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
)

// splitData says what a split is: the rows whose numbers leave Part when
// divided by Parts. It is saved in checkpoints, and so are seed and start.
type splitData struct {
	Part  int64  `json:"part"`
	Parts int64  `json:"parts"`
	Seed  uint64 `json:"seed"`
	// Start is when the source was started, in ms.
	Start int64 `json:"start"`
}

// Discover implements connector.Source. How many splits there are is settled
// at the first start.
func (s *source) Discover(_ context.Context, seen map[string]bool) ([]connector.Split, error) {
	if len(seen) > 0 {
		return nil, nil
	}
	now := time.Now()
	if s.table.Env != nil {
		now = s.table.Env.Now()
	}
	d := splitData{Parts: int64(max(s.table.Parallelism, 1)), Seed: s.newSeed(), Start: now.UnixMilli()}
	var out []connector.Split
	for d.Part = 0; d.Part < d.Parts; d.Part++ {
		data, err := json.Marshal(d)
		if err != nil {
			return nil, err
		}
		out = append(out, connector.Split{ID: fmt.Sprintf("%d/%d", d.Part, d.Parts), Data: data, Ends: s.Bounded()})
	}
	return out, nil
}

// Open implements connector.Source.
func (s *source) Open(ctx *connector.ReaderContext, split connector.Split, position []byte) (connector.Reader, error) {
	r := &reader{src: s, ctx: ctx, count: -1}
	if err := json.Unmarshal(split.Data, &r.data); err != nil {
		return nil, fmt.Errorf("split %s: %w", split.ID, err)
	}
	if position != nil {
		at, n := binary.Uvarint(position)
		if n <= 0 {
			return nil, fmt.Errorf("split %s: bad position %x", split.ID, position)
		}
		r.at = int64(at)
	}
	if s.rows >= 0 {
		r.count = (s.rows - r.data.Part + r.data.Parts - 1) / r.data.Parts
	}
	return r, nil
}

// reader implements connector.Reader.
type reader struct {
	src  *source
	ctx  *connector.ReaderContext
	data splitData
	// at is the number of the next row within the split, count how many the
	// split has; below zero there is no end.
	at, count int64
	// alarm is when a goroutine will wake the runtime.
	alarm int64
	rows  []int64
}

// perSecond is how many chunks a second has. A chunk is made when its last row
// is due, so that chunks do not depend on when they are asked for.
const perSecond = 50

// Read implements connector.Reader.
func (r *reader) Read(limit int) (connector.Chunk, error) {
	rate := max(r.src.rate/r.data.Parts, 1)
	n := min(max(rate/perSecond, 1), int64(limit), batch.DefaultSize)
	if r.count >= 0 {
		n = min(n, r.count-r.at)
	}
	if n <= 0 {
		return connector.Chunk{Position: r.position(), Status: connector.End}, nil
	}
	due := r.due(r.at + n - 1)
	if due > r.ctx.Now() {
		r.wakeAt(due)
		return connector.Chunk{Status: connector.Wait}, nil
	}
	c := connector.Chunk{Batch: r.make(int(n))}
	r.at += n
	c.Position = r.position()
	if r.at == r.count {
		c.Status = connector.End
	}
	return c, nil
}

// due is when row k of the split is made, in ms.
func (r *reader) due(k int64) int64 {
	row := k*r.data.Parts + r.data.Part
	return r.data.Start + row/r.src.rate*1000 + row%r.src.rate*1000/r.src.rate
}

func (r *reader) position() []byte { return binary.AppendUvarint(nil, uint64(r.at)) }

// wakeAt lets the runtime ask again when rows are due.
func (r *reader) wakeAt(due int64) {
	if due == r.alarm {
		return
	}
	r.alarm = due
	wait := time.Duration(due-r.ctx.Now()) * time.Millisecond
	r.ctx.Go(func(ctx context.Context) error {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
			r.ctx.Wake()
		case <-ctx.Done():
		}
		return nil
	})
}

// make makes the next n rows.
func (r *reader) make(n int) *batch.Batch {
	r.rows = r.rows[:0]
	for i := range n {
		r.rows = append(r.rows, (r.at+int64(i))*r.data.Parts+r.data.Part)
	}
	m := &maker{reader: r, rows: r.rows}
	cols := make([]batch.Vector, len(r.src.gens))
	for i, g := range r.src.gens {
		cols[i] = batch.New(g.typ, n)
		m.fill(g, cols[i])
	}
	return batch.Of(r.src.table.Schema, cols, n)
}

// Close implements connector.Reader.
func (r *reader) Close() error { return nil }
