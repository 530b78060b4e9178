package csv

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
)

// DecodeHeader implements format.HeaderDecoder: it passes over a byte-order
// mark and, with csv.header, reads the line of names.
func (d *decoder) DecodeHeader(data []byte, atEOF bool) (used int, done bool, err error) {
	const mark = "\xef\xbb\xbf"
	if len(data) < len(mark) && !atEOF {
		return 0, false, nil
	}
	if bytes.HasPrefix(data, []byte(mark)) {
		used = len(mark)
	}
	if d.header == "false" || used == len(data) {
		return used, used < len(data) || atEOF, nil
	}
	names, next := d.names(data, used, atEOF)
	if next < 0 {
		return 0, false, nil
	}
	if d.header == "true" {
		err = d.arrange(names)
	}
	return next, true, err
}

// names reads the fields of the line at p.
func (d *decoder) names(data []byte, p int, atEOF bool) (names []string, next int) {
	for {
		text, q, s := d.cut(data, p, atEOF)
		switch s {
		case needMore:
			return nil, -1
		case broken:
			return names, d.toLineEnd(data, q, atEOF)
		}
		names = append(names, string(text))
		if s == atEnd {
			next, whole := lineBreak(data, q, atEOF)
			if !whole {
				next = -1
			}
			return names, next
		}
		p = q + len(d.delim)
	}
}

// arrange puts the fields into the order of the header. Columns are found by
// name, with regard to case if two differ only in that; what the table does not
// have is passed over.
func (d *decoder) arrange(names []string) error {
	byName := make(map[string]*field, len(d.physical))
	for i, n := range d.physical {
		f := &field{name: n}
		for _, c := range d.columns {
			if c.name == n {
				f = c
			}
		}
		byName[d.physical[i]] = f
	}
	fields := make([]*field, len(names))
	for i, n := range names {
		name := d.match(n)
		if f := byName[name]; f != nil {
			fields[i] = f
			delete(byName, name)
			continue
		}
		fields[i] = &field{name: n}
	}
	for _, n := range d.physical {
		if byName[n] == nil {
			continue
		}
		hint := ""
		if s := diag.Suggest(n, names); s != "" {
			hint = fmt.Sprintf("; did you mean %q?", s)
		}
		return fmt.Errorf("column %q is not in the header line (%s)%s (set 'csv.header' = 'skip' to go by position)",
			n, strings.Join(names, ", "), hint)
	}
	d.fields = fields
	markSkips(fields)
	return nil
}

// match returns the column that a name in the header means.
func (d *decoder) match(name string) string {
	found := name
	for _, p := range d.physical {
		if p == name {
			return p
		}
		if strings.EqualFold(p, strings.TrimSpace(name)) {
			found = p
		}
	}
	return found
}
