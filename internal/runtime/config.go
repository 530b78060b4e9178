package runtime

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/clock"
	"github.com/millstream-io/millstream/internal/state"
)

// Config says how a job runs. The zero value, with Defaults, is good for a job
// that keeps nothing.
type Config struct {
	// Job is the job's name.
	Job string
	// Clock is where processing time comes from; the machine's by default.
	Clock clock.Clock
	// BatchSize is the number of rows that a reader is asked for at once.
	BatchSize int
	// QueueBatches and QueueBytes bound what waits between two tasks.
	QueueBatches, QueueBytes int
	// Checkpoint says when checkpoints are taken, Restart what happens after a
	// failure. Neither has a meaning for a job that keeps nothing.
	Checkpoint checkpoint.Config
	Restart    Restart
	// State says where the tables of operators are.
	State StateConfig
	// Storage says where checkpoints are, for whoever opens the Data of the job.
	Storage Storage
	// AllowLoss lets the job go on from a checkpoint some of whose state the graph
	// has no use for.
	AllowLoss bool
	// Log is told, in one line each, what a user should know: where the job
	// goes on, that it restarts. It may be nil.
	Log func(line string)
}

// StateConfig is the part of state.Config that a job decides.
type StateConfig struct {
	Backend state.Backend
	// MaxRows bounds the rows that one operator instance keeps in memory, for
	// tests; 0 means no bound.
	MaxRows int
	// Budget is the memory of all jobs of the process; nil means no bound.
	Budget *state.Budget
}

// Restart is what happens after a failure that another attempt may survive.
type Restart struct {
	// Attempts is how often the job is started again before it fails for good;
	// below 0 there is no bound. The count begins anew once the job has run for
	// ResetAfter.
	Attempts int
	// Delay is the pause before the first attempt, in ms. It is multiplied by
	// Multiplier with each further one, up to MaxDelay.
	Delay, MaxDelay, ResetAfter int64
	Multiplier                  float64
}

