package filesystem

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// block is how files are read: a chunk has the records that begin in one block
// of the file, and as many rows as are asked for at the most. Where it ends
// depends on where it begins alone, so chunks are the same whenever they are
// read. Little is left of a block when the next one is read behind it.
const block = 1 << 20

// slack is the room for a record that goes on into the next block; a longer one
// makes the buffer grow. A chunk that begins so close to the end of its block
// takes the next one as well.
const slack = 1 << 14

// reader implements connector.Reader for a split of a file.
type reader struct {
	src  *source
	ctx  *connector.ReaderContext
	data splitData
	dec  format.Decoder

	file *os.File
	in   io.ReadCloser // decompressed, or the file itself
	// buf[lo:hi] are the bytes that were read and not used up, the first of
	// which stands at offset pos (decompressed). No byte at or behind end is
	// read; end is below zero where it is not known. eof is set once all bytes
	// are in buf.
	buf      []byte
	lo, hi   int
	pos, end int64
	eof      bool
	// records is the number of records read before pos, and sum the checksum of the
	// bytes from the offset first to pos.
	records int64
	first   int64
	sum     uint32
	// unsummed is set if the sum is not known.
	unsummed bool

	makers    []func(int) batch.Vector
	constants constants
	room      room
	lines     lineCounter
	places    places
}

func newReader(s *source, ctx *connector.ReaderContext, d splitData, position []byte) (_ *reader, err error) {
	r := &reader{src: s, ctx: ctx, data: d, places: places{column: s.position}}
	if r.dec, err = s.decoder(ctx.Count, r.sample); err != nil {
		return nil, err
	}
	if r.makers, err = s.constantsOf(d); err != nil {
		return nil, err
	}
	if r.file, err = os.Open(d.Path); err != nil {
		return nil, fmt.Errorf("table %s: %w", s.table.Name, err)
	}
	defer func() {
		if err != nil {
			_ = r.Close()
			err = fmt.Errorf("table %s: file %s: %w", s.table.Name, d.Path, err)
		}
	}()
	if err = r.open(position); err != nil {
		return nil, err
	}
	return r, nil
}

// open reads the file's header and goes to the first record.
func (r *reader) open(position []byte) error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < r.data.Size {
		return errShrunk
	}
	ext := compression(r.data.Path)
	r.end = r.data.Size
	r.in = r.file
	if ext != "" {
		r.end = -1
		in, err := decompress(ext, r.file)
		if err != nil {
			return err
		}
		r.in = in
	}
	r.buf = make([]byte, min(block, r.data.Size)+slack)
	if h, ok := r.dec.(format.HeaderDecoder); ok {
		if err := r.header(h); err != nil {
			return err
		}
	}
	start, end := max(r.pos, r.data.Start), r.end
	if ext == "" && r.data.End < r.data.Size {
		if end, err = r.nextLine(r.data.End); err != nil {
			return err
		}
	}
	if r.data.Start > r.pos {
		if start, err = r.nextLine(r.data.Start); err != nil {
			return err
		}
		r.first, r.sum = start, 0
	}
	if position == nil {
		return r.seek(start, end, ext != "")
	}
	at, err := parsePosition(position)
	if err != nil {
		return err
	}
	switch {
	case !at.summed: // by an older version
		r.unsummed = true
	case ext == "" && info.ModTime().UnixMilli() != r.data.Modified:
		err = r.compare(at)
	}
	if err != nil {
		return err
	}
	if err := r.seek(at.pos, end, ext != ""); err != nil {
		return err
	}
	if ext != "" && at.summed && r.sum != at.sum {
		return errChanged(at.pos)
	}
	r.records, r.sum = at.records, at.sum
	return nil
}

// compare reads again what was read before of a file that was written to since,
// which is right if it has only grown, or was only touched.
func (r *reader) compare(at position) error {
	h := crc32.New(castagnoli)
	_, err := io.Copy(h, io.NewSectionReader(r.file, r.first, at.pos-r.first))
	if err == nil && h.Sum32() != at.sum {
		err = errChanged(at.pos)
	}
	return err
}

