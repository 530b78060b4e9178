package lsm

import (
	"bytes"
	"slices"
	"sort"
)

// span is a range of keys [from, to) of which older runs have nothing any more.
type span struct{ from, to []byte }

// spans are in order, and do not overlap or touch.
type spans []span

// normal makes such a list of any spans, which it changes.
func normal(list []span) spans {
	list = slices.DeleteFunc(list, func(s span) bool { return bytes.Compare(s.from, s.to) >= 0 })
	byFrom := func(a, b span) int { return bytes.Compare(a.from, b.from) }
	if !slices.IsSortedFunc(list, byFrom) {
		slices.SortFunc(list, byFrom)
	}
	var out spans
	for _, s := range list {
		if n := len(out); n > 0 && bytes.Compare(s.from, out[n-1].to) <= 0 {
			if bytes.Compare(s.to, out[n-1].to) > 0 {
				out[n-1].to = s.to
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// with returns what either of two lists covers.
func (l spans) with(other spans) spans {
	switch {
	case len(l) == 0:
		return other
	case len(other) == 0:
		return l
	}
	return normal(slices.Concat(l, other))
}

// behind returns the index of the first span that ends behind key.
func (l spans) behind(key []byte) int {
	return sort.Search(len(l), func(i int) bool { return bytes.Compare(l[i].to, key) > 0 })
}

// covers reports whether a key is in one of the spans.
func (l spans) covers(key []byte) bool {
	if len(l) == 0 {
		return false
	}
	i := l.behind(key)
	return i < len(l) && bytes.Compare(l[i].from, key) <= 0
}

// all reports whether a span has all keys that begin with prefix.
func (s span) all(prefix []byte) bool {
	return bytes.Compare(s.from, prefix) <= 0 && bytes.Compare(s.to, prefix) > 0 && !bytes.HasPrefix(s.to, prefix)
}
