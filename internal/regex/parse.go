package regex

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// flags are the embedded flags, such as (?i).
type flags uint8

const (
	flagFold         flags = 1 << iota // i
	flagDotAll                         // s
	flagMultiline                      // m
	flagComments                       // x
	flagUnicodeFold                    // u
	flagUnix                           // d
	flagUnicodeClass                   // U
)

var flagLetters = map[byte]flags{
	'i': flagFold, 's': flagDotAll, 'm': flagMultiline, 'x': flagComments, 'u': flagUnicodeFold, 'd': flagUnix,
	'U': flagUnicodeClass | flagUnicodeFold,
}

// parser parses an expression. Errors are thrown as panics of *SyntaxError and
// *UnsupportedError, which parse catches.
type parser struct {
	src    string
	pos    int
	flags  flags
	groups int
	names  map[string]int
	// quoted is set between \Q and \E.
	quoted bool
	depth  int
}

// maxDepth bounds how deep groups are nested.
const maxDepth = 1000

func (p *parser) parse() (n *node, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *SyntaxError:
			err = e
		case *UnsupportedError:
			err = e
		default:
			panic(e)
		}
	}()
	n = p.alternatives()
	if p.pos < len(p.src) {
		p.fail("unmatched closing )")
	}
	return n, nil
}

func (p *parser) fail(msg string) {
	panic(&SyntaxError{Pos: p.pos, Msg: msg + " at position " + strconv.Itoa(p.pos+1)})
}

func (p *parser) unsupported(what string) { panic(&UnsupportedError{What: what}) }

func (p *parser) more() bool { return p.pos < len(p.src) }

// at reports whether s comes next.
func (p *parser) at(s string) bool { return strings.HasPrefix(p.src[p.pos:], s) }

// accept takes s if it comes next.
func (p *parser) accept(s string) bool {
	if p.at(s) {
		p.pos += len(s)
		return true
	}
	return false
}

// char takes the next character.
func (p *parser) char() rune {
	if !p.more() {
		p.fail("unexpected end")
	}
	s := p.src[p.pos:]
	r, n := utf8.DecodeRuneInString(s)
	if n == 1 && r == utf8.RuneError {
		r, n = decode([]byte(s), 0)
	}
	p.pos += n
	return r
}

// skip takes the space and the comments that (?x) allows.
func (p *parser) skip() {
	for p.flags&flagComments != 0 && !p.quoted && p.more() {
		switch c := p.src[p.pos]; {
		case c == ' ' || c >= '\t' && c <= '\r':
			p.pos++
		case c == '#':
			end := strings.IndexByte(p.src[p.pos:], '\n')
			if end < 0 {
				p.pos = len(p.src)
				return
			}
			p.pos += end + 1
		default:
			return
		}
	}
}

// alternatives parses a|b|c up to a closing parenthesis or the end.
func (p *parser) alternatives() *node {
	if p.depth++; p.depth > maxDepth {
		p.fail("groups are nested too deep")
	}
	defer func() { p.depth-- }()
	subs := []*node{p.sequence()}
	for p.accept("|") {
		subs = append(subs, p.sequence())
	}
	if len(subs) == 1 {
		return subs[0]
	}
	return &node{op: opAlt, subs: subs}
}

// sequence parses parts that stand one behind the other.
func (p *parser) sequence() *node {
	var subs []*node
	for {
		p.skip()
		if !p.more() || !p.quoted && (p.at("|") || p.at(")")) {
			break
		}
		n := p.atom()
		if n == nil {
			continue
		}
		n = p.quantifier(n)
		if last := len(subs) - 1; n.op == opLit && last >= 0 && subs[last].op == opLit {
			subs[last] = &node{op: opLit, lit: append(subs[last].lit[:len(subs[last].lit):len(subs[last].lit)], n.lit...)}
			continue
		}
		subs = append(subs, n)
	}
	switch len(subs) {
	case 0:
		return &node{op: opEmpty}
	case 1:
		return subs[0]
	}
	return &node{op: opCat, subs: subs}
}

// atom parses one part without its quantifier; nil where there is only a flag
// or the mark of a quotation.
func (p *parser) atom() *node {
	if p.quoted {
		return p.quotedChar()
	}
	switch c := p.src[p.pos]; c {
	case '(':
		p.pos++
		return p.group()
	case '[':
		p.pos++
		return &node{op: opSet, set: p.class()}
	case '\\':
		p.pos++
		return p.escape()
	case '.':
		p.pos++
		return &node{op: opSet, set: pick(p.flags&flagDotAll != 0, anyChar, pick(p.flags&flagUnix != 0, notNewline, notLineEnd))}
	case '^':
		p.pos++
		return p.assertion(atStart, atLineStart)
	case '$':
		p.pos++
		return p.assertion(atLastLine, atLineEnd)
	case '*', '+', '?':
		p.fail("dangling " + string(rune(c)))
	case '{':
		return &node{op: opEmpty}
	}
	return p.literal(p.char())
}

