// Package csv is the format of comma-separated values. Lines without quotes,
// which are nearly all, are cut into fields eight bytes at a time; numbers are
// read where they stand, and values go straight into columns.
package csv

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// Def defines the format.
var Def = &format.Def{
	Name: "csv",
	Doc: "Comma-separated values, one record a line. Columns go by position, or by the names in a header line. " +
		"Fields may stand in quotes, and then hold delimiters, line breaks and doubled quotes. Blanks count.",
	Options: []format.Option{
		{Name: fieldDelimiter, Default: ",", Doc: `The character between fields; escapes such as \t and \u0001 are understood.`},
		{Name: disableQuotes, Kind: format.Bool, Default: "false", Doc: "Quotes are ordinary characters. Large files can then be read in parallel."},
		{Name: quoteCharacter, Default: `"`, Doc: "The character around fields that hold delimiters, quotes or line breaks."},
		{Name: allowComments, Kind: format.Bool, Default: "false",
			Doc: "Lines that begin with # are left out, as are blank lines and the blanks at the start of a line."},
		{Name: ignoreErrors, Kind: format.Bool, Default: "false",
			Doc: "A value that does not fit its column is NULL, missing fields at the end of a line are NULL, and a line with too many fields is skipped; all are counted. Otherwise they are errors."},
		{Name: arrayDelimiter, Default: ";", Doc: "The character between the elements of an ARRAY or ROW in a field."},
		{Name: escapeCharacter, Doc: `The character that takes the meaning from the next one; \n, \r, \t and \0 stand for control characters. None by default.`},
		{Name: nullLiteral, Doc: "The text that stands for NULL. None by default when reading; an empty field when writing."},
		{Name: scientific, Kind: format.Bool, Default: "true", Doc: "Decimals may be written with an exponent (1E+3); otherwise never."},
		{Name: header, Kind: format.Enum, Default: "false", Values: []string{"false", "true", "skip"}, Own: true,
			Doc: "Each file begins with a line of names. With true, columns are found by these names, and files are written with such a line; with skip, the line is passed over, and columns go by position."},
	},
	Splittable: func(o *format.Options) bool { return o.Bool(disableQuotes) && o.Text(escapeCharacter) == "" },
	NewDecoder: func(c *format.Config) (format.Decoder, error) { return newDecoder(c) },
	NewEncoder: func(c *format.Config) (format.Encoder, error) { return newEncoder(c) },
}

const (
	fieldDelimiter  = "field-delimiter"
	disableQuotes   = "disable-quote-character"
	quoteCharacter  = "quote-character"
	allowComments   = "allow-comments"
	ignoreErrors    = "ignore-parse-errors"
	arrayDelimiter  = "array-element-delimiter"
	escapeCharacter = "escape-character"
	nullLiteral     = "null-literal"
	scientific      = "write-bigdecimal-in-scientific-notation"
	header          = "header"
)

func init() { format.Register(Def) }

// none stands for a character that is not set.
const none = -1

// dialect is the form of the text.
type dialect struct {
	delim, arrayDelim []byte
	// quote and escape are ASCII characters or none.
	quote, escape int
	comments      bool
	hasNull       bool
	null          []byte
	header        string
}

func newDialect(o *format.Options) (*dialect, error) {
	d := &dialect{
		quote: none, escape: none,
		comments: o.Bool(allowComments),
		hasNull:  o.Has(nullLiteral),
		null:     []byte(o.Text(nullLiteral)),
		header:   o.Enum(header),
	}
	var errs [4]error
	d.delim, errs[0] = character(o, fieldDelimiter)
	d.arrayDelim, errs[1] = character(o, arrayDelimiter)
	if o.Bool(disableQuotes) {
		if o.Has(quoteCharacter) {
			return nil, errors.New("options 'csv.quote-character' and 'csv.disable-quote-character' exclude each other")
		}
	} else {
		d.quote, errs[2] = ascii(o, quoteCharacter)
	}
	if o.Text(escapeCharacter) != "" {
		d.escape, errs[3] = ascii(o, escapeCharacter)
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if c := d.delim[0]; c == '\n' || c == '\r' || int(c) == d.quote || int(c) == d.escape {
		return nil, fmt.Errorf("option 'csv.field-delimiter' is %q, which also ends a line, quotes or escapes", d.delim)
	}
	return d, nil
}

// character returns an option's only character.
func character(o *format.Options, name string) ([]byte, error) {
	v := o.Text(name)
	if u, err := strconv.Unquote(`"` + v + `"`); err == nil {
		v = u
	}
	if utf8.RuneCountInString(v) != 1 || !utf8.ValidString(v) {
		return nil, fmt.Errorf("option 'csv.%s' must be a single character, but is %q", name, o.Text(name))
	}
	return []byte(v), nil
}

func ascii(o *format.Options, name string) (int, error) {
	v := o.Text(name)
	if len(v) != 1 || v[0] >= utf8.RuneSelf {
		return none, fmt.Errorf("option 'csv.%s' must be a single ASCII character, but is %q", name, v)
	}
	return int(v[0]), nil
}

// checkTypes refuses what a field cannot hold.
func checkTypes(s *types.Schema) error {
	for _, f := range s.Fields {
		switch f.Type.Kind {
		case types.Array:
			if !simple(*f.Type.Elem) {
				return nested(f)
			}
		case types.Row:
			for _, g := range f.Type.Fields {
				if !simple(g.Type) {
					return nested(f)
				}
			}
		default:
			if !simple(f.Type) {
				return fmt.Errorf("column %q: CSV has no form for type %s", f.Name, f.Type.WithNull(true))
			}
		}
	}
	return nil
}

func simple(t types.Type) bool {
	return !t.IsNested() && t.Phys() != types.PhysNone && t.Phys() != types.PhysObjects
}

func nested(f types.Field) error {
	return fmt.Errorf("column %q: in CSV, an ARRAY or ROW holds simple values only, but its type is %s", f.Name, f.Type.WithNull(true))
}
