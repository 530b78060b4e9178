package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/control"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/vfs"
)

func newWhy(p *process) *cobra.Command {
	var s settings
	var asJSON bool
	c := &cobra.Command{
		Use:   "why JOB",
		Short: "say what the results of a job wait for",
		Long: "Says why no results come: for each window or join that waits, the event time that it waits for, the split of a table that holds time back, since when that is " +
			"silent, and which option lets time go on; and what was filtered, late, or skipped. Of a job that is not running it tells what the last checkpoint says.",
		Args: exactly(1, "why JOB"),
		RunE: func(_ *cobra.Command, args []string) error { return p.why(args[0], asJSON, &s) },
	}
	s.dataFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON, times in ms since the epoch")
	return c
}

func (p *process) why(name string, asJSON bool, s *settings) error {
	at, err := s.place(name)
	if err != nil {
		return err
	}
	w, err := at.why()
	if err != nil {
		return err
	}
	if asJSON {
		out := json.NewEncoder(p.stdout)
		out.SetIndent("", "  ")
		return out.Encode(w)
	}
	_, err = io.WriteString(p.stdout, printable(whyText(w)))
	return err
}

// why asks the process that runs the job, or else its last checkpoint.
func (p *place) why() (*runtime.Why, error) {
	ctx := context.Background()
	c, err := control.Dial(ctx, p.dir)
	if errors.Is(err, control.ErrNotRunning) {
		return p.savedWhy()
	}
	if err != nil {
		return nil, &failure{status: statusFailed, err: fmt.Errorf("job %s cannot be reached: %w", p.name, err)}
	}
	data, err := c.Why(ctx)
	if err = errors.Join(err, c.Close()); err != nil {
		return nil, p.remoteError(err)
	}
	w := &runtime.Why{}
	if err := json.Unmarshal(data, w); err != nil {
		return nil, fmt.Errorf("the answer of the process that runs job %s cannot be read: %w", p.name, err)
	}
	return w, nil
}

// savedWhy is what the newest checkpoint says.
func (p *place) savedWhy() (*runtime.Why, error) {
	entries, err := checkpoint.List(p.checkpoints)
	if err != nil && !vfs.IsNotExist(err) {
		return nil, failed(err)
	}
	var last *checkpoint.Manifest
	for _, e := range entries {
		if m := e.Manifest; m != nil && (last == nil || m.ID > last.ID) {
			last = m
		}
	}
	if last == nil {
		return nil, &failure{status: statusRefused, err: fmt.Errorf("job %s is not running, and has no checkpoint that could be asked", p.name)}
	}
	return runtime.WhyOf(last), nil
}

// whyPatience is how long the tasks of a job may take to answer, stopPatience how
// long if the job is to be stopped.
const (
	whyPatience  = 2 * time.Second
	stopPatience = 200 * time.Millisecond
)

// Why implements control.Handler.
func (h *remote) Why() (json.RawMessage, error) {
	w := h.job.Why(whyPatience)
	if w == nil {
		return nil, runtime.ErrBetween
	}
	return json.Marshal(w)
}

// whyText prints an explanation.
func whyText(w *runtime.Why) string {
	var b bytes.Buffer
	switch {
	case w.Running:
		fmt.Fprintf(&b, "job %s is running\n", w.Job)
	case w.Finished:
		fmt.Fprintf(&b, "job %s has finished: all its input has ended. This is what checkpoint %d of %s says\n", w.Job, w.Checkpoint, clockText(w.CheckpointTime))
	default:
		fmt.Fprintf(&b, "job %s is not running. This is what checkpoint %d of %s says\n", w.Job, w.Checkpoint, clockText(w.CheckpointTime))
	}
	lines := whyLines(w)
	if len(lines) == 0 {
		lines = []string{"nothing waits for event time, and nothing was left out"}
	}
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	return b.String()
}

