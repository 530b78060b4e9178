package filesystem

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
)

// partition returns the texts of the partition columns in the path of a file.
func (l *layout) partition(path string) ([]string, error) {
	if len(l.keys) == 0 {
		return nil, nil
	}
	values := make([]string, len(l.keys))
	found := make([]bool, len(l.keys))
	for _, part := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			continue
		}
		for k, f := range l.keys {
			if f.Name == unescapeName(name) {
				values[k], found[k] = unescapeName(value), true
			}
		}
	}
	for k, f := range l.keys {
		if !found[k] {
			return nil, fmt.Errorf("table %s: the file %s stands beside the partitions: no directory above it is named %s=…", l.table.Name, path, f.Name)
		}
	}
	return values, nil
}

// parseKey appends the value of partition column k to v.
func (l *layout) parseKey(v batch.Vector, k int, value, path string) error {
	f := l.keys[k]
	if value == l.defaultName {
		if !f.Type.Nullable {
			return fmt.Errorf("%s: partition column %q is NOT NULL, but the directory is that of NULL", path, f.Name)
		}
		v.AppendNull()
		return nil
	}
	if f.Type.IsChar() {
		v.(*batch.Bytes).AppendString(value)
		return nil
	}
	cell := value
	if f.Type.IsTimestamp() {
		cell = strings.Replace(value, "T", " ", 1)
	}
	if err := text.ParseCell(v, cell); err != nil || v.Validity() != nil {
		return fmt.Errorf("%s: partition column %q: %q is not of type %s", path, f.Name, value, f.Type.WithNull(true))
	}
	return nil
}

// unsafeInName are the characters that a name escapes, as Hive and Flink do.
const unsafeInName = "\"#%'*/:=?\\\x7f{}[]^"

// appendName appends a name with its unsafe characters as % and two digits.
func appendName(buf, name []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, c := range name {
		if c < ' ' || strings.IndexByte(unsafeInName, c) >= 0 {
			buf = append(buf, '%', digits[c>>4], digits[c&15])
			continue
		}
		buf = append(buf, c)
	}
	return buf
}

// unescapeName is the inverse of appendName.
func unescapeName(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2])
			if hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func hexDigit(c byte) int {
	switch {
	case c-'0' <= 9:
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
