// Package config holds the options of a session: what SET and RESET change.
package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/text"
)

// OwnPrefix begins the names of the options that Flink does not have, but for those that name a deliberate difference.
const OwnPrefix = "millstream."

// The names of options that this program reads.
const (
	Parallelism        = "parallelism.default"
	TimeZone           = "table.local-time-zone"
	LegacyCast         = "table.exec.legacy-cast-behaviour"
	NotNullEnforcer    = "table.exec.sink.not-null-enforcer"
	LengthEnforcer     = "table.exec.sink.type-length-enforcer"
	RequireOnConflict  = "table.exec.sink.require-on-conflict"
	IdleTimeout        = "table.exec.source.idle-timeout"
	NullTimes          = "table.exec.source.rowtime-null-handling"
	WatermarkInterval  = "pipeline.auto-watermark-interval"
	FlushAfterIdle     = OwnPrefix + "watermark.flush-after-idle"
	JobName            = "pipeline.name"
	StateTTL           = "table.exec.state.ttl"
	CheckpointInterval = "execution.checkpointing.interval"
	IntegerOverflow    = "arithmetic.overflow"
	RuntimeMode        = "execution.runtime-mode"
	EarlyFire          = "table.exec.emit.early-fire.enabled"
	EarlyDelay         = "table.exec.emit.early-fire.delay"
	LateFire           = "table.exec.emit.late-fire.enabled"
	LateDelay          = "table.exec.emit.late-fire.delay"
	AllowLateness      = "table.exec.emit.allow-lateness"
)

// known are the options that have an effect, or that scripts for Flink often set. Others are accepted and have none.
var known = []format.Option{
	{Name: Parallelism, Kind: format.Integer, Default: "1", Doc: "how many subtasks an operator has"},
	{Name: TimeZone, Default: "UTC", Doc: "the session's time zone: for TIMESTAMP_LTZ and the time of day"},
	{Name: JobName, Doc: "the job's name; by default that of the script's file"},
	{Name: RuntimeMode, Kind: format.Enum, Default: "STREAMING", Values: []string{"STREAMING", "BATCH", "AUTOMATIC"},
		Doc: "STREAMING; queries over files end with their input in any case"},
	{Name: CheckpointInterval, Kind: format.Duration, Doc: "the time between two checkpoints"},
	{Name: LegacyCast, Kind: format.Enum, Default: "DISABLED", Values: []string{"ENABLED", "DISABLED"},
		Doc: "CAST gives NULL where it fails"},
	{Name: NotNullEnforcer, Kind: format.Enum, Default: "ERROR", Values: []string{"ERROR", "DROP"},
		Doc: "what happens to a NULL for a NOT NULL column of a sink: the job fails, or the row is left out"},
	{Name: LengthEnforcer, Kind: format.Enum, Default: "IGNORE", Values: []string{"IGNORE", "TRIM_PAD", "ERROR"},
		Doc: "what happens to a text that is longer or shorter than a sink's column says"},
	{Name: RequireOnConflict, Kind: format.Bool, Default: "true",
		Doc: "whether INSERT needs ON CONFLICT where the sink's PRIMARY KEY is not a key of the query"},
	{Name: IdleTimeout, Kind: format.Duration, Default: "0 ms", Doc: "a split without rows for so long holds no watermark back; 0 is never"},
	{Name: NullTimes, Kind: format.Enum, Values: []string{"FAIL", "DROP", "SKIP_WATERMARK"},
		Doc: "what happens to a row whose event time is NULL: the job fails (by default, but where Flink's source computes watermarks itself, as that of Kafka does; " +
			"there the row goes on), the row is left out, or it goes on; the last two are counted"},
	{Name: FlushAfterIdle, Kind: format.Duration, Default: "0 ms", Own: true,
		Doc: "closes all open windows once there was nothing to read for so long; rows that come behind are late. 0 is never. A table may have an option of this name of its own"},
	{Name: EarlyFire, Kind: format.Bool, Default: "false", Doc: "whether windows of GROUP BY show results before their end"},
	{Name: EarlyDelay, Kind: format.Duration, Doc: "how long after a row these come; 0 is with each batch"},
	{Name: LateFire, Kind: format.Bool, Default: "false", Doc: "whether windows of GROUP BY show results again for late rows"},
	{Name: LateDelay, Kind: format.Duration, Doc: "how long after a late row these come; 0 is with each batch"},
	{Name: AllowLateness, Kind: format.Duration, Doc: "for how long after its end such a window takes rows; by default table.exec.state.ttl"},
	{Name: StateTTL, Kind: format.Duration, Default: "0 ms", Doc: "how long a key is kept without a change; 0 is forever"},
	{Name: "table.exec.mini-batch.enabled", Kind: format.Bool, Default: "false", Doc: "rows are always processed in batches"},
	{Name: "table.exec.mini-batch.allow-latency", Kind: format.Duration, Default: "0 ms", Doc: "has no effect"},
	{Name: "table.exec.mini-batch.size", Kind: format.Integer, Default: "-1", Doc: "has no effect"},
	{Name: "table.optimizer.agg-phase-strategy", Kind: format.Enum, Default: "AUTO",
		Values: []string{"AUTO", "ONE_PHASE", "TWO_PHASE"}, Doc: "has no effect"},
	{Name: "pipeline.max-parallelism", Kind: format.Integer, Default: "128", Doc: "has no effect: there are 128 key groups"},
	{Name: "pipeline.object-reuse", Kind: format.Bool, Default: "false", Doc: "has no effect"},
	{Name: WatermarkInterval, Kind: format.Duration, Default: "200 ms",
		Doc: "where it is set, the least time between two watermarks of a reader; otherwise each batch brings its watermark. 0 is as if it were not set"},
	{Name: "table.dml-sync", Kind: format.Bool, Default: "false", Doc: "has no effect: a script waits for its jobs"},
	{Name: IntegerOverflow, Kind: format.Enum, Default: "error", Values: []string{"error", "wrap"}, Own: true,
		Doc: "what integer arithmetic does where it overflows: it fails, or, as Flink has it, wraps around"},
	{Name: OwnPrefix + "data", Own: true, Doc: "the directory for checkpoints and state"},
	{Name: OwnPrefix + "batch.size", Kind: format.Integer, Default: "4096", Own: true, Doc: "the most rows of a batch"},
}