// quotedChar takes a character between \Q and \E, with the \E if that follows:
// a quantifier behind it belongs to the character. It is nil for \E itself.
func (p *parser) quotedChar() *node {
	if p.accept(`\E`) {
		p.quoted = false
		return nil
	}
	n := p.literal(p.char())
	p.quoted = !p.accept(`\E`)
	return n
}

// assertion returns ^ or $, which (?m) changes.
func (p *parser) assertion(text, line assertion) *node {
	a := text
	if p.flags&flagMultiline != 0 {
		a = line
	}
	return &node{op: opAssert, assert: a, unix: p.flags&flagUnix != 0}
}

// literal returns the node of a character that means itself.
func (p *parser) literal(r rune) *node {
	if p.flags&flagFold != 0 && (isLetter(r) || r >= 128 && p.flags&flagUnicodeFold != 0) {
		return &node{op: opSet, set: span(r, r, p.flags)}
	}
	return &node{op: opLit, lit: encode(nil, r)}
}

// quantifier parses what follows a part, if it is a quantifier.
func (p *parser) quantifier(n *node) *node {
	p.skip()
	if p.quoted || !p.more() {
		return n
	}
	lo, hi := 0, unlimited
	switch p.src[p.pos] {
	case '*':
		p.pos++
	case '+':
		p.pos++
		lo = 1
	case '?':
		p.pos++
		hi = 1
	case '{':
		p.pos++
		lo, hi = p.bounds()
	default:
		return n
	}
	out := &node{op: opRepeat, subs: []*node{n}, min: lo, max: hi}
	switch {
	case p.accept("?"):
		out.mode = lazy
	case p.accept("+"):
		out.mode = possessive
	}
	return out
}

// bounds parses n}, n,} or n,m}.
func (p *parser) bounds() (lo, hi int) {
	lo = p.number("illegal repetition")
	hi = lo
	if p.accept(",") {
		hi = unlimited
		if !p.at("}") {
			hi = p.number("unclosed counted closure")
		}
	}
	if !p.accept("}") {
		p.fail("unclosed counted closure")
	}
	if hi != unlimited && hi < lo {
		p.fail("illegal repetition range")
	}
	return lo, hi
}

func (p *parser) number(msg string) int {
	start := p.pos
	for p.more() && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		p.pos++
	}
	n, err := strconv.ParseInt(p.src[start:p.pos], 10, 32)
	if err != nil {
		p.fail(msg)
	}
	return int(n)
}

// group parses what follows an opening parenthesis, up to the closing one.
func (p *parser) group() *node {
	saved := p.flags
	n := &node{op: opGroup}
	switch {
	case !p.accept("?"):
		n.n = p.newGroup()
	case p.accept(":"):
		n = nil
	case p.accept("="):
		n = &node{op: opLook}
	case p.accept("!"):
		n = &node{op: opLook, negative: true}
	case p.accept(">"):
		n = &node{op: opAtomic}
	case p.accept("<="):
		n = &node{op: opLook, behind: true}
	case p.accept("<!"):
		n = &node{op: opLook, behind: true, negative: true}
	case p.accept("<"):
		name := p.groupName()
		if _, taken := p.names[name]; taken {
			p.fail("the group name " + name + " is used twice")
		}
		n.n = p.newGroup()
		p.names[name] = n.n
	default:
		if p.embeddedFlags() { // (?i)
			return nil
		}
		n = nil // (?i:...)
	}
	body := p.alternatives()
	if !p.accept(")") {
		p.fail("unclosed group")
	}
	p.flags = saved
	if n == nil {
		return body
	}
	n.subs = []*node{body}
	if n.behind {
		if _, hi := body.width(); hi == unlimited {
			p.fail("a look-behind must have an obvious greatest length, which ends")
		}
	}
	return n
}

func (p *parser) newGroup() int {
	p.groups++
	return p.groups
}

// groupName parses name>.
func (p *parser) groupName() string {
	start := p.pos
	for p.more() && p.src[p.pos] != '>' {
		c := rune(p.src[p.pos])
		if !isLetter(c) && (p.pos == start || !isDigit(c)) {
			p.fail("a group name is made of letters and digits")
		}
		p.pos++
	}
	name := p.src[start:p.pos]
	if name == "" || !p.accept(">") {
		p.fail("a group name must end with >")
	}
	return name
}

// embeddedFlags parses i-m) or i-m: and reports whether it was the former, which
// holds up to the end of the group around it.
func (p *parser) embeddedFlags() bool {
	on := true
	for {
		if !p.more() {
			p.fail("unknown inline modifier")
		}
		c := p.src[p.pos]
		f, ok := flagLetters[c]
		switch {
		case c == '-' && on:
			on = false
		case c == ')' || c == ':':
			p.pos++
			return c == ')'
		case !ok:
			p.fail("unknown inline modifier")
		case on:
			p.flags |= f
		default:
			p.flags &^= f
		}
		p.pos++
	}
}

