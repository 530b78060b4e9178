package types

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse returns the type that String prints as text.
func Parse(text string) (Type, error) {
	p := typeParser{text}
	t, ok := p.typ()
	if !ok || p.rest != "" {
		return Type{}, fmt.Errorf("%q is not the name of a type", text)
	}
	return t, nil
}

// typeParser reads what Type.String writes, and no more of SQL than that.
type typeParser struct{ rest string }

// kindsByName has the kinds whose name stands alone in a type.
var kindsByName = func() map[string]Kind {
	out := map[string]Kind{}
	for k, name := range kindNames {
		if kind := Kind(k); kind != Invalid && kind != IntervalYM && kind != IntervalDS {
			out[name] = kind
		}
	}
	return out
}()

func (p *typeParser) cut(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *typeParser) word() string {
	n := 0
	for n < len(p.rest) && (p.rest[n] >= 'A' && p.rest[n] <= 'Z' || p.rest[n] == '_') {
		n++
	}
	w := p.rest[:n]
	p.rest = p.rest[n:]
	return w
}

func (p *typeParser) number() (int, bool) {
	n := 0
	for n < len(p.rest) && p.rest[n] >= '0' && p.rest[n] <= '9' {
		n++
	}
	x, err := strconv.Atoi(p.rest[:n])
	p.rest = p.rest[n:]
	return x, err == nil
}

// params reads (a) or (a, b).
func (p *typeParser) params(out ...*int) bool {
	for i, to := range out {
		open := ", "
		if i == 0 {
			open = "("
		}
		x, ok := 0, p.cut(open)
		if ok {
			x, ok = p.number()
		}
		if !ok {
			return false
		}
		*to = x
	}
	return p.cut(")")
}

func (p *typeParser) typ() (Type, bool) {
	t, ok := p.nullable()
	if ok && p.cut(" NOT NULL") {
		t.Nullable = false
	}
	return t, ok
}

func (p *typeParser) nullable() (Type, bool) {
	w := p.word()
	switch w {
	case "STRING":
		return StringType(), true
	case "BYTES":
		return BytesType(), true
	case "INTERVAL":
		return p.interval()
	}
	kind, ok := kindsByName[w]
	t := Of(kind)
	a, b := 0, 0
	switch kind {
	case Null:
		t.Nullable = false // as Type has it
	case Char, Varchar, Binary, Varbinary:
		ok = ok && p.params(&a)
		t.Length = int32(a)
	case Decimal:
		ok = ok && p.params(&a, &b)
		t.Precision, t.Scale = uint8(a), uint8(b)
	case Time, Timestamp, TimestampLTZ:
		ok = ok && p.params(&a)
		t.Precision = uint8(a)
	case Array, Multiset, Map:
		return t, ok && p.elements(&t)
	case Row:
		return t, ok && p.fields(&t)
	}
	return t, ok
}

func (p *typeParser) elements(t *Type) bool {
	if !p.cut("<") {
		return false
	}
	if t.Kind == Map {
		key, ok := p.typ()
		if t.Key = &key; !ok || !p.cut(", ") {
			return false
		}
	}
	elem, ok := p.typ()
	t.Elem = &elem
	return ok && p.cut(">")
}

func (p *typeParser) fields(t *Type) bool {
	if !p.cut("<") {
		return false
	}
	for !p.cut(">") {
		if len(t.Fields) > 0 && !p.cut(", ") || !p.cut("`") {
			return false
		}
		end := strings.Index(strings.ReplaceAll(p.rest, "``", "xx"), "` ")
		if end < 0 {
			return false
		}
		f := Field{Name: strings.ReplaceAll(p.rest[:end], "``", "`")}
		p.rest = p.rest[end+2:]
		var ok bool
		if f.Type, ok = p.typ(); !ok {
			return false
		}
		t.Fields = append(t.Fields, f)
	}
	return true
}

// interval reads the range of an interval, with the precisions of its fields.
func (p *typeParser) interval() (Type, bool) {
	for u := UnitSecond; u > UnitNone; u-- {
		q := typeParser{p.rest}
		t := Type{Kind: IntervalDS, Nullable: true, Unit: u}
		if u <= UnitMonth {
			t.Kind = IntervalYM
		}
		// The form has 7 for the precision and 8 for the scale.
		if q.cut(" ") && q.like(u.format(7, 8), &t) {
			p.rest = q.rest
			return t, true
		}
	}
	return Type{}, false
}

func (p *typeParser) like(form string, t *Type) bool {
	for form != "" {
		var to *uint8
		switch {
		case strings.HasPrefix(form, "(7)"):
			to = &t.Precision
		case strings.HasPrefix(form, "(8)"):
			to = &t.Scale
		}
		if to == nil {
			if !p.cut(form[:1]) {
				return false
			}
			form = form[1:]
			continue
		}
		x := 0
		if !p.params(&x) {
			return false
		}
		*to, form = uint8(x), form[3:]
	}
	return true
}
