package filesystem

import (
	"errors"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// metaPosition is the metadata that tells where a record stands.
const metaPosition = "file.position"

var positionType = types.StringType().NotNull()

// places notes where records stand. They are then decoded one at a time, which
// is slow, so it is done only for queries that ask for it.
type places struct {
	// column is the position of the metadata in the source's rows, or -1.
	column int
	// base is the offset of the record at work in the data that is decoded.
	base int
}

// decode is dec.Decode, and returns the place of each row: name, and the line
// on which the record ends. line is that on which data begins.
func (p *places) decode(dec format.Decoder, data []byte, atEOF bool, dst *batch.Batch, max int, name string, line int64) (used, records int, at *batch.Bytes, err error) {
	at = batch.NewBytes(positionType, max, 0)
	defer func() { p.base = 0 }()
	place := append([]byte(name), ':')
	for dst.Size() < max && used < len(data) {
		had := dst.Size()
		p.base = used
		n, k, err := dec.Decode(data[used:], atEOF, dst, 1)
		if err != nil {
			var re *format.RecordError
			if errors.As(err, &re) {
				re.Line += int(countLines(data[:used]))
			}
			return used, records, at, err
		}
		if n == 0 {
			break
		}
		record := data[used : used+n]
		if dst.Size() > had {
			end := line + countLines(record[:n-1])
			at.Append(strconv.AppendInt(place, end, 10))
		}
		line += countLines(record)
		used, records = used+n, records+k
	}
	return used, records, at, nil
}

// put puts the places of the rows into the batch that was assembled of them.
func (p *places) put(b *batch.Batch, at *batch.Bytes) {
	if p.column >= 0 {
		b.Cols[p.column] = at
	}
}