// escape parses what follows a backslash outside a class.
func (p *parser) escape() *node {
	if !p.more() {
		p.fail("unexpected end behind a backslash")
	}
	c := p.src[p.pos]
	if s := classOf(c, p.flags); s != nil {
		p.pos++
		return &node{op: opSet, set: s}
	}
	simple := map[byte]assertion{'A': atStart, 'b': atWord, 'B': notAtWord, 'G': atLastMatch, 'Z': atLastLine, 'z': atEnd}
	if a, ok := simple[c]; ok {
		p.pos++
		if c == 'b' && p.at("{") {
			p.unsupported(`\b{...}`)
		}
		return &node{op: opAssert, assert: a, unix: p.flags&flagUnix != 0}
	}
	switch {
	case c == 'Q':
		p.pos++
		p.quoted = true
		return nil
	case c == 'R':
		p.pos++
		return &node{op: opAlt, subs: []*node{{op: opLit, lit: []byte("\r\n")}, {op: opSet, set: verticals}}}
	case c == 'X':
		p.unsupported(`\X`)
	case c == 'k':
		p.pos++
		if !p.accept("<") {
			p.fail(`\k is not followed by < for a named group`)
		}
		n, ok := p.names[p.groupName()]
		if !ok {
			p.fail("a group of that name does not exist")
		}
		return &node{op: opBackref, n: n, fold: p.flags&flagFold != 0}
	case c >= '1' && c <= '9':
		return p.backref()
	case c|0x20 == 'p':
		p.pos++
		return &node{op: opSet, set: p.property(c == 'P')}
	}
	return p.literal(p.escapedChar())
}

// backref parses the number of a group: as many digits as there are groups for.
func (p *parser) backref() *node {
	n := 0
	for p.more() && isDigit(rune(p.src[p.pos])) {
		next := n*10 + int(p.src[p.pos]-'0')
		if n > 0 && next > p.groups {
			break
		}
		n = next
		p.pos++
	}
	if n > p.groups {
		return &node{op: opFail}
	}
	return &node{op: opBackref, n: n, fold: p.flags&flagFold != 0}
}

// property parses L, {Lu} or {IsLatin} behind \p.
func (p *parser) property(negated bool) *set {
	if !p.more() {
		p.fail("unexpected end behind \\p")
	}
	name := ""
	if p.accept("{") {
		end := strings.IndexByte(p.src[p.pos:], '}')
		if end <= 0 {
			p.fail("unclosed character family")
		}
		name = p.src[p.pos : p.pos+end]
		p.pos += end + 1
	} else {
		name = string(p.char())
	}
	s, ok, err := property(name, p.flags)
	switch {
	case err != nil:
		panic(err)
	case !ok:
		p.fail("unknown character property " + name)
	case negated:
		return s.negate()
	}
	return s
}

// escapedChar parses an escape that stands for one character.
func (p *parser) escapedChar() rune {
	r := p.char()
	switch r {
	case 't':
		return '\t'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 'f':
		return '\f'
	case 'a':
		return '\a'
	case 'e':
		return 0x1B
	case 'c':
		return p.char() ^ 64
	case '0':
		return p.octal()
	case 'x':
		if p.accept("{") {
			end := strings.IndexByte(p.src[p.pos:], '}')
			if end < 0 {
				p.fail("unclosed hexadecimal escape sequence")
			}
			return p.hex(end, true)
		}
		return p.hex(2, false)
	case 'u':
		return p.utf16()
	case 'N':
		p.unsupported(`\N{...}`)
	}
	if isLetter(r) {
		p.fail("illegal escape sequence")
	}
	return r
}

func (p *parser) octal() rune {
	n, digits := rune(0), 0
	for digits < 3 && p.more() && p.src[p.pos] >= '0' && p.src[p.pos] <= '7' {
		if digits == 2 && n > 31 {
			break
		}
		n = n*8 + rune(p.src[p.pos]-'0')
		digits++
		p.pos++
	}
	if digits == 0 {
		p.fail("illegal octal escape sequence")
	}
	return n
}

func (p *parser) hex(digits int, closed bool) rune {
	if p.pos+digits > len(p.src) {
		p.fail("illegal hexadecimal escape sequence")
	}
	n, err := strconv.ParseUint(p.src[p.pos:p.pos+digits], 16, 32)
	if err != nil || n > utf8.MaxRune {
		p.fail("illegal hexadecimal escape sequence")
	}
	p.pos += digits
	if closed {
		p.pos++
	}
	return rune(n)
}

// utf16 parses the digits of \u, and a second \u that completes a pair of
// surrogates.
func (p *parser) utf16() rune {
	hi := p.hex(4, false)
	if hi < 0xD800 || hi > 0xDBFF || !p.at(`\u`) {
		return hi
	}
	saved := p.pos
	p.pos += 2
	lo := p.hex(4, false)
	if lo < 0xDC00 || lo > 0xDFFF {
		p.pos = saved
		return hi
	}
	return (hi-0xD800)<<10 + (lo - 0xDC00) + 0x10000
}