// Defaults fills in what is not set.
func (c Config) Defaults() Config {
	if c.Clock == nil {
		c.Clock = clock.System{}
	}
	if c.BatchSize <= 0 {
		c.BatchSize = batch.DefaultSize
	}
	if c.QueueBatches <= 0 {
		c.QueueBatches = 8
	}
	if c.QueueBytes <= 0 {
		c.QueueBytes = 4 << 20
	}
	if c.Checkpoint.Retained <= 0 {
		c.Checkpoint.Retained = 1
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
	return c
}

// The names of the options below.
const (
	optInterval  = "execution.checkpointing.interval"
	optTimeout   = "execution.checkpointing.timeout"
	optMinPause  = "execution.checkpointing.min-pause"
	optTolerable = "execution.checkpointing.tolerable-failed-checkpoints"
	optRetained  = "execution.checkpointing.num-retained"
	optRestart   = "restart-strategy.type"
	optExp       = "restart-strategy.exponential-delay."
	optFixed     = "restart-strategy.fixed-delay."
	optBackend   = "state.backend.type"
	optMemory    = "memory.limit"
)

// Options are the options that Set reads, under Flink's names.
var Options = slices.Concat(jobOptions, storageOptions)

var jobOptions = []format.Option{
	{Name: optInterval, Kind: format.Duration, Default: "10 s", Doc: "the time between two checkpoints"},
	{Name: optTimeout, Kind: format.Duration, Default: "10 min", Doc: "after which a checkpoint is given up"},
	{Name: optMinPause, Kind: format.Duration, Default: "0 ms", Doc: "the least time between two checkpoints"},
	{Name: optTolerable, Kind: format.Integer, Default: "0", Doc: "how many checkpoints in a row may fail before the job does"},
	{Name: optRetained, Kind: format.Integer, Default: "1", Doc: "how many checkpoints are kept"},
	{Name: optRestart, Kind: format.Enum, Default: "exponential-delay",
		Values: []string{"exponential-delay", "exponentialdelay", "fixed-delay", "fixeddelay", "none", "off", "disable"},
		Doc:    "what happens after a failure; an error that a row's values cause always ends the job"},
	{Name: optExp + "initial-backoff", Kind: format.Duration, Default: "100 ms", Doc: "the pause before the first restart"},
	{Name: optExp + "max-backoff", Kind: format.Duration, Default: "1 min", Doc: "the longest pause"},
	{Name: optExp + "backoff-multiplier", Default: "1.5", Doc: "by which the pause grows with each restart"},
	{Name: optExp + "reset-backoff-threshold", Kind: format.Duration, Default: "1 h", Doc: "after so long without a failure the count begins anew"},
	{Name: optExp + "attempts-before-reset-backoff", Kind: format.Integer, Default: "5", Doc: "how often the job is started again; below 0: always"},
	{Name: optFixed + "attempts", Kind: format.Integer, Default: "1", Doc: "how often the job is started again; below 0: always"},
	{Name: optFixed + "delay", Kind: format.Duration, Default: "1 s", Doc: "the pause before a restart"},
	{Name: optBackend, Kind: format.Enum, Default: "auto", Values: []string{"auto", "memory", "disk", "hashmap", "rocksdb", "forst"},
		Doc: "where the state of operators is: auto keeps rows in memory and writes those that are cold to disk; memory keeps all of them in memory, and fails " +
			"when there is no room; disk lets rows leave memory early and caches files instead. Flink's hashmap means memory, rocksdb and forst mean auto"},
	{Name: optMemory, Kind: format.Size, Own: true,
		Doc: "the memory of the process, at least 64 mb. Of what goes beyond 40 mb half is for the rows of state, three sixteenths for cached files, an eighth for rows between " +
			"operators, and the rest for work. By default that of GOMEMLIMIT, or three quarters of what the machine has or the container may use"},
}

// Set takes the values of Options. lookup returns what was set under a name.
func (c *Config) Set(lookup func(name string) (string, bool)) error {
	values := map[string]string{}
	for _, o := range Options {
		if v, ok := lookup(o.Name); ok {
			values[o.Name] = v
		}
	}
	o, err := format.NewOptions(Options, values, nil)
	if err != nil {
		return err
	}
	ms := func(name string) int64 { return o.Duration(name).Milliseconds() }
	c.Checkpoint = checkpoint.Config{
		Interval: ms(optInterval), Timeout: ms(optTimeout), MinPause: ms(optMinPause),
		Tolerable: int(o.Int(optTolerable)), Retained: int(o.Int(optRetained)),
	}
	switch o.Enum(optRestart) {
	case "exponential-delay", "exponentialdelay":
		c.Restart = Restart{
			Attempts: int(o.Int(optExp + "attempts-before-reset-backoff")),
			Delay:    ms(optExp + "initial-backoff"), MaxDelay: ms(optExp + "max-backoff"),
			ResetAfter: ms(optExp + "reset-backoff-threshold"),
		}
		text := o.Text(optExp + "backoff-multiplier")
		if c.Restart.Multiplier, err = strconv.ParseFloat(text, 64); err != nil || c.Restart.Multiplier < 1 {
			return fmt.Errorf("option %q is %q; it must be a number of at least 1", optExp+"backoff-multiplier", text)
		}
	case "fixed-delay", "fixeddelay":
		delay := ms(optFixed + "delay")
		c.Restart = Restart{Attempts: int(o.Int(optFixed + "attempts")), Delay: delay, MaxDelay: delay, Multiplier: 1}
	default:
		c.Restart = Restart{}
	}
	c.Storage = NewStorage(func(name string) (string, bool) { return o.Text(name), o.Has(name) })
	return c.setState(o)
}

// setState takes the options of state and memory.
func (c *Config) setState(o *format.Options) error {
	backend := o.Enum(optBackend)
	c.State.Backend = state.Disk
	if backend == "memory" || backend == "hashmap" {
		c.State.Backend = state.Memory
	}
	limit := o.Size(optMemory)
	if !o.Has(optMemory) {
		limit = defaultMemory()
	}
	if limit < state.MinBudget {
		return fmt.Errorf("option %q is %d MiB; it must be at least %d MiB", optMemory, limit>>20, state.MinBudget>>20)
	}
	c.State.Budget = processMemory(limit, backend == "disk")
	return nil
}

// backoff counts the attempts of a Restart.
type backoff struct {
	Restart
	used  int
	delay int64
}

// next returns the pause before the next attempt, after a run of the given
// length has failed; false if the job is to fail for good.
func (b *backoff) next(ran int64) (delay int64, ok bool) {
	if b.ResetAfter > 0 && ran >= b.ResetAfter {
		b.used = 0
	}
	if b.Attempts >= 0 && b.used >= b.Attempts {
		return 0, false
	}
	if b.used == 0 {
		b.delay = b.Delay
	} else {
		b.delay = min(int64(float64(b.delay)*b.Multiplier), max(b.MaxDelay, b.Delay))
	}
	b.used++
	return b.delay, true
}
