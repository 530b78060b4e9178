package regex

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// machine runs a program over one text.
type machine struct {
	re   *Regexp
	s    []byte
	last int // where the match before ended: \G
	// whole: a match must end at the end of the text.
	whole bool
	caps  []int
	regs  []int
	stack []frame
	// steps is what is left of the steps that a search may take; negative once
	// it has been given up.
	steps int
}

// frame is a way to go back: another place to go on at, or something to undo.
type frame struct {
	kind frameKind
	pc   int32
	// pos is where to go on, aux the least position of a run, or the most
	// characters that a lazy one may still take.
	pos, aux int
}

type frameKind uint8

const (
	tryAt      frameKind = iota // go on at pc, pos
	undoCap                     // group pc captured pos to aux
	undoReg                     // regs[pc] = pos
	shorterRun                  // go on at pc, one character before pos, which is more than aux
	longerRun                   // go on at pc, one character behind pos, of which run pc-1 takes aux more
)

// stepsPerSearch is how often a search may go back. At some fifty nanoseconds
// each, it is given up after about a second.
const stepsPerSearch = 20_000_000

func (m *machine) begin(re *Regexp, s []byte, last int) {
	m.re, m.s, m.last, m.steps = re, s, last, stepsPerSearch
	if m.caps == nil {
		m.caps = make([]int, 2*re.groups+2)
		m.regs = make([]int, re.regs)
	}
}

// try matches at a position and returns where the match ends.
func (m *machine) try(at int) (int, bool) {
	for i := range m.caps {
		m.caps[i] = -1
	}
	m.stack = m.stack[:0]
	return m.run(0, at, 0)
}

// run runs the program from pc on, up to its iMatch or iEnd. It leaves the ways
// to go back on the stack where it succeeds. target is where a look-behind must end.
func (m *machine) run(pc, pos, target int) (int, bool) {
	base := len(m.stack)
	for {
		in := &m.re.prog[pc]
		ok := false
		switch in.op {
		case iMatch:
			if ok = !m.whole || pos == len(m.s); ok {
				return pos, true
			}
		case iEnd:
			return pos, true
		case iLit:
			if ok = bytes.HasPrefix(m.s[pos:], in.lit); ok {
				pos += len(in.lit)
			}
		case iSet:
			if pos < len(m.s) {
				r, n := decode(m.s, pos)
				if ok = in.set.has(r); ok {
					pos += n
				}
			}
		case iJump:
			pc = in.x
			continue
		case iSplit:
			m.push(frame{kind: tryAt, pc: int32(in.y), pos: pos})
			pc = in.x
			continue
		case iRun:
			pos, ok = m.takeRun(in, pc, pos)
		default:
			pc, pos, ok = m.special(in, pc, pos, target)
			pc--
		}
		if ok {
			pc++
			continue
		}
		if pc, pos, ok = m.back(base); !ok {
			return 0, false
		}
	}
}

func (m *machine) push(f frame) { m.stack = append(m.stack, f) }

// back takes the last way back above base.
func (m *machine) back(base int) (pc, pos int, ok bool) {
	if m.steps--; m.steps < 0 {
		m.undo(base)
		return 0, 0, false
	}
	for len(m.stack) > base {
		top := len(m.stack) - 1
		f := &m.stack[top]
		switch f.kind {
		case tryAt:
			m.stack = m.stack[:top]
			return int(f.pc), f.pos, true
		case undoCap, undoReg:
			m.restore(f)
			m.stack = m.stack[:top]
		case shorterRun:
			f.pos = prevChar(m.s, f.pos)
			pc, pos := int(f.pc), f.pos
			if f.pos <= f.aux {
				m.stack = m.stack[:top]
			}
			return pc, pos, true
		case longerRun:
			in := &m.re.prog[f.pc-1]
			if f.pos < len(m.s) && f.aux != 0 {
				if r, n := decode(m.s, f.pos); in.set.has(r) {
					f.pos += n
					f.aux--
					return int(f.pc), f.pos, true
				}
			}
			m.stack = m.stack[:top]
		}
	}
	return 0, 0, false
}

func (m *machine) restore(f *frame) {
	if f.kind == undoCap {
		m.caps[2*f.pc], m.caps[2*f.pc+1] = f.pos, f.aux
	} else {
		m.regs[f.pc] = f.pos
	}
}

// undo undoes what is above base and forgets the ways back.
func (m *machine) undo(base int) {
	for i := len(m.stack) - 1; i >= base; i-- {
		if f := &m.stack[i]; f.kind == undoCap || f.kind == undoReg {
			m.restore(f)
		}
	}
	m.stack = m.stack[:base]
}

// commit forgets the ways back above base, but keeps what is to be undone when
// what lies below base is taken back.
func (m *machine) commit(base int) {
	kept := base
	for i := base; i < len(m.stack); i++ {
		if k := m.stack[i].kind; k == undoCap || k == undoReg {
			m.stack[kept] = m.stack[i]
			kept++
		}
	}
	m.stack = m.stack[:kept]
}

// takeRun takes the characters of a run, and notes how it can be changed.
func (m *machine) takeRun(in *inst, pc, pos int) (int, bool) {
	limit := in.max
	if in.mode == lazy {
		limit = in.min
	}
	start, n := pos, 0
	for (limit == unlimited || n < limit) && pos < len(m.s) {
		r, width := rune(m.s[pos]), 1
		if r >= utf8.RuneSelf {
			r, width = decode(m.s, pos)
		}
		if !in.set.has(r) {
			break
		}
		pos += width
		n++
		if n == in.min {
			start = pos
		}
	}
	switch {
	case n < in.min:
		return pos, false
	case in.mode == lazy && in.max != in.min:
		m.push(frame{kind: longerRun, pc: int32(pc + 1), pos: pos, aux: in.max - in.min})
	case in.mode == greedy && pos > start:
		m.push(frame{kind: shorterRun, pc: int32(pc + 1), pos: pos, aux: start})
	}
	return pos, true
}

