package nexmark

import (
	"time"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/connector/nexmark/gen"
)

// A pacer holds rows back until they are due. They become due in groups that lie about a millisecond apart and begin
// at fixed rows, so that time does not decide how rows are cut into batches.
type pacer struct {
	ctx   *connector.ReaderContext
	split gen.Split
	pace  int64 // positions per second
	group int64 // rows
	start int64 // when position 0 was due, in ms
	timer *time.Timer
}

func newPacer(ctx *connector.ReaderContext, pace int64, split gen.Split, next int64) *pacer {
	p := &pacer{ctx: ctx, split: split, pace: pace, group: max(pace/split.Of/1000, 1)}
	p.start = ctx.Now() - p.after(next)
	return p
}

// after is how many ms after position 0 a row is due.
func (p *pacer) after(row int64) int64 {
	position := p.split.Position(row)
	return position/p.pace*1000 + position%p.pace*1000/p.pace
}

// due returns how many rows from next on can be read: those up to the end of its group, or none. In that case it
// wakes the reader when they can.
func (p *pacer) due(next, end int64) int64 {
	n := min(p.group-next%p.group, end-next)
	wait := p.start + p.after(next+n-1) - p.ctx.Now()
	if wait <= 0 {
		return n
	}
	d := time.Duration(wait) * time.Millisecond
	if p.timer == nil {
		p.timer = time.AfterFunc(d, p.ctx.Wake)
	} else {
		p.timer.Reset(d)
	}
	return 0
}

func (p *pacer) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}
