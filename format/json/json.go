// Package json is the format of one JSON object a line (or one JSON value a
// message). The decoder is directed by the table's schema: it scans the text
// once, matches the names of fields against the order in which they came last,
// puts values straight into columns and passes over what is not wanted.
package json

import (
	"fmt"

	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// Def defines the format.
var Def = &format.Def{
	Name: "json",
	Doc: "One JSON object a line; a line may also hold an array of objects, and is then a row for each. " +
		"Fields are found by name, with regard to case; missing ones are NULL, unknown ones are passed over, " +
		"and of a name that comes twice the last one counts.",
	Options: []format.Option{
		{Name: failOnMissing, Kind: format.Bool, Default: "false",
			Doc: "A field that is missing is an error instead of NULL."},
		{Name: ignoreErrors, Kind: format.Bool, Default: "false",
			Doc: "A value that does not fit its column is NULL, and a record that is not JSON is skipped; both are counted. Otherwise they are errors."},
		{Name: timestampFormat, Kind: format.Enum, Default: "SQL", Values: []string{"SQL", "ISO-8601"},
			Doc: "The form of timestamps: SQL is 2024-01-02 03:04:05.678, ISO-8601 has a T between date and time. TIMESTAMP_LTZ has a Z behind it."},
		{Name: nullKeyMode, Kind: format.Enum, Default: "FAIL", Values: []string{"FAIL", "DROP", "LITERAL"},
			Doc: "What becomes of NULL keys of a map that is written: an error, the entry is left out, or the key is map-null-key.literal."},
		{Name: nullKeyLiteral, Default: "null", Doc: "The key that stands for NULL in maps."},
		{Name: plainDecimal, Kind: format.Bool, Default: "false",
			Doc: "Decimals are written in full, without an exponent."},
		{Name: ignoreNulls, Kind: format.Bool, Default: "false", Doc: "Fields that are NULL are not written."},
		{Name: "decode.json-parser.enabled", Kind: format.Bool, Default: "true",
			Doc: "Accepted for Flink's sake; there is one decoder, and it answers alike."},
	},
	PartialRows: true,
	Splittable:  func(*format.Options) bool { return true },
	NewDecoder:  func(c *format.Config) (format.Decoder, error) { return newDecoder(c) },
	NewEncoder:  func(c *format.Config) (format.Encoder, error) { return newEncoder(c) },
}

const (
	failOnMissing   = "fail-on-missing-field"
	ignoreErrors    = "ignore-parse-errors"
	timestampFormat = "timestamp-format.standard"
	nullKeyMode     = "map-null-key.mode"
	nullKeyLiteral  = "map-null-key.literal"
	plainDecimal    = "encode.decimal-as-plain-number"
	ignoreNulls     = "encode.ignore-null-fields"
)

func init() { format.Register(Def) }

// checkTypes refuses what JSON cannot hold.
func checkTypes(s *types.Schema) error {
	for _, f := range s.Fields {
		if err := checkType(f.Name, f.Type); err != nil {
			return err
		}
	}
	return nil
}

func checkType(path string, t types.Type) error {
	switch t.Kind {
	case types.Map, types.Multiset:
		key := t.Key
		if t.Kind == types.Multiset {
			key = t.Elem
		}
		if !key.IsChar() {
			return fmt.Errorf("column %q: JSON has only maps whose keys are strings, but its type is %s", path, t.WithNull(true))
		}
		if t.Kind == types.Multiset {
			return nil
		}
		return checkType(path+"{}", *t.Elem)
	case types.Array:
		return checkType(path+"[]", *t.Elem)
	case types.Row:
		for _, f := range t.Fields {
			if err := checkType(path+"."+f.Name, f.Type); err != nil {
				return err
			}
		}
		return nil
	}
	if t.Phys() == types.PhysNone || t.Phys() == types.PhysObjects {
		return fmt.Errorf("column %q: JSON has no form for type %s", path, t.WithNull(true))
	}
	return nil
}