// special runs the rarer instructions and returns where to go on.
func (m *machine) special(in *inst, pc, pos, target int) (int, int, bool) {
	next := pc + 1
	switch in.op {
	case iClose:
		m.push(frame{kind: undoCap, pc: int32(in.n), pos: m.caps[2*in.n], aux: m.caps[2*in.n+1]})
		m.caps[2*in.n], m.caps[2*in.n+1] = m.regs[in.x], pos
		return next, pos, true
	case iMark:
		m.push(frame{kind: undoReg, pc: int32(in.n), pos: m.regs[in.n]})
		m.regs[in.n] = pos
		return next, pos, true
	case iMoved:
		if m.regs[in.n] == pos {
			return in.x, pos, true
		}
		return next, pos, true
	case iHere:
		return next, pos, pos == target
	case iAssert:
		return next, pos, m.holds(in, pos)
	case iBackref:
		pos, ok := m.repeated(in, pos)
		return next, pos, ok
	case iAtomic:
		base := len(m.stack)
		end, ok := m.run(next, pos, target)
		m.commit(base)
		return in.x, end, ok
	case iLook:
		base := len(m.stack)
		_, ok := m.run(next, pos, target)
		return in.x, pos, m.looked(base, in, ok)
	case iBehind:
		base := len(m.stack)
		return in.x, pos, m.looked(base, in, m.behind(in, next, pos))
	}
	return next, pos, false // iFail
}

// looked settles a look-around whose sub-program has succeeded or not.
func (m *machine) looked(base int, in *inst, ok bool) bool {
	if in.negative {
		m.undo(base)
		return !ok
	}
	m.commit(base)
	return ok
}

// behind runs a look-behind from each start that it may have.
func (m *machine) behind(in *inst, pc, pos int) bool {
	start := pos
	for n := 0; ; n++ {
		if n >= in.min {
			if _, ok := m.run(pc, start, pos); ok {
				return true
			}
		}
		if n == in.max || start == 0 {
			return false
		}
		start = prevChar(m.s, start)
	}
}

// repeated takes what a group captured.
func (m *machine) repeated(in *inst, pos int) (int, bool) {
	from, to := m.caps[2*in.n], m.caps[2*in.n+1]
	if from < 0 || to < 0 || len(m.s)-pos < to-from {
		return pos, false
	}
	a, b := m.s[from:to], m.s[pos:pos+to-from]
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if !in.fold || a[i]^b[i] != 0x20 || !isLetter(rune(a[i])) {
			return pos, false
		}
	}
	return pos + to - from, true
}

// holds checks a condition on a position.
func (m *machine) holds(in *inst, pos int) bool {
	switch in.assert {
	case atStart:
		return pos == 0
	case atEnd:
		return pos == len(m.s)
	case atLastMatch:
		return pos == m.last
	case atLineStart:
		return pos == 0 || pos < len(m.s) && m.lineEndsBefore(pos, in.unix)
	case atLastLine:
		return pos == len(m.s) || m.lineEnd(pos, in.unix) == len(m.s)-pos
	case atLineEnd:
		return pos == len(m.s) || m.lineEnd(pos, in.unix) > 0
	case atWord:
		return m.wordAt(pos) != m.wordBefore(pos)
	}
	return m.wordAt(pos) == m.wordBefore(pos) // notAtWord
}

// lineEnd returns the length of the line end at pos, or 0. The \n of \r\n is
// none of its own.
func (m *machine) lineEnd(pos int, unix bool) int {
	r, n := decode(m.s, pos)
	switch {
	case unix && r != '\n' || !isLineEnd(r):
		return 0
	case !unix && r == '\n' && pos > 0 && m.s[pos-1] == '\r':
		return 0
	case !unix && r == '\r' && pos+1 < len(m.s) && m.s[pos+1] == '\n':
		return 2
	}
	return n
}

// lineEndsBefore reports whether a line ends right before pos > 0.
func (m *machine) lineEndsBefore(pos int, unix bool) bool {
	r, _ := decode(m.s, prevChar(m.s, pos))
	if unix {
		return r == '\n'
	}
	return isLineEnd(r) && !(r == '\r' && m.s[pos] == '\n')
}

// wordAt reports whether the character at pos belongs to a word. A mark does if
// what it stands on does.
func (m *machine) wordAt(pos int) bool {
	if pos >= len(m.s) {
		return false
	}
	r, _ := decode(m.s, pos)
	if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
		return true
	}
	for unicode.Is(unicode.Mn, r) && pos > 0 {
		pos = prevChar(m.s, pos)
		r, _ = decode(m.s, pos)
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return true
		}
	}
	return false
}

func (m *machine) wordBefore(pos int) bool { return pos > 0 && m.wordAt(prevChar(m.s, pos)) }

// decode returns the character at i < len(s), which may be a lone surrogate,
// and its length.
func decode(s []byte, i int) (rune, int) {
	c := s[i]
	if c < utf8.RuneSelf {
		return rune(c), 1
	}
	s = s[i:]
	r, n := utf8.DecodeRune(s)
	if n == 1 && c == 0xED && len(s) >= 3 && s[1]&0xE0 == 0xA0 && s[2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, n
}

// encode appends a character, which may be a lone surrogate.
func encode(dst []byte, r rune) []byte {
	if r >= 0xD800 && r <= 0xDFFF {
		return append(dst, 0xED, 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
	}
	return utf8.AppendRune(dst, r)
}
