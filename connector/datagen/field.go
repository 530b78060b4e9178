package datagen

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// generator makes the values of a field.
type generator struct {
	typ types.Type
	// salt tells the fields of a row apart.
	salt uint64
	// nullRate is the share of NULLs, as a threshold of 32 random bits.
	nullRate uint64
	sequence bool
	// start and end are those of a sequence.
	start, end int64
	// min and max bound integers, and unscaled decimals of up to 18 digits;
	// lo and hi bound floats and longer decimals.
	min, max int64
	lo, hi   float64
	length   int
	varLen   bool
	// maxPast is how far timestamps lie in the past at the most, in ms.
	maxPast int64
	// parts are the generators of elements, keys and values, or fields.
	parts []*generator
}

// field reads the options of a field.
func (p *parser) field(name string, t types.Type) (*generator, error) {
	g := &generator{typ: t}
	kind := p.text(name + ".kind")
	switch strings.ToLower(kind) {
	case "", "random":
		return g, p.random(name, g)
	case "sequence":
		return g, p.sequenceOf(name, g)
	}
	return nil, fmt.Errorf("option %q is %q; it must be random or sequence", name+".kind", kind)
}

// text returns an option that the field has.
func (p *parser) text(name string) string {
	p.known[name] = true
	return p.options.Text(name)
}

// integer returns a whole number, def if the option is not given.
func (p *parser) integer(name string, def int64) (int64, error) {
	v := p.text(name)
	if v == "" {
		return def, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("option %q is %q, which is no whole number", name, v)
	}
	return n, nil
}

func (p *parser) number(name string, def float64) (float64, error) {
	v := p.text(name)
	if v == "" {
		return def, nil
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("option %q is %q, which is no number", name, v)
	}
	return f, nil
}

func (p *parser) sequenceOf(name string, g *generator) (err error) {
	g.sequence = true
	if !g.typ.IsNumeric() && !g.typ.IsChar() {
		return fmt.Errorf("option %q: type %s has no sequence, only numbers and strings have", name+".kind", g.typ)
	}
	for _, o := range []string{".start", ".end"} {
		if p.text(name+o) == "" {
			return fmt.Errorf("option %q is missing: a sequence has a start and an end", name+o)
		}
	}
	if g.start, err = p.integer(name+".start", 0); err != nil {
		return err
	}
	if g.end, err = p.integer(name+".end", 0); err != nil {
		return err
	}
	if g.end < g.start {
		return fmt.Errorf("option %q: the end (%d) lies before the start (%d)", name+".end", g.end, g.start)
	}
	lo, hi := integerRange(g.typ)
	if g.start < lo || g.end > hi {
		return fmt.Errorf("option %q: a sequence from %d to %d does not fit %s", name+".end", g.start, g.end, g.typ)
	}
	return nil
}

// integerRange is what whole numbers a type can hold.
func integerRange(t types.Type) (lo, hi int64) {
	switch t.Kind {
	case types.TinyInt:
		return math.MinInt8, math.MaxInt8
	case types.SmallInt:
		return math.MinInt16, math.MaxInt16
	case types.Int:
		return math.MinInt32, math.MaxInt32
	case types.Decimal:
		if n := int(t.Precision - t.Scale); n < 19 {
			hi = types.Pow10(n).Int64() - 1
			return -hi, hi
		}
	}
	return math.MinInt64, math.MaxInt64
}

func (p *parser) random(name string, g *generator) error {
	rate, err := p.number(name+".null-rate", 0)
	if err != nil {
		return err
	}
	if rate < 0 || rate > 1 || rate > 0 && !g.typ.Nullable {
		return fmt.Errorf("option %q is %v; it lies between 0 and 1, and is 0 for columns that are NOT NULL", name+".null-rate", rate)
	}
	g.nullRate = uint64(rate * (1 << 32))
	switch {
	case g.typ.IsInteger():
		lo, hi := integerRange(g.typ)
		return p.bounds(name, g, lo, hi)
	case g.typ.IsApprox():
		hi := math.MaxFloat64
		if g.typ.Kind == types.Float {
			hi = math.MaxFloat32
		}
		return p.floats(name, g, hi)
	case g.typ.Kind == types.Decimal:
		return p.decimals(name, g)
	case g.typ.IsChar() || g.typ.IsBinary():
		return p.lengths(name, g)
	case g.typ.IsTimestamp():
		return p.past(name, g)
	case g.typ.IsInterval():
		g.max = 12 * 10_000
		if g.typ.Kind == types.IntervalDS {
			g.max = 10_000 * 365 * text.MsPerDay
		}
		return nil
	case g.typ.IsNested():
		return p.nested(name, g)
	case g.typ.Kind == types.Boolean, g.typ.Kind == types.Date, g.typ.Kind == types.Time:
		return nil
	}
	return fmt.Errorf("column %q: no values of type %s can be made up", strings.TrimPrefix(name, optFields), g.typ)
}

