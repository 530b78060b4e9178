package bind

import (
	"fmt"
	"unicode/utf8"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/config"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// requireNotNull makes a NULL an error of its row: table.exec.sink.not-null-enforcer = ERROR.
func requireNotNull(e expr.Expr, table, column string) expr.Expr {
	t := e.Type().NotNull()
	def := &fn.Def{Name: plan.RequireNotNull, Internal: true, NullCall: true}
	def.Bind = func(*fn.Call) (*fn.Bound, error) {
		return &fn.Bound{Result: t, Kernel: func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
			valid := args[0].Validity()
			for i := range rows.Len() {
				if p := rows.At(i); valid.IsNull(p) {
					return nil, fn.Failf(p, "column %q of table %s is NOT NULL, but the value is NULL; to leave such rows out, SET '%s' = 'DROP'",
						column, table, config.NotNullEnforcer)
				}
			}
			return args[0].WithType(t), nil
		}}, nil
	}
	return &expr.Call{Def: def, Args: []expr.Expr{e}, Typ: t}
}

// enforceLength applies table.exec.sink.type-length-enforcer to a value of a text or binary type with a length. What an
// implicit cast has cut or padded already passes unchanged.
func (b *Binder) enforceLength(e expr.Expr, want types.Type, column string) expr.Expr {
	if !want.IsChar() && !want.IsBinary() || want.Length == types.MaxLength || b.Config.Is(config.LengthEnforcer, "IGNORE") {
		return e
	}
	fix := func(dst, v []byte) ([]byte, error) {
		n := length(want, v)
		if n > int(want.Length) || n < int(want.Length) && (want.Kind == types.Char || want.Kind == types.Binary) {
			return dst, fmt.Errorf("column %q is %s, but the value has the length %d; to cut and pad such values, SET '%s' = 'TRIM_PAD'",
				column, want.WithNull(true), n, config.LengthEnforcer)
		}
		return append(dst, v...), nil
	}
	if b.Config.Is(config.LengthEnforcer, "TRIM_PAD") {
		fix = func(dst, v []byte) ([]byte, error) { return text.AppendFitted(dst, v, want), nil }
	}
	t := e.Type()
	def := &fn.Def{Name: "ENFORCE_LENGTH", Internal: true}
	def.Bind = func(*fn.Call) (*fn.Bound, error) {
		return &fn.Bound{Result: t, Kernel: func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
			in := args[0].(*batch.Bytes)
			return fn.Bytes(t, rows, len(in.Data), func(dst []byte, i int) ([]byte, bool, error) {
				dst, err := fix(dst, in.At(i))
				return dst, true, err
			})
		}}, nil
	}
	return &expr.Call{Def: def, Args: []expr.Expr{e}, Typ: t}
}

// length counts characters of text, and bytes of binary strings.
func length(t types.Type, v []byte) int {
	if t.IsChar() {
		return utf8.RuneCount(v)
	}
	return len(v)
}
