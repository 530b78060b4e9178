package regex

// op is the kind of a node.
type op uint8

const (
	opEmpty   op = iota
	opFail       // never matches
	opLit        // lit
	opSet        // one character of set
	opCat        // subs, one behind the other
	opAlt        // one of subs
	opRepeat     // subs[0], min to max times (max -1: no limit)
	opGroup      // subs[0], captured as group n
	opAtomic     // subs[0], without going back into it
	opLook       // subs[0] ahead or behind
	opBackref    // what group n captured
	opAssert     // a condition on the position
)

// mode says how a repetition chooses.
type mode uint8

const (
	greedy mode = iota
	lazy
	possessive
)

// assertion is a condition on a position.
type assertion uint8

const (
	atStart     assertion = iota // \A, and ^ without (?m)
	atLineStart                  // ^ with (?m)
	atEnd                        // \z
	atLastLine                   // \Z, and $ without (?m)
	atLineEnd                    // $ with (?m)
	atWord                       // \b
	notAtWord                    // \B
	atLastMatch                  // \G
)

// node is a part of a parsed expression.
type node struct {
	op       op
	subs     []*node
	lit      []byte
	set      *set
	min, max int
	mode     mode
	n        int
	assert   assertion
	behind   bool // opLook
	negative bool // opLook
	unix     bool // opAssert: only \n ends a line
	fold     bool // opBackref: letters match without regard to case
}

// unlimited is the max of a repetition without one.
const unlimited = -1

// width returns the least and the greatest number of characters that n matches;
// max is unlimited if there is none.
func (n *node) width() (lo, hi int) {
	switch n.op {
	case opLit:
		c := 0
		for i := 0; i < len(n.lit); i = nextChar(n.lit, i) {
			c++
		}
		return c, c
	case opSet:
		return 1, 1
	case opCat, opGroup, opAtomic:
		for _, s := range n.subs {
			l, h := s.width()
			lo += l
			hi = addWidth(hi, h)
		}
		return lo, hi
	case opAlt:
		lo, hi = n.subs[0].width()
		for _, s := range n.subs[1:] {
			l, h := s.width()
			lo = min(lo, l)
			if hi != unlimited && (h == unlimited || h > hi) {
				hi = h
			}
		}
		return lo, hi
	case opRepeat:
		l, h := n.subs[0].width()
		switch {
		case h == 0:
			return 0, 0
		case h == unlimited || n.max == unlimited:
			return l * n.min, unlimited
		}
		return l * n.min, h * n.max
	case opBackref:
		return 0, unlimited
	}
	return 0, 0
}

func addWidth(a, b int) int {
	if a == unlimited || b == unlimited {
		return unlimited
	}
	return a + b
}

// leading returns the text with which every match of n begins, and whether it
// begins at the start of the text only.
func leading(n *node) (prefix []byte, anchored bool) {
	switch n.op {
	case opLit:
		return n.lit, false
	case opAssert:
		return nil, n.assert == atStart
	case opCat:
		for _, s := range n.subs {
			if s.op != opEmpty {
				return leading(s)
			}
		}
	case opGroup, opAtomic:
		return leading(n.subs[0])
	case opRepeat:
		if n.min > 0 {
			return leading(n.subs[0])
		}
	}
	return nil, false
}

// firstBytes returns the set of bytes with which a match of n can begin, or nil
// if it can be empty.
func firstBytes(n *node) *[256]bool {
	var b [256]bool
	if mayBeEmpty := first(n, &b); mayBeEmpty {
		return nil
	}
	return &b
}

// first adds the bytes with which n can begin, and reports whether it can match
// without taking a character, so that what follows it counts as well.
func first(n *node, b *[256]bool) bool {
	switch n.op {
	case opLit:
		b[n.lit[0]] = true
		return false
	case opSet:
		for c := range 128 {
			b[c] = b[c] || n.set.has(rune(c))
		}
		for c := 128; c < 256; c++ {
			b[c] = true
		}
		return false
	case opCat:
		for _, s := range n.subs {
			if !first(s, b) {
				return false
			}
		}
		return true
	case opAlt:
		empty := false
		for _, s := range n.subs {
			empty = first(s, b) || empty
		}
		return empty
	case opRepeat:
		return first(n.subs[0], b) || n.min == 0
	case opGroup, opAtomic:
		return first(n.subs[0], b)
	case opFail:
		return false
	}
	return true // a condition, or a back-reference, which can be empty
}