func (p *parser) bounds(name string, g *generator, lo, hi int64) (err error) {
	if g.min, err = p.integer(name+".min", lo); err != nil {
		return err
	}
	if g.max, err = p.integer(name+".max", hi); err != nil {
		return err
	}
	if g.min > g.max || g.min < lo || g.max > hi {
		return fmt.Errorf("option %q: no %s lies between %d and %d", name+".min", g.typ.WithNull(true), g.min, g.max)
	}
	return nil
}

func (p *parser) floats(name string, g *generator, hi float64) (err error) {
	if g.lo, err = p.number(name+".min", 0); err != nil {
		return err
	}
	if g.hi, err = p.number(name+".max", hi); err != nil {
		return err
	}
	if g.lo > g.hi || g.lo < -hi || g.hi > hi {
		return fmt.Errorf("option %q: no %s lies between %v and %v", name+".min", g.typ.WithNull(true), g.lo, g.hi)
	}
	return nil
}

// decimals bounds a DECIMAL by default to what has its precision.
func (p *parser) decimals(name string, g *generator) error {
	limit := math.Pow10(int(g.typ.Precision - g.typ.Scale))
	if err := p.floats(name, g, limit); err != nil {
		return err
	}
	if g.typ.Precision > 18 {
		return nil
	}
	scale := math.Pow10(int(g.typ.Scale))
	top := types.Pow10(int(g.typ.Precision)).Int64() - 1
	g.min = max(int64(math.Round(g.lo*scale)), -top)
	g.max = min(int64(math.Round(g.hi*scale)), top)
	return nil
}

func (p *parser) lengths(name string, g *generator) error {
	fixed := g.typ.Kind == types.Char || g.typ.Kind == types.Binary
	def := int64(100)
	if g.typ.Length != types.MaxLength {
		def = int64(g.typ.Length)
	}
	n, err := p.integer(name+".length", def)
	if err != nil {
		return err
	}
	variable := p.text(name + ".var-len")
	switch {
	case fixed && n != def:
		return fmt.Errorf("option %q: the length of %s is fixed", name+".length", g.typ.WithNull(true))
	case n < 1 || n > int64(g.typ.Length):
		return fmt.Errorf("option %q is %d; it lies between 1 and that of the type, %s", name+".length", n, g.typ.WithNull(true))
	case fixed && variable != "":
		return fmt.Errorf("option %q: the length of %s is fixed", name+".var-len", g.typ.WithNull(true))
	case variable != "" && !strings.EqualFold(variable, "true") && !strings.EqualFold(variable, "false"):
		return fmt.Errorf("option %q is %q, which is neither true nor false", name+".var-len", variable)
	}
	g.length, g.varLen = int(n), strings.EqualFold(variable, "true")
	return nil
}

func (p *parser) past(name string, g *generator) error {
	v := p.text(name + ".max-past")
	if v == "" {
		return nil
	}
	d, err := format.ParseDuration(v)
	if err != nil {
		return fmt.Errorf("option %q: %w", name+".max-past", err)
	}
	g.maxPast = d.Milliseconds()
	return nil
}

func (p *parser) nested(name string, g *generator) error {
	add := func(name string, t types.Type) error {
		e := &generator{typ: t, salt: mix(uint64(len(g.parts)) + 1000)}
		g.parts = append(g.parts, e)
		return p.random(name, e)
	}
	if g.typ.Kind != types.Row {
		n, err := p.integer(name+".length", 3)
		if err != nil {
			return err
		}
		if n < 0 || n > 1<<20 {
			return fmt.Errorf("option %q is %d", name+".length", n)
		}
		g.length = int(n)
	}
	switch g.typ.Kind {
	case types.Array, types.Multiset:
		return add(name+".element", *g.typ.Elem)
	case types.Map:
		if err := add(name+".key", *g.typ.Key); err != nil {
			return err
		}
		return add(name+".value", *g.typ.Elem)
	}
	for _, f := range g.typ.Fields {
		if err := add(name+"."+f.Name, f.Type); err != nil {
			return err
		}
	}
	return nil
}
