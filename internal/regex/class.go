package regex

// class parses what follows an opening bracket, up to the closing one.
func (p *parser) class() *set {
	if p.depth++; p.depth > maxDepth {
		p.fail("classes are nested too deep")
	}
	defer func() { p.depth-- }()
	negated := p.accept("^")
	var all, cur *set // what && has narrowed, and the union behind the last &&
	for first := true; ; first = false {
		p.skip()
		switch {
		case !p.more():
			p.fail("unclosed character class")
		case p.quoted:
			if p.accept(`\E`) {
				p.quoted = false
				continue
			}
			r := p.char()
			cur = union(cur, span(r, r, p.flags))
		case p.at("]") && !first:
			p.pos++
			return p.closeClass(all, cur, negated)
		case p.accept("["):
			cur = union(cur, p.class())
		case p.accept("&&"):
			for p.accept("&") {
			}
			if cur != nil {
				all = intersect(all, cur)
			}
			cur = nil
		case p.accept(`\Q`):
			p.quoted = true
		default:
			cur = union(cur, p.span())
		}
	}
}

// closeClass returns the set of a whole class. An empty side of && is none.
func (p *parser) closeClass(all, cur *set, negated bool) *set {
	s := cur
	switch {
	case cur == nil && all == nil:
		p.fail("bad class syntax")
	case cur == nil:
		s = all
	case all != nil:
		s = intersect(all, cur)
	}
	if negated {
		return s.negate()
	}
	return s
}

// span parses a character, a range of characters or an escape in a class.
func (p *parser) span() *set {
	lo, s := p.classChar()
	if s != nil {
		return s
	}
	p.skip()
	if !p.at("-") || p.at("-]") || p.at("-[") {
		return span(lo, lo, p.flags)
	}
	p.pos++
	p.skip()
	hi, s := p.classChar()
	if s != nil || hi < lo {
		p.fail("illegal character range")
	}
	return span(lo, hi, p.flags)
}

// classChar parses a character in a class, or an escape that stands for a set.
func (p *parser) classChar() (rune, *set) {
	if !p.accept(`\`) {
		return p.char(), nil
	}
	if !p.more() {
		p.fail("unexpected end behind a backslash")
	}
	c := p.src[p.pos]
	if s := classOf(c, p.flags); s != nil {
		p.pos++
		return 0, s
	}
	if c|0x20 == 'p' {
		p.pos++
		return 0, p.property(c == 'P')
	}
	return p.escapedChar(), nil
}
