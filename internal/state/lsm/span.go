package lsm

import (
	"bytes"
	"slices"
	"sort"
)

// span is a range of keys [from, to) of which older runs have nothing any more. It is not
// empty.
type span struct{ from, to []byte }

// spans are in order, and do not overlap or touch.
type spans []span

// normal makes such a list of any spans, which it changes.
func normal(list []span) spans {
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
	if len(other) > len(l) {
		l, other = other, l
	}
	out := make(spans, 0, len(l)+len(other))
	for _, s := range other {
		// Those of l before s stay as they are: l may be long, and other mostly is short.
		n := sort.Search(len(l), func(i int) bool { return bytes.Compare(l[i].to, s.from) >= 0 })
		out, l = append(out, l[:n]...), l[n:]
		out = out.join(s)
		for len(l) > 0 && bytes.Compare(l[0].from, out[len(out)-1].to) <= 0 {
			out, l = out.join(l[0]), l[1:]
		}
	}
	return append(out, l...)
}

// join adds a span to the list, which it changes: to its last one if they touch. It
// must not touch those before.
func (l spans) join(s span) spans {
	n := len(l)
	if n == 0 || bytes.Compare(s.from, l[n-1].to) > 0 {
		return append(l, s)
	}
	last := &l[n-1]
	if bytes.Compare(s.from, last.from) < 0 {
		last.from = s.from
	}
	if bytes.Compare(s.to, last.to) > 0 {
		last.to = s.to
	}
	return l
}

// of returns the span that has a key, if one does.
func (l spans) of(key []byte) (s span, ok bool) {
	if len(l) == 0 {
		return span{}, false
	}
	i := sort.Search(len(l), func(i int) bool { return bytes.Compare(l[i].to, key) > 0 })
	if i == len(l) || bytes.Compare(l[i].from, key) > 0 {
		return span{}, false
	}
	return l[i], true
}

// covers reports whether a key is in one of the spans.
func (l spans) covers(key []byte) bool {
	_, ok := l.of(key)
	return ok
}

// all reports whether a span has all keys that begin with prefix.
func (s span) all(prefix []byte) bool {
	return bytes.Compare(s.from, prefix) <= 0 && bytes.Compare(s.to, prefix) > 0 && !bytes.HasPrefix(s.to, prefix)
}
