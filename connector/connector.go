// Package connector holds the contracts of sources and sinks, and the registry
// of connectors. One connector is one folder below it, and one import line in
// cmd/millstream.
package connector

import (
	"context"
	"io"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// Def defines a connector: its value alone gives option parsing, the errors
// for unknown options, and the documentation.
type Def struct {
	// Name is the value of 'connector'.
	Name string
	Doc  string
	// Options are those of the connector; those of its format come from the
	// format's Def, prefixed by the format's name.
	Options []format.Option
	// Metadata lists the METADATA columns a source offers.
	Metadata []Metadata
	// Position is the key of the metadata, of type STRING, that tells in words
	// where a row was read; empty where there is none.
	Position string
	// Formats says that the connector reads or writes bytes, so 'format' is needed.
	Formats bool
	// PartialRows says that a source can leave out fields of ROW columns that
	// the query does not need: the type of such a column in Table.Schema then
	// has only some of the fields that it has in Table.Physical, in the same
	// order. With Formats set, the format must say so, too.
	PartialRows bool
	// NullTimes says that a row whose event time is NULL is no error unless the
	// job's options say so. That is so in Flink for sources that compute
	// watermarks themselves.
	NullTimes bool
	// NewSource and NewSink check the options and make the table's source or
	// sink; nil where the connector has none. They open nothing: files and
	// connections are opened when the job runs.
	NewSource func(t *Table) (Source, error)
	NewSink   func(t *Table) (Sink, error)
}

// Metadata is a column that a source can fill from outside the record.
type Metadata struct {
	Key  string
	Type types.Type
	Doc  string
}

// Table is what a connector knows of the table it stands for.
type Table struct {
	// Name is the table's name, for errors.
	Name string
	// Schema is that of the physical columns, as declared, in order; for a
	// source, those that the query does not need are left out (Wanted).
	Schema *types.Schema
	// Physical are all physical columns of the table, Wanted the positions
	// (into Physical) that Schema holds. Formats that go by position need both.
	Physical *types.Schema
	Wanted   []int
	// Metadata are the keys of the METADATA columns that the query needs; a
	// source appends them to each batch behind the columns of Schema.
	Metadata []Metadata
	// PartitionKeys are the names of PARTITIONED BY.
	PartitionKeys []string
	// PrimaryKey are positions in Physical.
	PrimaryKey []int
	Options    *format.Options
	// Format is the format that the options name; nil if there is none.
	Format *format.Def
	Env    *fn.Env
	// Parallelism is that of the source or sink.
	Parallelism int
	// Stdin and Stdout are what the path "-" means; Stderr is for connectors
	// that print.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Shared holds objects of the process that a connector finds by name, such
	// as the tables of a test script.
	Shared map[string]any
}

// Source is a table's input. Its methods are called from the runtime; Discover
// from one goroutine, Open from the task that will read the split.
type Source interface {
	// Bounded reports whether all splits end.
	Bounded() bool
	// Discover returns the splits whose IDs are not in seen, which holds those
	// that the job knows already; it keeps no memory of its own, since a job
	// may go back to a checkpoint that knew fewer. It is called at the start
	// (for a bounded source at the first start only), and, if Interval is
	// above 0, again and again.
	Discover(ctx context.Context, seen map[string]bool) ([]Split, error)
	// Interval is the time between two Discover calls in ms; 0: only one.
	Interval() int64
	// Open starts to read a split at a position that its Reader gave earlier;
	// a nil position is the beginning.
	Open(ctx *ReaderContext, s Split, position []byte) (Reader, error)
	// Modes are the kinds of change that the source can send.
	Modes() Modes
}

// ChangedError says that what a source is to go on with is not what it was when it
// was read before. Another attempt would find it so again, so none is made.
type ChangedError struct{ Msg string }

// Error implements error.
func (e *ChangedError) Error() string { return e.Msg }

// Located is implemented by sources that can say where they look for their
// splits: a path, a topic.
type Located interface {
	Location() string
}

// Rereadable is implemented by sources that can be read for a look: it takes
// nothing away from those who read them later, and changes nothing.
type Rereadable interface {
	Rereadable() bool
}

// OneTime is implemented by sources that may have nothing to go back to: a job
// that has failed cannot go on from its checkpoint. EXPLAIN says so.
type OneTime interface {
	// OneTime says in words what cannot be read again, such as standard input;
	// empty if positions are good for ever.
	OneTime() string
}

// Split is a part of a source that is read in order by one reader.
type Split struct {
	// ID is unique within the source and the same after a restart.
	ID string
	// Data is whatever the source needs to open the split. It is saved.
	Data []byte
	// Ends is set for a split that has an end although its source has none,
	// such as a file of a directory that is watched. (The splits of a bounded
	// source all end.) Splits are dealt out to the readers in the order of
	// Discover; a reader reads those that end one after another, and the
	// others all at once. A split that waits for its turn holds the watermark
	// back, so that its rows are not late because of those read before.
	Ends bool
	// Sequel is set if the split goes on where the one before it in the order
	// of Discover ends, as each part of a large file but the first does. It
	// does not hold the watermark back while it waits for its turn, once its
	// reader has opened another part of the file.
	Sequel bool
}

// ReaderContext is what a reader may use.
type ReaderContext struct {
	context.Context
	// Subtask of Parallelism readers.
	Subtask, Parallelism int
	// Go runs f on a goroutine that recovers; an error or a panic of f fails
	// the job. Only readers that would block in Read need it.
	Go func(f func(ctx context.Context) error)
	// Wake makes the runtime call Read again; from any goroutine.
	Wake func()
	// Now is the processing time in ms.
	Now func() int64
	// Count and Sample are those of the operator contract (skipped records).
	Count  func(name string, n int64)
	Sample func(name string, text func() string)
}

// Reader reads one split. All calls come from one goroutine.
type Reader interface {
	// Read returns the next rows, at most about max. It must not wait for
	// something that may take long: without rows it returns an empty chunk
	// with status Wait, and calls Wake when there are some. For input that can
	// be read again, chunks must have the same rows whenever they are read:
	// chunk borders may depend on the position only, never on time.
	Read(max int) (Chunk, error)
	Close() error
}

// Status says what follows a chunk.
type Status uint8

const (
	// More: Read can be called at once.
	More Status = iota
	// Wait: nothing is there now; the runtime calls Read after Wake.
	Wait
	// End: the split has ended; Read is not called again.
	End
	// Idle is Wait, and the split does not hold the watermark back.
	Idle
)

// Chunk is what one Read gives.
type Chunk struct {
	// Batch holds the rows; nil or empty if there are none.
	Batch *batch.Batch
	// Position is where to go on after these rows. It must not be changed
	// afterwards. Nil: the position is unchanged.
	Position []byte
	Status   Status
	// Watermark, if HasWatermark is set, is sent behind the rows, for tables
	// with SOURCE_WATERMARK().
	Watermark    int64
	HasWatermark bool
	// Hold keeps back the watermark that the table derives from these rows
	// until a chunk without Hold comes (which may be empty). Test scripts need
	// it, whose rows are never late for each other within one step.
	Hold bool
}

// Modes is a set of kinds of change.
type Modes struct {
	// Update: +U rows come or are accepted; Before: -U as well; Delete: -D.
	Update, Before, Delete bool
	// Upsert: +U and -D go by the primary key, and need no -U.
	Upsert bool
}

// InsertOnly is the set of +I alone.
var InsertOnly = Modes{}

// AllModes is the set of all kinds.
var AllModes = Modes{Update: true, Before: true, Delete: true}

// Sink is a table's output.
type Sink interface {
	// Accepts returns the kinds of change that the sink takes.
	Accepts() Modes
	// Open makes the writer of one subtask. restored are the states that the
	// writers of the last run returned with the checkpoint that the job goes
	// on from: nil in a job that starts anew; subtask i gets those of the old
	// subtasks j with j mod parallelism = i.
	Open(ctx *WriterContext, restored [][]byte) (Writer, error)
}

// WriterContext is what a writer may use.
type WriterContext struct {
	context.Context
	Subtask, Parallelism int
	// Job is the job's name, Incarnation a number that rises with each start. ID
	// tells the sinks of a job apart; it is the same after a restart.
	Job, ID     string
	Incarnation int64
	// Published is set if the job begins from a savepoint all of whose output
	// was published, perhaps elsewhere: Open has nothing to finish.
	Published bool
	// Others are the states in the checkpoint that other writers of the sink take
	// over. What they hold is not for this one to touch.
	Others [][]byte
	Now    func() int64
	Count  func(name string, n int64)
}

// Immediate is implemented by sinks that may show rows before the checkpoint that
// holds them is complete: after a failure some of them come again, so that each is
// there at least once, and not exactly once. EXPLAIN says so.
type Immediate interface {
	// Immediate says in words what shows rows at once, such as standard output;
	// empty if the sink keeps the rule of Writer.
	Immediate() string
}

// Finisher is a Writer that can finish what it has open although rows will
// follow. Finish is called before the Barrier of a savepoint, whose state must
// not depend on files that the job goes on to write.
type Finisher interface {
	Writer
	Finish() error
}

// Writer writes the rows of one subtask. All calls come from one goroutine, in
// this order: Open cleans up or finishes what the last run left; Write any
// number of times; Barrier(n) when all rows before barrier n were written;
// Committed(n) after the checkpoint with all its writers' states is durable
// (some may be skipped: a later n stands for the earlier ones); Close.
//
// Exactly once: what was written before barrier n must be published no
// earlier than Committed(n), and again by Open if the job is restored from n.
type Writer interface {
	Write(b *batch.Batch) error
	// Barrier flushes and returns what is needed to publish or to go on from
	// here. last says that no rows will follow: open files can be finished.
	Barrier(id int64, last bool) (state []byte, err error)
	Committed(id int64) error
	// Close frees what the writer holds. It publishes nothing.
	Close() error
}
