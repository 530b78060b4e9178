package runtime

import (
	"math"
	"sync"

	"github.com/millstream-io/millstream/internal/op"
)

// group is an alignment group: readers of one or more sources that wait for each
// other, so that none runs far ahead of the others, whose rows would be kept in
// state until the others have caught up.
type group struct {
	mu      sync.Mutex
	members []*member
	// low is the least watermark of all members.
	low int64
}

// member is a reader in a group.
type member struct {
	group *group
	drift int64
	wake  func()
	// wm is the least watermark of the reader's splits that count.
	wm int64
	// waits is the watermark of a split that waits for the group, or
	// op.MaxWatermark.
	waits int64
}

// group returns the job's group of a name.
func (j *Job) group(name string) *group {
	if j.groups == nil {
		j.groups = map[string]*group{}
	}
	g := j.groups[name]
	if g == nil {
		g = &group{low: op.MinWatermark}
		j.groups[name] = g
	}
	return g
}

// join adds a reader. It holds the others back until it has told its time.
func (g *group) join(drift int64, wake func()) *member {
	m := &member{group: g, drift: drift, wake: wake, wm: op.MinWatermark, waits: op.MaxWatermark}
	g.members = append(g.members, m)
	return m
}

// report notes how far a member has come, and wakes those that may go on.
func (m *member) report(wm int64) {
	g := m.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.wm == wm {
		return
	}
	m.wm = wm
	low := int64(op.MaxWatermark)
	for _, o := range g.members {
		low = min(low, o.wm)
	}
	rises := low > g.low
	if g.low = low; !rises {
		return
	}
	for _, o := range g.members {
		if o.waits != op.MaxWatermark && o.waits <= limit(low, o.drift) {
			o.waits = op.MaxWatermark
			o.wake()
		}
	}
}

// ahead reports whether a split of the member with watermark wm has to wait. If
// so, the member is woken when it has not to any more.
func (m *member) ahead(wm int64) bool {
	g := m.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if wm <= limit(g.low, m.drift) {
		return false
	}
	m.waits = min(m.waits, wm)
	return true
}

// limit is how far a member may be where the least one is at low.
func limit(low, drift int64) int64 {
	if low > math.MaxInt64-drift {
		return math.MaxInt64
	}
	return low + drift
}