// Settings are the options of a session. The zero value has all defaults.
type Settings struct{ values map[string]string }

// Known returns the options that the program knows, by name.
func Known() []format.Option {
	out := slices.Clone(known)
	slices.SortFunc(out, func(a, b format.Option) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func find(key string) *format.Option {
	i := slices.IndexFunc(known, func(o format.Option) bool { return o.Name == key })
	if i < 0 {
		return nil
	}
	return &known[i]
}

// Set changes an option. It refuses a value of the wrong form, and unknown names with our own prefix; other unknown names are
// kept, as Flink keeps them.
func (s *Settings) Set(key, value string) error {
	switch o := find(key); {
	case o != nil:
		if _, err := format.NewOptions([]format.Option{*o}, map[string]string{key: value}, nil); err != nil {
			return err
		}
		if key == TimeZone {
			if _, err := text.ParseZone(value); err != nil {
				return err
			}
		}
		if key == Parallelism && s.number(value) < 1 {
			return fmt.Errorf("option %q is %q; it must be at least 1", key, value)
		}
	case strings.HasPrefix(key, OwnPrefix):
		var names []string
		for _, o := range known {
			if o.Own {
				names = append(names, o.Name)
			}
		}
		slices.Sort(names)
		if m := diag.Suggest(key, names); m != "" {
			return fmt.Errorf("unknown option %q; did you mean %q?", key, m)
		}
		return fmt.Errorf("unknown option %q; the options are: %s", key, strings.Join(names, ", "))
	}
	if s.values == nil {
		s.values = map[string]string{}
	}
	s.values[key] = value
	return nil
}

// Reset gives an option its default again.
func (s *Settings) Reset(key string) { delete(s.values, key) }

// ResetAll gives all options their defaults again.
func (s *Settings) ResetAll() { s.values = nil }

// All returns what was set, by name.
func (s *Settings) All() [][2]string {
	out := make([][2]string, 0, len(s.values))
	for k, v := range s.values {
		out = append(out, [2]string{k, v})
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out
}

// Has reports whether the option was set.
func (s *Settings) Has(key string) bool { _, ok := s.values[key]; return ok }

// Text returns an option's value, or its default.
func (s *Settings) Text(key string) string {
	if v, ok := s.values[key]; ok {
		return v
	}
	if o := find(key); o != nil {
		return o.Default
	}
	return ""
}

func (s *Settings) number(v string) int64 {
	var n int64
	if _, err := fmt.Sscan(v, &n); err != nil {
		return 0
	}
	return n
}

// Int returns the value of a number.
func (s *Settings) Int(key string) int64 { return s.number(s.Text(key)) }

// Is reports whether an option has a value, in any case of letters.
func (s *Settings) Is(key, value string) bool { return strings.EqualFold(s.Text(key), value) }

// Duration returns the value of a duration.
func (s *Settings) Duration(key string) time.Duration {
	d, err := format.ParseDuration(s.Text(key))
	if err != nil {
		return 0
	}
	return d
}

// Zone returns the session's time zone.
func (s *Settings) Zone() *time.Location {
	z, err := text.ParseZone(s.Text(TimeZone))
	if err != nil {
		return time.UTC
	}
	return z
}
