// Package format holds the contracts of formats (how rows become bytes and
// bytes become rows), the options that tables have, and the registry. One
// format is one folder below it.
package format

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/types"
)

// Def defines a format.
type Def struct {
	// Name is the value of 'format', and the prefix of its options.
	Name string
	Doc  string
	// Options are named without the prefix.
	Options []Option
	// Splittable: a file can be cut at any line break.
	Splittable func(o *Options) bool
	// PartialRows: a decoder finds the fields of a ROW by name, so the type of
	// a ROW column in Config.Schema may lack fields that nobody needs.
	PartialRows bool
	NewDecoder  func(c *Config) (Decoder, error)
	NewEncoder  func(c *Config) (Encoder, error)
}

// Config is what a format knows of the table.
type Config struct {
	// Table is the name that errors print.
	Table string
	// Physical are all columns of the record, in order. Wanted are the
	// positions of those that the decoder has to fill; Schema has just these.
	// An encoder writes all of Physical.
	Physical *types.Schema
	Wanted   []int
	Schema   *types.Schema
	Options  *Options
	Env      *fn.Env
	// Count and Sample tell of records that were skipped. May be nil.
	Count  func(name string, n int64)
	Sample func(name string, text func() string)
}

// Decoder turns bytes into rows. It is used on one goroutine and for one
// stream of bytes; it may keep buffers between calls.
type Decoder interface {
	// Decode appends the rows of the whole records at the beginning of data to
	// dst (an appendable batch of Config.Schema, as batch.NewBatch makes), at
	// most max rows, and returns how many bytes it has used up and how many
	// records that were (skipped ones included). With atEOF, data is all
	// that is left, and its last record may lack its end. It keeps no
	// reference to data. If it uses up nothing, it needs more data.
	//
	// An error that a record causes is a *RecordError; the rows before that
	// record are in dst.
	Decode(data []byte, atEOF bool, dst *batch.Batch, max int) (used, records int, err error)
	// DecodeMessage appends the rows of one message of a broker, which holds
	// one record (or, for some formats, several).
	DecodeMessage(msg []byte, dst *batch.Batch) error
}

// RecordError says what is wrong with one record.
type RecordError struct {
	// Record is the index of the record within the data given, Line the number
	// of line breaks before the fault within that data.
	Record, Line int
	// Msg says what is wrong, in words of the table: column, value, type.
	Msg string
	// Hint says what to do, such as which option skips such records.
	Hint string
}

// Error implements error.
func (e *RecordError) Error() string {
	if e.Hint == "" {
		return e.Msg
	}
	return e.Msg + " (" + e.Hint + ")"
}

// Encoder turns rows into bytes.
type Encoder interface {
	// Encode appends the records of the batch's rows to buf, each with its end
	// (a line break), and returns it.
	Encode(buf []byte, b *batch.Batch) ([]byte, error)
	// Header returns what stands at the start of a file; usually nothing.
	Header() []byte
	// Modes reports whether the format can write changes other than +I.
	Updates() bool
}
