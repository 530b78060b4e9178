package filesystem

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/connector/conformance"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/types"
)

// zip compresses a text.
func zip(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestChangedBetweenRuns goes on with a file that was read in part. One that has
// only grown, or was touched, is the same; one with other bytes in the part that
// was read is refused, also if it is as long as before.
func TestChangedBetweenRuns(t *testing.T) {
	const text = "k,v\n1,a\n2,b\n3,c\n4,d\n5,e\n6,f\n"
	same := func(s string) string { return s }
	for _, c := range []struct {
		name, now string
		// kept leaves the time of the file as it was, old takes the checksum out of the
		// position.
		kept, old bool
		refused   bool
	}{
		{name: "untouched", now: text, kept: true},
		{name: "touched", now: text},
		{name: "grown", now: text + "7,g\n"},
		{name: "another record", now: strings.Replace(text, "1,a", "1,x", 1), refused: true},
		{name: "another header", now: strings.Replace(text, "k,v", "v,k", 1), refused: true},
		{name: "another record, and grown", now: strings.Replace(text, "2,b", "2,x", 1) + "7,g\n", refused: true},
		{name: "another record behind", now: strings.Replace(text, "6,f", "6,x", 1)},
		{name: "the position of an older version", now: strings.Replace(text, "1,a", "1,x", 1), old: true},
	} {
		for ending, pack := range map[string]func(string) string{"": same, ".gz": func(s string) string { return zip(t, s) }} {
			t.Run(c.name+ending, func(t *testing.T) {
				dir, name := t.TempDir(), "f.csv"+ending
				write(t, dir, map[string]string{name: pack(text)})
				then := time.Now().Add(-time.Hour)
				if err := os.Chtimes(filepath.Join(dir, name), then, then); err != nil {
					t.Fatal(err)
				}
				s := table{fields: []types.Field{field("k", integer), field("v", str)}, format: "csv", options: []string{"path=" + dir, "csv.header=true"}}.source(t)
				splits, err := s.Discover(context.Background(), nil)
				if err != nil {
					t.Fatal(err)
				}
				position := readSome(t, s, splits[0], nil, 3)
				if c.old {
					position = position[:len(position)-4]
				}
				now := pack(c.now)
				if len(now) < len(pack(text)) {
					t.Fatal("a shorter file is refused for that, and not for its content")
				}
				write(t, dir, map[string]string{name: now})
				if c.kept {
					if err := os.Chtimes(filepath.Join(dir, name), then, then); err != nil {
						t.Fatal(err)
					}
				}
				h := conformance.NewHost()
				defer h.Close()
				r, err := s.Open(h.Context(), splits[0], position)
				if c.refused {
					if !errors.As(err, new(*connector.ChangedError)) || !strings.Contains(err.Error(), name+": its first 16 bytes, which were read before, are others now") {
						t.Fatalf("%v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				got, err := r.Read(100)
				if err != nil || got.Batch.Size() != 3 && !(got.Batch.Size() == 4 && ending == ".gz") {
					t.Errorf("%v, %v", got.Batch, err)
				}
				// What comes later can be checked as well, if all of it is known.
				if later, err := parsePosition(got.Position); err != nil || later.summed == c.old {
					t.Errorf("position %+v, %v", later, err)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// readSome reads so many rows and returns the position behind them.
func readSome(t *testing.T, s connector.Source, split connector.Split, position []byte, n int) []byte {
	t.Helper()
	h := conformance.NewHost()
	defer h.Close()
	r, err := s.Open(h.Context(), split, position)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Read(n)
	if err != nil || c.Batch.Size() != n {
		t.Fatalf("%v, %v", c.Batch, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return c.Position
}

// TestChangedSplit: a split in the middle of a file answers for its own part.
func TestChangedSplit(t *testing.T) {
	dir := t.TempDir()
	text := "k\n" + strings.Repeat("12345678\n", 400)
	for at, refused := range map[int]bool{10: false, 2500: true} {
		write(t, dir, map[string]string{"f.csv": text})
		s := table{fields: []types.Field{field("k", integer)}, format: "csv", options: []string{"path=" + dir, "csv.header=true", "csv.disable-quote-character=true", "source.split-size=2000"}}.source(t)
		splits, err := s.Discover(context.Background(), nil)
		if err != nil || len(splits) != 2 {
			t.Fatalf("%d splits, %v", len(splits), err)
		}
		position := readSome(t, s, splits[1], nil, 100)
		position = readSome(t, s, splits[1], position, 50)
		changed := []byte(text)
		changed[at] ^= 3
		write(t, dir, map[string]string{"f.csv": string(changed)})
		if err := os.Chtimes(filepath.Join(dir, "f.csv"), time.Now(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		h := conformance.NewHost()
		r, err := s.Open(h.Context(), splits[1], position)
		if refused != errors.As(err, new(*connector.ChangedError)) || !refused && err != nil {
			t.Errorf("byte %d: %v", at, err)
		}
		if err == nil {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		h.Close()
	}
}

// TestBadPositions are refused.
func TestBadPositions(t *testing.T) {
	good := binary.AppendUvarint(binary.AppendUvarint(nil, 300), 7)
	for _, b := range [][]byte{nil, good[:1], good[:2], append(good[:3:3], 1), append(good[:3:3], 1, 2, 3, 4, 5)} {
		if p, err := parsePosition(b); err == nil {
			t.Errorf("%x is %+v", b, p)
		}
	}
	if p, err := parsePosition(good); err != nil || p != (position{pos: 300, records: 7}) {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := parsePosition(append(good, 0, 0, 1, 2)); err != nil || p != (position{300, 7, 258, true}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestLongPartition: a value that is too long for the name of a directory fails at
// once, with the row and the column; the longest that fits is written.
func TestLongPartition(t *testing.T) {
	fields := []types.Field{field("k", integer), field("day", str)}
	for value, refused := range map[string]bool{
		strings.Repeat("x", maxName-len("day=")):   false,
		strings.Repeat("x", maxName-len("day=")+1): true,
		strings.Repeat("?", maxName/3):             true, // escaped, it is three times as long
	} {
		w, err := table{fields: fields, partition: []string{"day"}, format: "csv", options: []string{"path=" + t.TempDir()}}.sinkOn(t, nil).
			Open(&connector.WriterContext{Context: context.Background(), Parallelism: 1, Now: func() int64 { return 0 }}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := batch.NewBatch(types.NewSchema(fields...), 2)
		for i, v := range []string{"short", value} {
			b.Cols[0].(*batch.Fixed[int32]).Append(int32(i + 7))
			b.Cols[1].(*batch.Bytes).AppendString(v)
		}
		b.SetSize(2)
		err = w.Write(b)
		var row *fn.RowError
		switch {
		case !refused && err != nil:
			t.Error(err)
		case !refused:
		case !errors.As(err, &row) || row.Pos != 1:
			t.Errorf("%v", err)
		default:
			for _, want := range []string{`table t: the value of partition column "day" makes the name of a directory that is 25`, "names may have 255 bytes", "the row is k=8, day=" + value[:30]} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			}
			if len(err.Error()) > 400 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
