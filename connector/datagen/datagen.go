// Package datagen is the connector of made-up rows: random values, or numbers
// in sequence. A row is a function of its number, so a source that goes on from
// a checkpoint makes the same rows again.
package datagen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
)

const (
	optRate   = "rows-per-second"
	optRows   = "number-of-rows"
	optSeed   = "seed"
	optFields = "fields."
)

// Def defines the connector.
var Def = &connector.Def{
	Name: "datagen",
	Doc: "A source of made-up rows. Each field is random, within min and max and with some NULLs, or a sequence of numbers. " +
		"It ends when number-of-rows are made, or a sequence has come to its end. Dates and times are those of the row, which is " +
		"due at the source's start and its number divided by rows-per-second.",
	Options: []format.Option{
		{Name: optRate, Kind: format.Integer, Default: "10000", Doc: "How many rows are made in a second, by all readers together."},
		{Name: optRows, Kind: format.Integer, Doc: "How many rows are made; without it, no end."},
		{Name: optSeed, Kind: format.Integer, Own: true, Doc: "Two sources of the same seed make the same values, but for times. By default each job has another one."},
		{Name: optFields, Pattern: true, Doc: "fields.NAME.kind is random (the default) or sequence, with start and end. Random fields have " +
			"min and max (numbers), max-past (timestamps), length and var-len (strings, bytes, arrays), null-rate (0 to 1). " +
			"The elements of an ARRAY or MULTISET are fields.NAME.element, those of a MAP fields.NAME.key and fields.NAME.value, " +
			"those of a ROW fields.NAME.FIELD."},
	},
	NewSource: newSource,
}

func init() { connector.Register(Def) }

// source implements connector.Source.
type source struct {
	table *connector.Table
	// rows is how many rows there are in all; below zero there is no end.
	rows int64
	rate int64
	gens []*generator
}

func newSource(t *connector.Table) (connector.Source, error) {
	s := &source{table: t, rows: -1, rate: t.Options.Int(optRate)}
	if t.Options.Has(optRows) {
		s.rows = t.Options.Int(optRows)
		if s.rows < 0 {
			return nil, fmt.Errorf("option %q is negative", optRows)
		}
	}
	if s.rate <= 0 {
		return nil, fmt.Errorf("option %q must be above 0", optRate)
	}
	p := &parser{options: t.Options, known: map[string]bool{}}
	all := make([]*generator, len(t.Physical.Fields))
	for i, f := range t.Physical.Fields {
		g, err := p.field(optFields+f.Name, f.Type)
		if err != nil {
			return nil, err
		}
		g.salt = mix(uint64(i) + 1)
		all[i] = g
		if g.sequence {
			s.limit(g.end - g.start + 1)
		}
	}
	if err := p.unknown(); err != nil {
		return nil, err
	}
	for _, at := range t.Wanted {
		s.gens = append(s.gens, all[at])
	}
	return s, nil
}

func (s *source) limit(n int64) {
	if s.rows < 0 || n < s.rows {
		s.rows = n
	}
}

// Bounded implements connector.Source.
func (s *source) Bounded() bool { return s.rows >= 0 }

// Rereadable implements connector.Rereadable: the rows come from nowhere.
func (s *source) Rereadable() bool { return true }

// Interval implements connector.Source.
func (s *source) Interval() int64 { return 0 }

// Modes implements connector.Source.
func (s *source) Modes() connector.Modes { return connector.InsertOnly }

// parser reads the options of fields.
type parser struct {
	options *format.Options
	// known are the options that some field has.
	known map[string]bool
}

// unknown reports an option that no field has.
func (p *parser) unknown() error {
	for _, name := range p.options.Names() {
		if strings.HasPrefix(name, optFields) && !p.known[name] {
			var names []string
			for k := range p.known {
				names = append(names, k)
			}
			slices.Sort(names)
			return fmt.Errorf("option %q is of no field; the options are: %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// newSeed returns the seed of a job.
func (s *source) newSeed() uint64 {
	if s.table.Options.Has(optSeed) {
		return mix(uint64(s.table.Options.Int(optSeed)))
	}
	return rand.Uint64()
}
