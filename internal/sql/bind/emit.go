package bind

import (
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/internal/sql/config"
	"github.com/millstream-io/millstream/internal/sql/connect"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// lateness returns how long after their end windows take the rows of a table, in ms: 0 where it drops late rows.
func (b *Binder) lateness(t *catalog.Table, conn *connect.Table) (ms int64, ok bool) {
	allowed := conn.Options.Duration(connect.AllowedLateness).Milliseconds()
	emit := conn.Options.Text(connect.LateRows) == "emit"
	switch {
	case emit && allowed <= 0:
		b.errorf(t.Pos, "table %s: 'late-rows' = 'emit' needs the option 'allowed-lateness', which says for how long", t.Path.Name)
		return 0, false
	case !emit && conn.Options.Has(connect.LateRows):
		return 0, true
	case !emit && conn.Options.Has(connect.AllowedLateness):
		b.errorf(t.Pos, "table %s: 'allowed-lateness' has no meaning without 'late-rows' = 'emit'", t.Path.Name)
		return 0, false
	case emit && t.Watermark == nil:
		b.errorf(t.Pos, "table %s: 'late-rows' has no meaning for a table without a WATERMARK", t.Path.Name)
		return 0, false
	}
	return allowed, true
}

// emitOf decides when a window over in shows its results besides at its end; nil if only then. grouped is set for a window of
// GROUP BY, for which the options table.exec.emit.* count, too.
func (b *Binder) emitOf(in plan.Node, w *plan.Window, grouped bool, pos diag.Pos) (*plan.Emit, bool) {
	e := plan.Emit{Early: plan.Never, Late: plan.Never}
	event := w.TimeType.Attr == types.Rowtime
	if ms := plan.LatenessOf(in); ms > 0 && event {
		e.Late, e.Lateness = 0, ms
	}
	if grouped && !b.emitOptions(&e, event, pos) {
		return nil, false
	}
	if e.Early == plan.Never && e.Late == plan.Never {
		return nil, true
	}
	if w.Kind == plan.Session {
		b.errorf(pos, "a session cannot show results before its end, or again after it").
			WithHint("leave the options table.exec.emit.* and 'late-rows' = 'emit' out; LATE tells which rows came too late")
		return nil, false
	}
	return &e, true
}

// emitOptions reads the options table.exec.emit.*.
func (b *Binder) emitOptions(e *plan.Emit, event bool, pos diag.Pos) bool {
	ok := true
	delay := func(enabled, option string) int64 {
		if !b.Config.Is(enabled, "true") {
			return plan.Never
		}
		if !b.Config.Has(option) {
			b.errorf(pos, "the option %q needs %q", enabled, option)
			ok = false
		}
		return b.Config.Duration(option).Milliseconds()
	}
	e.Early = delay(config.EarlyFire, config.EarlyDelay)
	late := delay(config.LateFire, config.LateDelay)
	if late == plan.Never || !event {
		return ok
	}
	allowed := b.Config.Duration(config.AllowLateness).Milliseconds()
	if allowed == 0 {
		allowed = b.Config.Duration(config.StateTTL).Milliseconds()
	}
	if allowed == 0 {
		b.errorf(pos, "the option %q needs %q, which says for how long", config.LateFire, config.AllowLateness)
		return false
	}
	if late > allowed {
		b.errorf(pos, "the option %q is %s, longer than the %s for which windows take late rows", config.LateDelay, plan.Millis(late), plan.Millis(allowed))
		return false
	}
	e.Late, e.Lateness = late, max(e.Lateness, allowed)
	return ok
}

// refuseEmit reports options that Flink has for windows of GROUP BY alone.
func (b *Binder) refuseEmit(pos diag.Pos) bool {
	for _, option := range []string{config.EarlyFire, config.LateFire} {
		if b.Config.Is(option, "true") {
			b.errorf(pos, "the option %q is for windows of GROUP BY (TUMBLE(ts, size)), not for those of window functions", option).
				WithHint("the table options 'late-rows' = 'emit' and 'allowed-lateness' are for all windows")
			return false
		}
	}
	return true
}
