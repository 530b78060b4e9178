package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millstream-io/millstream/internal/diag"
)

type tokenKind uint8

const (
	tokEOF     tokenKind = iota
	tokWord              // an identifier or keyword; up holds it in capitals
	tokQuoted            // `identifier`; text holds it without back-ticks
	tokNumber            // text holds the digits
	tokString            // text holds the value
	tokBinary            // X'..'; text holds the hexadecimal digits
	tokOp                // an operator or punctuation; text holds it
	tokInvalid           // text holds the message of the error, hint its hint
)

// token is one lexical unit. mate is, for a bracket of any kind, the index of the bracket that closes it, or 0.
type token struct {
	diag.Span
	kind    tokenKind
	text    string
	up      string
	charset string // of a string literal
	unicode bool   // a string literal with U& before it, whose escapes are not yet resolved
	hint    string
	mate    int
}

// lexer cuts a source text into tokens. It never fails: what is no token becomes a tokInvalid, which the parser reports when
// it comes across it.
type lexer struct {
	src    string
	off    int
	pos    diag.Pos
	inHint bool
}

// lexFrom returns the tokens of one statement of src from the byte offset off, which stands at pos. The last token is a
// semicolon or a tokEOF. Going by statements keeps the cost of cutting a statement anew (see resumeAt) to that statement. The
// tokens overwrite those in buf.
func lexFrom(buf []token, src string, off int, pos diag.Pos) []token {
	lx := &lexer{src: src, off: off, pos: pos}
	toks := buf[:0]
	for {
		lx.skipBlank()
		t := lx.next()
		toks = append(toks, t)
		if t.kind == tokEOF || t.isOp(";") {
			break
		}
	}
	matchBrackets(toks)
	return toks
}

// matchBrackets sets the mate of each opening bracket.
func matchBrackets(toks []token) {
	var open []int
	for i := range toks {
		if toks[i].kind != tokOp {
			continue
		}
		switch toks[i].text {
		case "(", "[", "{":
			open = append(open, i)
		case ")", "]", "}":
			if n := len(open); n > 0 {
				toks[open[n-1]].mate = i
				open = open[:n-1]
			}
		}
	}
}

func (lx *lexer) peek(n int) byte {
	if lx.off+n < len(lx.src) {
		return lx.src[lx.off+n]
	}
	return 0
}

// skip moves over n bytes.
func (lx *lexer) skip(n int) {
	for end := lx.off + n; lx.off < end; {
		c := lx.src[lx.off]
		size := 1
		if c >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(lx.src[lx.off:])
		}
		lx.off += size
		if c == '\n' {
			lx.pos = diag.Pos{Line: lx.pos.Line + 1, Col: 1}
		} else {
			lx.pos.Col++
		}
	}
}

// skipBlank moves over white space and comments, but not over a hint or a comment that does not end.
func (lx *lexer) skipBlank() {
	for lx.off < len(lx.src) {
		switch c := lx.src[lx.off]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			lx.skip(1)
		case c == '-' && lx.peek(1) == '-':
			end := strings.IndexByte(lx.src[lx.off:], '\n')
			if end < 0 {
				end = len(lx.src) - lx.off
			}
			lx.skip(end)
		case c == '/' && lx.peek(1) == '*' && lx.peek(2) != '+':
			end := strings.Index(lx.src[lx.off+2:], "*/")
			if end < 0 {
				return
			}
			lx.skip(end + 4)
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(lx.src[lx.off:])
			if !unicode.IsSpace(r) && r != '\ufeff' {
				return
			}
			lx.skip(size)
		default:
			return
		}
	}
}

// finish builds the token that begins at start and ends where the lexer stands.
func (lx *lexer) finish(start diag.Span, kind tokenKind, text string) token {
	start.End, start.Hi = lx.pos, lx.off
	return token{Span: start, kind: kind, text: text}
}

func (lx *lexer) next() token {
	start := diag.Span{Start: lx.pos, Lo: lx.off}
	if lx.off >= len(lx.src) {
		return lx.finish(start, tokEOF, "")
	}
	c := lx.src[lx.off]
	switch {
	case c >= '0' && c <= '9', c == '.' && isDigit(lx.peek(1)):
		return lx.number(start)
	case c == '\'':
		return lx.str(start, "")
	case c == '`':
		return lx.quotedIdent(start)
	case isWordStart(lx.src[lx.off:]):
		return lx.word(start)
	}
	return lx.operator(start)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordStart(s string) bool {
	c := s[0]
	if c < utf8.RuneSelf {
		return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$'
	}
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// wordLen returns the length of the identifier at the beginning of s.
func wordLen(s string) int {
	for i, r := range s {
		if r < utf8.RuneSelf {
			c := byte(r)
			if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || isDigit(c)) {
				return i
			}
		} else if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			return i
		}
	}
	return len(s)
}

