package filesystem

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// compression returns how a file is compressed, by the end of its name; empty
// if it is not.
func compression(path string) string {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".gz", ".gzip", ".zst", ".zstd", ".bz2", ".deflate", ".xz", ".snappy", ".lz4":
		return ext
	}
	return ""
}

// decompress returns a reader of the content of a compressed file.
func decompress(ext string, r io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	switch ext {
	case ".gz", ".gzip":
		return gzip.NewReader(in)
	case ".zst", ".zstd":
		// One goroutine: the caller's.
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<28))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	case ".bz2":
		return io.NopCloser(bzip2.NewReader(in)), nil
	case ".deflate":
		return zlib.NewReader(in)
	}
	return nil, fmt.Errorf("files that end in %s cannot be read; those of gzip (.gz), zstd (.zst), bzip2 (.bz2) and zlib (.deflate) can", ext)
}
