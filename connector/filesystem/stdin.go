package filesystem

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
)

// stdinReader implements connector.Reader for standard input. What it has read
// cannot be read again, so a job that goes on from a checkpoint refuses it.
type stdinReader struct {
	src    *source
	ctx    *connector.ReaderContext
	dec    format.Decoder
	blocks chan []byte

	// buf[lo:] is what was read and not used up; up to limit bytes are taken.
	buf     []byte
	lo      int
	limit   int
	eof     bool
	started bool
	lines   int64
	records int64

	makers    []func(int) batch.Vector
	constants constants
	places    places
	// at are the places of the rows that were read last.
	at *batch.Bytes
}

func newStdinReader(s *source, ctx *connector.ReaderContext) (*stdinReader, error) {
	if s.table.Stdin == nil {
		return nil, errors.New("there is no standard input here")
	}
	r := &stdinReader{src: s, ctx: ctx, blocks: make(chan []byte, 4), limit: block, places: places{column: s.position}}
	var err error
	if r.dec, err = s.decoder(ctx.Count, r.sample); err != nil {
		return nil, err
	}
	if r.makers, err = s.constantsOf(splitData{Path: stdio}); err != nil {
		return nil, err
	}
	ctx.Go(r.pump)
	return r, nil
}

// pump hands over what comes in. It ends with the input; while the runtime does
// not read, it waits.
func (r *stdinReader) pump(ctx context.Context) error {
	defer r.ctx.Wake()
	defer close(r.blocks)
	for {
		block := make([]byte, 1<<16)
		n, err := r.src.table.Stdin.Read(block)
		if n > 0 {
			select {
			case r.blocks <- block[:n]:
				r.ctx.Wake()
			case <-ctx.Done():
				return nil
			}
		}
		switch {
		case err == io.EOF || ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("table %s: standard input: %w", r.src.table.Name, err)
		}
	}
}

// take moves blocks into the buffer, without waiting.
func (r *stdinReader) take() {
	if r.lo > len(r.buf)/2 {
		r.buf, r.lo = r.buf[:copy(r.buf, r.buf[r.lo:])], 0
	}
	for !r.eof && len(r.buf)-r.lo < r.limit {
		select {
		case b, ok := <-r.blocks:
			r.buf = append(r.buf, b...)
			r.eof = !ok
		default:
			return
		}
	}
}

// Read implements connector.Reader.
func (r *stdinReader) Read(max int) (connector.Chunk, error) {
	r.take()
	if err := r.header(); err != nil {
		return connector.Chunk{}, err
	}
	dst := batch.NewBatch(r.src.decoded, min(max, batch.DefaultSize))
	used := 0
	if r.started {
		n, records, err := r.decode(dst, max)
		if err != nil {
			var re *format.RecordError
			if errors.As(err, &re) {
				err = fmt.Errorf("standard input:%d: %w", r.lines+int64(re.Line)+1, err)
			}
			return connector.Chunk{}, err
		}
		used = n
		r.records += int64(records)
	}
	r.use(used)
	left := len(r.buf) - r.lo
	c := connector.Chunk{Position: binary.AppendUvarint(nil, uint64(r.records))}
	switch {
	case r.eof && left == 0:
		c.Status = connector.End
	case used > 0:
		r.limit = block
	case int64(left) > r.src.maxRecord:
		return c, fmt.Errorf("standard input:%d: the record is longer than %d bytes; if that is right, set %q",
			r.lines+1, r.src.maxRecord, optMaxRecord)
	case left >= r.limit:
		// A record that does not fit: take more.
		r.limit = 2 * left
	default:
		c.Status = connector.Wait
	}
	if dst.Size() > 0 {
		c.Batch = r.src.assemble(dst, &r.constants, r.makers)
		r.places.put(c.Batch, r.at)
	}
	return c, nil
}

// decode reads records, and their places if these are asked for.
func (r *stdinReader) decode(dst *batch.Batch, max int) (used, records int, err error) {
	if r.places.column < 0 {
		return r.dec.Decode(r.buf[r.lo:], r.eof, dst, max)
	}
	used, records, r.at, err = r.places.decode(r.dec, r.buf[r.lo:], r.eof, dst, max, "standard input", r.lines+1)
	return used, records, err
}

// header reads what stands before the first record.
func (r *stdinReader) header() error {
	h, ok := r.dec.(format.HeaderDecoder)
	if r.started || !ok {
		r.started = true
		return nil
	}
	used, done, err := h.DecodeHeader(r.buf[r.lo:], r.eof)
	if err != nil {
		return fmt.Errorf("table %s: standard input: %w", r.src.table.Name, err)
	}
	if r.started = done || r.eof; r.started {
		r.use(used)
	}
	return nil
}

// use passes over n bytes.
func (r *stdinReader) use(n int) {
	r.lines += countLines(r.buf[r.lo : r.lo+n])
	r.lo += n
}

func (r *stdinReader) sample(name string, text func() string) {
	if r.ctx.Sample == nil {
		return
	}
	r.ctx.Sample(name, func() string {
		line := r.lines + 1
		if l, ok := r.dec.(format.Located); ok {
			line += countLines(r.buf[r.lo : r.lo+r.places.base+l.Offset()])
		}
		return fmt.Sprintf("standard input:%d: %s", line, text())
	})
}

// Close implements connector.Reader.
func (r *stdinReader) Close() error { return nil }