// errChanged says that another file has the name now.
func errChanged(pos int64) error {
	return &connector.ChangedError{Msg: fmt.Sprintf("its first %d bytes, which were read before, are others now; the job cannot go on with another file under the same name: "+
		"put the old one back, or start anew with --fresh", pos)}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header reads what stands before the first record of the file.
func (r *reader) header(h format.HeaderDecoder) error {
	for {
		if err := r.fill(r.hi - r.lo + slack); err != nil {
			return err
		}
		used, done, err := h.DecodeHeader(r.buf[r.lo:r.hi], r.eof)
		if err != nil {
			return err
		}
		if done || r.eof {
			r.use(used)
			return nil
		}
		if int64(r.hi-r.lo) > r.src.maxRecord {
			return r.tooLong()
		}
	}
}

// nextLine returns where the first line begins at offset at or behind it.
func (r *reader) nextLine(at int64) (int64, error) {
	var buf [1 << 12]byte
	for at--; at < r.data.Size; {
		n, err := r.file.ReadAt(buf[:min(int64(len(buf)), r.data.Size-at)], at)
		for i, c := range buf[:n] {
			if c == '\n' {
				return at + int64(i) + 1, nil
			}
		}
		if err != nil {
			return 0, unexpected(err)
		}
		at += int64(n)
	}
	return r.data.Size, nil
}

// seek makes at the offset of the next byte, and end that of the end.
// Compressed files are read from their beginning.
func (r *reader) seek(at, end int64, compressed bool) error {
	if !compressed {
		r.end = end
		if read := r.pos + int64(r.hi-r.lo); at == r.pos && read <= end {
			r.eof = read == end
			return nil
		}
		r.lo, r.hi, r.eof, r.pos = 0, 0, false, at
		_, err := r.file.Seek(at, io.SeekStart)
		return err
	}
	for r.pos < at {
		if r.lo == r.hi {
			if err := r.fill(block); err != nil {
				return err
			}
			if r.lo == r.hi {
				return errShrunk
			}
		}
		r.use(int(min(int64(r.hi-r.lo), at-r.pos)))
	}
	return nil
}

// use goes on behind n bytes in the buffer.
func (r *reader) use(n int) {
	r.sum = crc32.Update(r.sum, castagnoli, r.buf[r.lo:r.lo+n])
	r.lo += n
	r.pos += int64(n)
}

// fill reads until at least n bytes are in the buffer, or all that there are.
func (r *reader) fill(n int) error {
	if r.hi-r.lo >= n || r.eof {
		return nil
	}
	if r.lo > 0 {
		copy(r.buf, r.buf[r.lo:r.hi])
		r.lo, r.hi = 0, r.hi-r.lo
	}
	if n > len(r.buf) {
		r.buf = append(make([]byte, 0, 2*n), r.buf[:r.hi]...)[:2*n]
	}
	for r.hi < n && !r.eof {
		room := r.buf[r.hi:n]
		if r.end >= 0 {
			room = room[:min(int64(len(room)), r.end-r.pos-int64(r.hi))]
		}
		if len(room) == 0 {
			r.eof = true
			break
		}
		k, err := r.in.Read(room)
		r.hi += k
		switch {
		case err == io.EOF && r.end >= 0 && r.pos+int64(r.hi) < r.end:
			return errShrunk
		case err == io.EOF:
			r.eof = true
		case err != nil:
			return fmt.Errorf("cannot be read behind byte %d: %w", r.pos+int64(r.hi), err)
		}
	}
	if r.end >= 0 && r.pos+int64(r.hi-r.lo) >= r.end {
		r.eof = true
	}
	return nil
}

// Read implements connector.Reader.
func (r *reader) Read(max int) (connector.Chunk, error) {
	c, err := r.read(max)
	if err != nil && !errors.As(err, new(*recordError)) {
		err = fmt.Errorf("table %s: file %s: %w", r.src.table.Name, r.data.Path, err)
	}
	return c, err
}

func (r *reader) read(max int) (connector.Chunk, error) {
	size := block - int(r.pos%block)
	if size < slack {
		size += block
	}
	var dst *batch.Batch
	for ; ; size += block {
		if err := r.fill(size); err != nil {
			return connector.Chunk{}, err
		}
		data := r.buf[r.lo:min(r.hi, r.lo+size)]
		if len(data) == 0 {
			return connector.Chunk{Position: r.position(), Status: connector.End}, nil
		}
		all := r.eof && len(data) == r.hi-r.lo
		if dst == nil {
			dst = r.room.batch(r.src.decoded, max, len(data))
		}
		used, records, at, err := r.decode(data, all, dst, max)
		if err != nil {
			return connector.Chunk{}, r.located(err)
		}
		if used == 0 {
			if int64(len(data)) >= r.src.maxRecord || all {
				return connector.Chunk{}, r.tooLong()
			}
			continue
		}
		r.room.learn(dst, used)
		r.use(used)
		r.records += int64(records)
		c := connector.Chunk{Position: r.position()}
		if r.eof && r.lo == r.hi {
			c.Status = connector.End
		}
		if dst.Size() > 0 {
			c.Batch = r.src.assemble(dst, &r.constants, r.makers)
			r.places.put(c.Batch, at)
		}
		return c, nil
	}
}

// decode reads records, and their places if these are asked for.
func (r *reader) decode(data []byte, all bool, dst *batch.Batch, max int) (used, records int, at *batch.Bytes, err error) {
	if r.places.column < 0 {
		used, records, err = r.dec.Decode(data, all, dst, max)
		return used, records, nil, err
	}
	line, err := r.lines.at(r.data.Path, r.pos)
	if err != nil {
		return 0, 0, nil, err
	}
	used, records, at, err = r.places.decode(r.dec, data, all, dst, max, r.data.Path, line)
	if err == nil {
		r.lines = lineCounter{r.pos + int64(used), line + countLines(data[:used])}
	}
	return used, records, at, err
}

func (r *reader) tooLong() error {
	return fmt.Errorf("the record at byte %d is longer than %d bytes; if that is right, set %q", r.pos, r.src.maxRecord, optMaxRecord)
}

// position is where to go on: the offset of the next byte, the number of records
// before it in the split, and the checksum of the bytes before it; those of older
// versions have none.
type position struct {
	pos, records int64
	sum          uint32
	summed       bool
}

func (r *reader) position() []byte {
	b := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(r.pos)), uint64(r.records))
	if r.unsummed {
		return b
	}
	return binary.BigEndian.AppendUint32(b, r.sum)
}