// whyLines says in words what the results of a job wait for, and what became of
// its rows. Lines that belong to the one before are indented.
func whyLines(w *runtime.Why) []string {
	e := &explainer{w: w, tables: map[string]*runtime.WhyTable{}}
	for i := range w.Tables {
		e.tables[w.Tables[i].Table] = &w.Tables[i]
	}
	for i := range w.Waits {
		e.wait(&w.Waits[i])
	}
	for _, s := range w.Slow {
		e.add("back-pressure: %s is too slow for what it is sent; all before it have waited for %s", s.Name, lasted(w.Now-s.Since))
	}
	for _, t := range w.Busy {
		e.add("%s is busy and did not answer in time", t)
	}
	for i := range w.Tables {
		e.table(&w.Tables[i])
	}
	for _, l := range w.Losses {
		e.loss(l)
	}
	return e.lines
}

// explainer collects the lines of an explanation.
type explainer struct {
	w      *runtime.Why
	tables map[string]*runtime.WhyTable
	lines  []string
}

func (e *explainer) add(format string, args ...any) {
	e.lines = append(e.lines, fmt.Sprintf(format, args...))
}

func (e *explainer) wait(w *runtime.Wait) {
	at := "it has seen no watermark yet"
	if w.Watermark != nil {
		at = "it is at " + eventText(*w.Watermark)
	}
	if w.Needs == nil {
		e.add("%s (%s): %s", w.Name, w.ID, at)
	} else {
		e.add("%s (%s) waits for the watermark %s, at which its next results come; %s", w.Name, w.ID, eventText(*w.Needs), at)
	}
	if w.AllIdle {
		e.add("  all of its inputs are idle, so time stands still until one has rows again%s", e.flushHint(w))
	}
	for i := range w.Holders {
		e.holder(w, &w.Holders[i])
	}
}

// flushHint names the option that closes windows when all inputs are idle.
func (e *explainer) flushHint(w *runtime.Wait) string {
	for _, h := range w.Holders {
		if t := e.tables[h.Table]; t != nil && t.FlushAfterIdle > 0 {
			return fmt.Sprintf("; open windows close %s after the last row", lasted(t.FlushAfterIdle))
		}
	}
	return "; the option 'millstream.watermark.flush-after-idle' closes open windows then"
}

// causes say why a split holds time, or does not move it.
var causes = map[runtime.Cause]string{
	runtime.CauseUnread: "no row with a time was read yet", runtime.CauseSilent: "there is nothing to read",
	runtime.CauseSlowest: "it has come least far", runtime.CauseIdle: "it is idle",
	runtime.CauseQueued:  "it waits until the reader has read those before it",
	runtime.CauseAligned: "it waits for the others of its alignment group",
	runtime.CauseEmpty:   "all that was found has been read",
}

func (e *explainer) holder(w *runtime.Wait, h *runtime.Holder) {
	line := "  table " + h.Table
	if h.Split != "" {
		line += ", " + h.Split
	}
	if h.More > 0 && h.Cause != runtime.CauseEmpty {
		line += fmt.Sprintf(" and %d more", h.More)
	}
	line += ": " + causes[h.Cause]
	if h.SilentSince != nil {
		line += fmt.Sprintf(", silent for %s", lasted(e.w.Now-*h.SilentSince))
	}
	switch {
	case h.EventTime != nil && h.Watermark != nil:
		line += fmt.Sprintf("; its latest event time is %s, its watermark %s", eventText(*h.EventTime), eventText(*h.Watermark))
	case h.EventTime != nil:
		line += fmt.Sprintf("; its latest event time is %s", eventText(*h.EventTime))
	case h.Watermark != nil:
		line += fmt.Sprintf("; its watermark is %s", eventText(*h.Watermark))
	}
	e.add("%s", line)
	e.advice(w, h)
}

// advice says what would let time go on.
func (e *explainer) advice(w *runtime.Wait, h *runtime.Holder) {
	t := e.tables[h.Table]
	if h.NeedsEventTime != nil && h.Cause != runtime.CauseQueued {
		e.add("    a row of event time %s or later would let the results come", eventText(*h.NeedsEventTime))
	}
	if t == nil || !e.w.Running || w.AllIdle {
		return
	}
	switch h.Cause {
	case runtime.CauseUnread, runtime.CauseSilent:
		if t.IdleTimeout > 0 {
			e.add("    time goes on without it once it has been silent for %s (idle timeout)", lasted(t.IdleTimeout))
		} else {
			e.add("    it has no idle timeout: 'scan.watermark.idle-timeout' of the table, or SET 'table.exec.source.idle-timeout', lets time go on without it")
		}
	case runtime.CauseAligned:
		e.add("    the group is %q, the max drift %s", t.Group, lasted(t.MaxDrift))
	}
}

