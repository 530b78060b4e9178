package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/millstream-io/millstream/connector/nexmark/gen"
)

// The hashes are those of the files that the workload's own generator writes.
func TestFiles(t *testing.T) {
	p := gen.Params{Events: 10_000, Rate: 777, Seed: 9, Base: gen.DefaultBase, Disorder: 1024, Late: 50, LateMs: gen.DefaultLateMs}
	for _, c := range []struct {
		only, format string
		rows         int64
		want         string
	}{
		{"all", "json", 10_000, "73a40a2f17fb0615e9acc82a247664388c01eab3f736fdae8e84ca1a3ce88403"},
		{"person", "json", 200, "4eba47cd144ce880f085136782362b1f04d6ca22a2c3de5d0d88f444eb112e1e"},
		{"auction", "json", 600, "00b0ebf0d1880def58db6e8b6f62cb2d1e52ad4a7cf412db771c43fac0a35f8d"},
		{"bid", "json", 9200, "502d70e3daf513b9a5029e89a7000d263fd163752f4908cc1e3059aa7df7ef27"},
		{"person", "csv", 200, "4e3577a7b7e384ea0edf2139bb754272f2dde48632eab0a6a1c166802de64d0b"},
		{"auction", "csv", 600, "1fd319f1ebe1cc9b46f4f7c0515a3362edd5627702d15e184f87168ea9a29ea3"},
		{"bid", "csv", 9200, "3a91acd173c8e51a058f3a6dc8cdf5410e4bf80e1cca0f8d2977dfb5779aac41"},
	} {
		w, err := newEventWriter(p, c.format, c.only)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		rows, size, err := w.write(&out)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(out.Bytes())); got != c.want || rows != c.rows || size != int64(out.Len()) {
			t.Errorf("%s as %s: %d rows, %d bytes, hash %s, want %d rows, hash %s", c.only, c.format, rows, size, got, c.rows, c.want)
		}
	}
}

func TestGenerate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bids.csv")
	stderr := tempFile(t)
	if err := generate([]string{"--events", "60", "--only", "bid", "--format", "csv", "--out", file}, os.Stdout, stderr); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n != 46+6 {
		t.Errorf("the file has %d lines", n)
	}
	if said := contents(t, stderr); said != fmt.Sprintf("52 rows, %d bytes\n", len(text)) {
		t.Errorf("said %q", said)
	}
}

func TestGenerateIsToldNonsense(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "--out is missing"},
		{[]string{"--out", "-", "x"}, `unexpected argument "x"`},
		{[]string{"--out", "-", "--only", "bids"}, "--only takes person, auction or bid, not bids"},
		{[]string{"--out", "-", "--format", "xml"}, "--format takes json or csv, not xml"},
		{[]string{"--out", "-", "--format", "csv"}, "csv needs --only person, auction or bid: their columns differ"},
		{[]string{"--out", "-", "--disorder", "5"}, "'disorder' = '5': must be a power of two from 1 to 65536"},
	} {
		err := generate(c.args, os.Stdout, tempFile(t))
		if _, usage := err.(usageError); !usage || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.args, err, c.want)
		}
	}
}

func tempFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func contents(t *testing.T, f *os.File) string {
	t.Helper()
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
