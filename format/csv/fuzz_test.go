package csv

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/millstream-io/millstream/batch"
)

// FuzzCSV decodes a file of two text columns, whole and in pieces, and compares
// the rows with those of a plain state machine.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\nc,d\n", "\"x\"\"y\",z\r\n", "\"a\nb\",\r\rx", "a,b,\n,\n\"\"\n", "\"open,x\n", "\"x\"y,z\nq,r", "a,\"b\" \t,c", strings.Repeat("long", 10) + ",x\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !utf8.Valid(data) || bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
			return
		}
		tab := table([]string{ignore}, col("a", str), col("b", str))
		want := reference(data)
		for _, cut := range [][2]int{{len(data) + 1, 1 << 30}, {1, 2}, {9, 1}} {
			got, err := tab.Decode(data, cut[0], cut[1])
			if err != nil {
				t.Fatal(err)
			}
			if text := rows(got); text != want {
				t.Fatalf("%q in windows of %d:\n%s\nwant\n%s", data, cut[0], text, want)
			}
		}
	})
}

func rows(b *batch.Batch) string {
	var out strings.Builder
	for i := range b.Size() {
		for _, v := range b.Cols {
			if v.Validity().IsNull(i) {
				out.WriteString("NULL,")
			} else {
				fmt.Fprintf(&out, "%q,", v.(*batch.Bytes).At(i))
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// reference reads rows of two fields, a character at a time.
func reference(data []byte) string {
	var out strings.Builder
	for p := 0; p < len(data); {
		var fields []string
		bad := false
		for {
			var text []byte
			if p < len(data) && data[p] == '"' {
				p++
				for {
					if p == len(data) {
						return out.String() // never closed
					}
					if data[p] == '"' {
						if p+1 == len(data) || data[p+1] != '"' {
							break
						}
						p++
					}
					text = append(text, data[p])
					p++
				}
				for p++; p < len(data) && (data[p] == ' ' || data[p] == '\t'); {
					p++
				}
				bad = bad || p < len(data) && !strings.ContainsRune(",\r\n", rune(data[p]))
			} else {
				for p < len(data) && !strings.ContainsRune(",\r\n", rune(data[p])) {
					text = append(text, data[p])
					p++
				}
			}
			fields = append(fields, fmt.Sprintf("%q,", text))
			// A third field gives the line up, unless it is empty and the last.
			bad = bad || len(fields) == 3 && (len(text) > 0 || p < len(data) && data[p] == ',')
			if bad || p == len(data) || data[p] != ',' {
				break
			}
			p++
		}
		for bad && p < len(data) && data[p] != '\n' && data[p] != '\r' {
			p++
		}
		if p < len(data) {
			if data[p] == '\r' && p+1 < len(data) && data[p+1] == '\n' {
				p++
			}
			p++
		}
		if len(fields) == 1 {
			fields = append(fields, "NULL,")
		}
		if !bad {
			out.WriteString(fields[0] + fields[1] + "\n")
		}
	}
	return out.String()
}