// farAhead is how far a watermark may be ahead of the clock before that is told.
const farAhead = 24 * time.Hour

func (e *explainer) table(t *runtime.WhyTable) {
	where := ""
	if t.Location != "" {
		where = " at " + t.Location
	}
	switch {
	case !e.w.Running:
	case t.Splits == 0 && t.Looks > 0:
		e.add("table %s: there is nothing to read%s; it is looked for every %s", t.Table, where, lasted(t.Looks))
	case t.Splits == 0:
		e.add("table %s: there is nothing to read%s", t.Table, where)
	case t.Rows == 0:
		e.add("table %s: no row was read%s since the start", t.Table, where)
	case t.Passed == 0:
		e.add("table %s: %s read, and none passed the conditions of the query", t.Table, were(t.Rows))
	}
	if t.Watermark != nil && *t.Watermark > e.w.Now+farAhead.Milliseconds() {
		e.add("table %s: its watermark, %s, is %s ahead of the clock: a row had a time in the future, and all that come behind it are late", t.Table,
			eventText(*t.Watermark), lasted(*t.Watermark-e.w.Now))
	}
	if e.w.Running && t.Splits > 0 && t.Rows > 0 && t.HasWatermark && t.Watermark == nil && !e.w.Finished && len(e.w.Waits) == 0 {
		e.add("table %s: %s read, but the watermark has not begun yet", t.Table, were(t.Rows))
	}
}

// were is "n rows were", or "1 row was".
func were(n int64) string {
	if n == 1 {
		return "1 row was"
	}
	return fmt.Sprintf("%d rows were", n)
}

func (e *explainer) loss(l runtime.WhyLoss) {
	var samples map[string][]string
	if l.Sample != "" {
		samples = map[string][]string{l.Counter: {l.Sample}}
	}
	m := runtime.NodeMetrics{ID: l.ID, Name: l.Name, Samples: samples}
	line := lossLine(m, l.Counter, l.Count)
	if l.Counter == window.LateRows {
		line += "; a longer delay in the table's WATERMARK waits for such rows"
	}
	e.add("%s", line)
}

// hint says in words why a job that has ended had no result; empty if it had
// one, or if nothing is to be said.
func hint(w *runtime.Why) []string {
	if w == nil || len(w.Sinks) == 0 {
		return nil
	}
	for _, s := range w.Sinks {
		if s.Rows > 0 {
			return nil
		}
	}
	own := *w
	own.Losses = nil // the end of each job tells them
	lines := whyLines(&own)
	if len(lines) == 0 {
		return nil
	}
	return append([]string{"no row came out. This is what is known of it:"}, indented(lines)...)
}

func indented(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = "  " + l
	}
	return out
}

// eventText prints a moment of event time.
func eventText(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000") }

// clockText prints a moment of the clock.
func clockText(ms int64) string { return time.UnixMilli(ms).Format("2006-01-02 15:04:05") }

// lasted prints a length of time in its two largest units.
func lasted(ms int64) string {
	units := []struct {
		ms   int64
		name string
	}{{24 * 3600_000, "d"}, {3600_000, "h"}, {60_000, "min"}, {1000, "s"}}
	for i, u := range units {
		if ms < u.ms {
			continue
		}
		text := fmt.Sprintf("%d %s", ms/u.ms, u.name)
		if rest := ms % u.ms; i+1 < len(units) && rest >= units[i+1].ms {
			text += fmt.Sprintf(" %d %s", rest/units[i+1].ms, units[i+1].name)
		}
		return text
	}
	return fmt.Sprintf("%d ms", max(ms, 0))
}

// lastWord tells in lines what is known of a job that has come to an end without
// results.
func (r *runner) lastWord(w *runtime.Why) {
	if lines := hint(w); len(lines) > 0 {
		fmt.Fprintln(r.screen.err(), printable(strings.Join(lines, "\n")))
	}
}