// word reads an identifier or keyword, or a literal that begins as one: X'..', N'..', U&'..', _charset'..'.
func (lx *lexer) word(start diag.Span) token {
	n := wordLen(lx.src[lx.off:])
	text := lx.src[lx.off : lx.off+n]
	up := strings.ToUpper(text)
	switch {
	case lx.peek(n) == '\'' && up == "X":
		return lx.binary(start)
	case lx.peek(n) == '\'' && up == "N":
		lx.skip(1)
		return lx.str(start, "")
	case lx.peek(n) == '\'' && up == "E":
		lx.skip(1)
		return lx.escaped(start)
	case lx.peek(n) == '\'' && up[0] == '_' && n > 1:
		lx.skip(n)
		return lx.str(start, up[1:])
	case up == "U" && lx.peek(1) == '&' && lx.peek(2) == '\'':
		lx.skip(2)
		t := lx.str(start, "")
		t.unicode = true
		return t
	}
	lx.skip(n)
	t := lx.finish(start, tokWord, text)
	t.up = up
	return t
}

func (lx *lexer) number(start diag.Span) token {
	n := 0
	digits := func() {
		for isDigit(lx.peek(n)) {
			n++
		}
	}
	digits()
	if lx.peek(n) == '.' {
		n++
		digits()
	}
	if lx.peek(n)|0x20 == 'e' {
		m := n + 1
		if c := lx.peek(m); c == '+' || c == '-' {
			m++
		}
		if isDigit(lx.peek(m)) {
			n = m
			digits()
		}
	}
	text := lx.src[lx.off : lx.off+n]
	lx.skip(n)
	if w := wordLen(lx.src[lx.off:]); w > 0 {
		text += lx.src[lx.off : lx.off+w]
		lx.skip(w)
		t := lx.finish(start, tokInvalid, `"`+text+`" is neither a number nor a name`)
		t.hint = "a name that begins with a digit is written in back-ticks"
		return t
	}
	return lx.finish(start, tokNumber, text)
}

// quoted reads text up to the closing quote, which stands doubled inside, and reports whether there was one.
func (lx *lexer) quoted(quote byte) (string, bool) {
	rest := lx.src[lx.off+1:]
	var b strings.Builder
	for i := 0; ; {
		end := strings.IndexByte(rest[i:], quote)
		if end < 0 {
			lx.skip(len(lx.src) - lx.off)
			return "", false
		}
		b.WriteString(rest[i : i+end])
		i += end + 1
		if i >= len(rest) || rest[i] != quote {
			lx.skip(i + 1)
			return b.String(), true
		}
		b.WriteByte(quote)
		i++
	}
}

func (lx *lexer) str(start diag.Span, charset string) token {
	text, ok := lx.quoted('\'')
	if !ok {
		t := lx.finish(start, tokInvalid, "the string that begins here has no end")
		t.hint = "a quote in a string is written twice: ''"
		return t
	}
	t := lx.finish(start, tokString, text)
	t.charset = charset
	return t
}

func (lx *lexer) quotedIdent(start diag.Span) token {
	text, ok := lx.quoted('`')
	switch {
	case !ok:
		return lx.finish(start, tokInvalid, "the name in back-ticks that begins here has no end")
	case text == "":
		return lx.finish(start, tokInvalid, "a name in back-ticks must not be empty")
	}
	return lx.finish(start, tokQuoted, text)
}

func (lx *lexer) binary(start diag.Span) token {
	lx.skip(1)
	text, ok := lx.quoted('\'')
	switch {
	case !ok:
		return lx.finish(start, tokInvalid, "the binary string that begins here has no end")
	case strings.Trim(text, "0123456789abcdefABCDEF") != "":
		return lx.finish(start, tokInvalid, "a binary string X'..' holds hexadecimal digits only")
	case len(text)%2 != 0:
		return lx.finish(start, tokInvalid, "a binary string X'..' holds an even number of digits")
	}
	return lx.finish(start, tokBinary, text)
}

// operators are the multi-character ones, the longest first.
var operators = []string{"<>", "<=", ">=", "!=", "||", "=>", "*/", "{-", "-}", "/*+"}

func (lx *lexer) operator(start diag.Span) token {
	rest := lx.src[lx.off:]
	if strings.HasPrefix(rest, "/*") && !strings.HasPrefix(rest, "/*+") {
		lx.skip(len(rest))
		return lx.finish(start, tokInvalid, "the comment that begins here has no end")
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) && (op != "*/" || lx.inHint) {
			switch op {
			case "/*+":
				lx.inHint = true
			case "*/":
				lx.inHint = false
			}
			lx.skip(len(op))
			return lx.finish(start, tokOp, op)
		}
	}
	if strings.IndexByte("()[]{},;.:=<>+-*/%?^$|", rest[0]) >= 0 {
		lx.skip(1)
		return lx.finish(start, tokOp, rest[:1])
	}
	r, size := utf8.DecodeRuneInString(rest)
	lx.skip(size)
	switch r {
	case '"':
		line, _, _ := strings.Cut(lx.src[lx.off:], "\n")
		if end := strings.IndexByte(line, '"'); end >= 0 {
			lx.skip(end + 1)
		}
		t := lx.finish(start, tokInvalid, "double quotes have no meaning here")
		t.hint = "a string is written in single quotes, a name in back-ticks"
		return t
	case utf8.RuneError:
		return lx.finish(start, tokInvalid, "the text is not valid UTF-8 here")
	}
	return lx.finish(start, tokInvalid, `the character "`+string(r)+`" has no meaning here`)
}
