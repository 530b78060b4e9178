package json

import (
	"errors"
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/text/jsontext"
)

// encoder implements format.Encoder.
type encoder struct{ rows *jsontext.Rows }

var nullKeys = map[string]jsontext.NullKey{
	"FAIL": jsontext.FailOnNullKey, "DROP": jsontext.DropNullKey, "LITERAL": jsontext.LiteralKey,
}

func newEncoder(c *format.Config) (*encoder, error) {
	if err := checkTypes(c.Physical); err != nil {
		return nil, err
	}
	return &encoder{jsontext.NewRows(c.Physical.Fields, jsontext.Options{
		ISO:          c.Options.Enum(timestampFormat) == "ISO-8601",
		PlainDecimal: c.Options.Bool(plainDecimal),
		IgnoreNulls:  c.Options.Bool(ignoreNulls),
		NullKey:      nullKeys[c.Options.Enum(nullKeyMode)],
		NullLiteral:  []byte(c.Options.Text(nullKeyLiteral)),
	})}, nil
}

// Header implements format.Encoder.
func (e *encoder) Header() []byte { return nil }

// Updates implements format.Encoder.
func (e *encoder) Updates() bool { return false }

// Encode implements format.Encoder.
func (e *encoder) Encode(buf []byte, b *batch.Batch) ([]byte, error) {
	e.rows.Read(b.Cols)
	var err error
	for r := range b.Rows() {
		if buf, err = e.rows.Append(buf, b.At(r)); err != nil {
			return buf, nullKeyHint(err)
		}
		buf = append(buf, '\n')
	}
	return buf, nil
}

func nullKeyHint(err error) error {
	var e *jsontext.NullKeyError
	if !errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("column %q: %w; set 'json.map-null-key.mode' to 'DROP' or 'LITERAL'", e.Path, err)
}
