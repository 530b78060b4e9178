package filesystem

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// lineCounter finds the line of an offset, which nobody counts before it is
// asked for: it reads the file again. It remembers the last answer.
type lineCounter struct {
	pos, line int64
}

// at returns the number of the line that the byte at pos (decompressed) stands
// on, from 1.
func (c *lineCounter) at(path string, pos int64) (line int64, err error) {
	if pos < c.pos || c.line == 0 {
		c.pos, c.line = 0, 1
	}
	if pos == c.pos {
		return c.line, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var in io.Reader = f
	if ext := compression(path); ext != "" {
		d, err := decompress(ext, f)
		if err != nil {
			return 0, err
		}
		defer func() { _ = d.Close() }()
		if _, err := io.CopyN(io.Discard, d, c.pos); err != nil {
			return 0, err
		}
		in = d
	} else if _, err := f.Seek(c.pos, io.SeekStart); err != nil {
		return 0, err
	}
	buf := make([]byte, 1<<16)
	for c.pos < pos {
		n, err := in.Read(buf[:min(int64(len(buf)), pos-c.pos)])
		c.pos += int64(n)
		c.line += countLines(buf[:n])
		if err != nil && c.pos < pos {
			return 0, err
		}
	}
	return c.line, nil
}

func countLines(b []byte) int64 { return int64(bytes.Count(b, []byte{'\n'})) }