func parsePosition(b []byte) (p position, err error) {
	pos, n := binary.Uvarint(b)
	records, m := binary.Uvarint(b[max(n, 0):])
	if n <= 0 || m <= 0 {
		return p, fmt.Errorf("bad position %x", b)
	}
	p.pos, p.records = int64(pos), int64(records)
	switch rest := b[n+m:]; len(rest) {
	case 0:
	case 4:
		p.sum, p.summed = binary.BigEndian.Uint32(rest), true
	default:
		return p, fmt.Errorf("bad position %x", b)
	}
	return p, nil
}

// Close implements connector.Reader.
func (r *reader) Close() error {
	var err error
	if r.in != nil && r.in != io.ReadCloser(r.file) {
		err = r.in.Close()
	}
	return errors.Join(err, r.file.Close())
}

// recordError is the error of a record, which says where it stands.
type recordError struct {
	place string
	err   *format.RecordError
}

// Error implements error.
func (e *recordError) Error() string { return e.place + ": " + e.err.Error() }

// Unwrap returns the error of the format.
func (e *recordError) Unwrap() error { return e.err }

// located adds the place in the file to the error of a record.
func (r *reader) located(err error) error {
	var re *format.RecordError
	if !errors.As(err, &re) {
		return err
	}
	line, lineErr := r.lines.at(r.data.Path, r.pos)
	if lineErr != nil {
		return &recordError{place: fmt.Sprintf("%s: near byte %d", r.data.Path, r.pos), err: re}
	}
	return &recordError{place: fmt.Sprintf("%s:%d", r.data.Path, line+int64(re.Line)), err: re}
}

// sample passes the example of a skipped record on with its place in the file.
func (r *reader) sample(name string, text func() string) {
	if r.ctx.Sample == nil {
		return
	}
	r.ctx.Sample(name, func() string {
		at := r.pos + int64(r.places.base)
		if l, ok := r.dec.(format.Located); ok {
			at += int64(l.Offset())
		}
		line, err := r.lines.at(r.data.Path, at)
		if err != nil {
			return fmt.Sprintf("%s: near byte %d: %s", r.data.Path, at, text())
		}
		return fmt.Sprintf("%s:%d: %s", r.data.Path, line, text())
	})
}

// room makes batches that are large enough for a chunk, by what the last one
// took, so that columns need not grow.
type room struct {
	// rows and used are the rows of the last chunk and the bytes that they
	// were read from, text the bytes of each text column.
	rows, used int
	text       []int
}

// batch returns a batch for the rows in size bytes, at most limit.
func (m *room) batch(s *types.Schema, limit, size int) *batch.Batch {
	limit = min(limit, batch.DefaultSize)
	if m.rows == 0 {
		return batch.NewBatch(s, min(limit, size/64+16))
	}
	n := min(limit, m.rows*size/m.used*17/16+16)
	b := batch.NewBatch(s, n)
	for i, bytes := range m.text {
		if bytes > 0 {
			b.Cols[i] = batch.NewBytes(s.Fields[i].Type, n, bytes*n/m.rows*17/16+64)
		}
	}
	return b
}

func (m *room) learn(b *batch.Batch, used int) {
	if b.Size() == 0 {
		return
	}
	m.rows, m.used = b.Size(), used
	if m.text == nil {
		m.text = make([]int, len(b.Cols))
	}
	for i, v := range b.Cols {
		if v, ok := v.(*batch.Bytes); ok {
			m.text[i] = len(v.Data)
		}
	}
}
