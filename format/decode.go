package format

// Names of the counters that decoders report to Config.Count.
const (
	// SkippedRecords counts records that were left out.
	SkippedRecords = "skipped_records"
	// NulledValues counts values that could not be read and became NULL.
	NulledValues = "nulled_values"
)

// HeaderDecoder is implemented by decoders of formats in which a file begins
// with something other than records: a byte-order mark, a line of names.
type HeaderDecoder interface {
	// DecodeHeader reads the beginning of a file. It is called before Decode
	// for each file, also if reading goes on in its middle, and not at all for
	// messages of a broker. done is false if data, which is all of the file if
	// atEOF, is too short to tell.
	DecodeHeader(data []byte, atEOF bool) (used int, done bool, err error)
}

// Located is implemented by decoders that can say, while they call
// Config.Sample, where the record in question begins in the data of the
// current call.
type Located interface{ Offset() int }
