package slt

import (
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/types"
)

// feedLine is one line of a feed.
type feedLine struct {
	// no is its index in the block's input.
	no    int
	table string
	// word is "", for a row, or watermark, idle, end, clock.
	word  string
	arg   string
	kind  types.RowKind
	cells []string
}

// parseFeed parses the lines of a feed; empty lines and comments are skipped.
func parseFeed(input []string) ([]feedLine, error) {
	var out []feedLine
	for i, raw := range input {
		line := strings.TrimSpace(raw)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		l, err := parseFeedLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d of the feed: %w", i+1, err)
		}
		l.no = i
		out = append(out, l)
	}
	return out, nil
}

func parseFeedLine(line string) (feedLine, error) {
	head, rest, isRow := strings.Cut(line, "|")
	words := strings.Fields(head)
	if len(words) == 0 {
		return feedLine{}, fmt.Errorf("a line begins with a table's name: %q", line)
	}
	l := feedLine{table: words[0]}
	if isRow && len(words) <= 2 {
		if len(words) == 2 {
			k, ok := types.ParseRowKind(words[1])
			if !ok {
				return l, fmt.Errorf("%q is no kind of row; use +I, -U, +U or -D", words[1])
			}
			l.kind = k
		}
		cells, err := splitCells(rest)
		l.cells = cells
		return l, err
	}
	if words[0] == "clock" {
		l.table, l.word, l.arg = "", "clock", strings.Join(words[1:], " ")
		return l, nil
	}
	if len(words) < 2 {
		return l, fmt.Errorf("%q says nothing of table %s; write a row, watermark, idle or end", line, l.table)
	}
	l.word, l.arg = words[1], strings.Join(words[2:], " ")
	switch l.word {
	case "watermark", "idle", "end":
		return l, nil
	}
	return l, fmt.Errorf("%q is no command of a feed; use a row, watermark, idle or end", l.word)
}

// splitCells splits the text behind a row's first bar at the bars between its
// cells. A bar inside of quotes is no border; quotes count where a cell, or a
// string within an array, map or row, begins with one.
func splitCells(s string) ([]string, error) {
	var cells []string
	for {
		end, err := cellEnd(s)
		if err != nil {
			return nil, err
		}
		cells = append(cells, strings.TrimSpace(s[:end]))
		if end == len(s) {
			return cells, nil
		}
		s = s[end+1:]
	}
}

// cellEnd returns the index of the bar behind the first cell, or len(s).
func cellEnd(s string) (int, error) {
	start := strings.TrimLeft(s, " \t")
	nested := start != "" && strings.IndexByte("[{(", start[0]) >= 0
	begin := true // a quote here opens a string
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'' && begin:
			n := quoted(s[i:])
			if n < 0 {
				return 0, fmt.Errorf("a string has no closing quote: %s", s[i:])
			}
			i += n - 1
			begin = false
		case c == '|' && border(s, i):
			return i, nil
		case c == ' ' || c == '\t':
		default:
			begin = nested && strings.IndexByte("[{(,=", c) >= 0
		}
	}
	return len(s), nil
}

// border reports whether the bar at i stands between cells: with space, or the
// line's end, on both sides.
func border(s string, i int) bool {
	return (i == 0 || s[i-1] == ' ') && (i+1 == len(s) || s[i+1] == ' ')
}

// quoted returns the length of the quoted string at the start of s, or -1.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		case s[i] == '\'':
			return i + 1
		}
	}
	return -1
}
