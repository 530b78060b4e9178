package bind

import (
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/types"
)

// number binds a number; negative tells that a minus stands before it, which counts for the type of integers.
func (b *Binder) number(n *ast.NumberLit, negative bool) expr.Expr {
	digits := n.Text
	if negative {
		digits = "-" + digits
	}
	switch n.Kind {
	case ast.Approximate:
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil || math.IsInf(f, 0) {
			b.errorf(n.Pos(), "%s is out of the range of a DOUBLE", digits)
			return nil
		}
		return expr.Double(f)
	case ast.Integer:
		return b.integer(n.Pos(), digits)
	}
	whole, frac, _ := strings.Cut(n.Text, ".")
	if frac == "" {
		return b.integer(n.Pos(), strings.TrimSuffix(digits, "."))
	}
	significant := strings.TrimLeft(whole+frac, "0")
	if _, err := strconv.ParseInt("0"+significant, 10, 64); err != nil {
		b.errorf(n.Pos(), "the number %s has too many digits", digits).WithHint("write it as CAST('%s' AS DECIMAL(p, s))", digits)
		return nil
	}
	return b.parsed(n.Pos(), digits, types.DecimalOf(max(len(significant), len(frac)), len(frac)))
}

func (b *Binder) integer(pos diag.Pos, digits string) expr.Expr {
	i, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil:
		b.errorf(pos, "the number %s is out of the range of a BIGINT", digits).WithHint("write it as CAST('%s' AS DECIMAL(38, 0))", digits)
		return nil
	case i == int64(int32(i)):
		return expr.Int(int32(i))
	}
	return expr.BigInt(i)
}

// parsed makes a constant of a type from the text that CAST reads.
func (b *Binder) parsed(pos diag.Pos, text string, t types.Type) expr.Expr {
	c, err := expr.NewCast(stringLit(text), t.NotNull(), false, b.Env)
	if err == nil {
		if lit, ok := expr.Fold(c, b.Env).(*expr.Lit); ok {
			return lit
		}
		err = fmt.Errorf("it cannot be read")
	}
	b.errorf(pos, "%s is no %s: %v", quoteText(text), t, err)
	return nil
}

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// stringLit returns a CHAR of the text's length, counted in UTF-16 units as Flink does.
func stringLit(s string) *expr.Lit {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return bytesLit(types.CharOf(types.Char, n), []byte(s))
}

func bytesLit(t types.Type, data []byte) *expr.Lit {
	return expr.NewLit(&batch.Bytes{Typ: t.NotNull(), Offsets: []int32{0, int32(len(data))}, Data: data})
}

func (b *Binder) binary(n *ast.BinaryLit) expr.Expr {
	data, err := hex.DecodeString(n.Hex)
	if err != nil {
		b.errorf(n.Pos(), "X'%s' holds something that is no hexadecimal digit", n.Hex)
		return nil
	}
	return bytesLit(types.CharOf(types.Binary, len(data)), data)
}

var temporalForms = map[string]*regexp.Regexp{
	"DATE":      regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}$`),
	"TIME":      regexp.MustCompile(`^\d{1,2}:\d{1,2}:\d{1,2}(\.\d+)?$`),
	"TIMESTAMP": regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2} \d{1,2}:\d{1,2}:\d{1,2}(\.\d+)?$`),
}

var temporalHints = map[string]string{
	"DATE": "2024-12-31", "TIME": "23:59:59", "TIMESTAMP": "2024-12-31 23:59:59",
}

// temporal binds DATE '..', TIME '..' and TIMESTAMP '..'; the digits of the fraction are the type's precision.
func (b *Binder) temporalLit(n *ast.TemporalLit) expr.Expr {
	form, ok := temporalForms[n.Type]
	if !ok {
		b.unsupported(n.Pos(), "a literal of type "+n.Type)
		return nil
	}
	text := n.Text.Value
	if !form.MatchString(text) {
		b.errorf(n.Text.Pos(), "%s is no %s", quoteText(text), n.Type).WithHint("write it as %s '%s'", n.Type, temporalHints[n.Type])
		return nil
	}
	_, frac, _ := strings.Cut(text, ".")
	if len(frac) > 9 {
		b.errorf(n.Text.Pos(), "the fraction of %s has more than 9 digits", quoteText(text))
		return nil
	}
	switch n.Type {
	case "DATE":
		return b.parsed(n.Text.Pos(), text, types.Of(types.Date))
	case "TIME":
		return b.parsed(n.Text.Pos(), text, types.TimeOf(types.Time, len(frac)))
	}
	return b.parsed(n.Text.Pos(), text, types.TimeOf(types.Timestamp, len(frac)))
}

// intervalForms are the texts of the ranges of days and smaller units; the groups are in the order of the units.
var intervalForms = map[types.IntervalUnit]*regexp.Regexp{
	types.UnitYear:           regexp.MustCompile(`^(\d+)$`),
	types.UnitMonth:          regexp.MustCompile(`^(\d+)$`),
	types.UnitYearToMonth:    regexp.MustCompile(`^(\d+)-(\d{1,2})$`),
	types.UnitDay:            regexp.MustCompile(`^(\d+)$`),
	types.UnitDayToHour:      regexp.MustCompile(`^(\d+) (\d{1,2})$`),
	types.UnitDayToMinute:    regexp.MustCompile(`^(\d+) (\d{1,2}):(\d{1,2})$`),
	types.UnitDayToSecond:    regexp.MustCompile(`^(\d+) (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?$`),
	types.UnitHour:           regexp.MustCompile(`^(\d+)$`),
	types.UnitHourToMinute:   regexp.MustCompile(`^(\d+):(\d{1,2})$`),
	types.UnitHourToSecond:   regexp.MustCompile(`^(\d+):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?$`),
	types.UnitMinute:         regexp.MustCompile(`^(\d+)$`),
	types.UnitMinuteToSecond: regexp.MustCompile(`^(\d+):(\d{1,2})(?:\.(\d{1,9}))?$`),
	types.UnitSecond:         regexp.MustCompile(`^(\d+)(?:\.(\d{1,9}))?$`),
}

// intervalScales are what the groups of a form count, in months or milliseconds; -1 is the fraction of a second. The second
// number is the largest that may stand behind the first group.
var intervalScales = map[types.IntervalUnit][][2]int64{
	types.UnitYear:           {{12, 0}},
	types.UnitMonth:          {{1, 0}},
	types.UnitYearToMonth:    {{12, 0}, {1, 11}},
	types.UnitDay:            {{86400_000, 0}},
	types.UnitDayToHour:      {{86400_000, 0}, {3600_000, 23}},
	types.UnitDayToMinute:    {{86400_000, 0}, {3600_000, 23}, {60_000, 59}},
	types.UnitDayToSecond:    {{86400_000, 0}, {3600_000, 23}, {60_000, 59}, {1000, 59}, {-1, 0}},
	types.UnitHour:           {{3600_000, 0}},
	types.UnitHourToMinute:   {{3600_000, 0}, {60_000, 59}},
	types.UnitHourToSecond:   {{3600_000, 0}, {60_000, 59}, {1000, 59}, {-1, 0}},
	types.UnitMinute:         {{60_000, 0}},
	types.UnitMinuteToSecond: {{60_000, 0}, {1000, 59}, {-1, 0}},
	types.UnitSecond:         {{1000, 0}, {-1, 0}},
}

// intervalLit binds INTERVAL '..' range.
func (b *Binder) intervalLit(n *ast.IntervalLit) expr.Expr {
	t := b.interval(&n.Qualifier)
	if !t.IsValid() {
		return nil
	}
	text := strings.TrimSpace(n.Text.Value)
	negative := n.Negative
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		text, negative = rest, !negative
	} else {
		text = strings.TrimPrefix(text, "+")
	}
	v, ok := intervalValue(text, t.Unit)
	if !ok {
		b.errorf(n.Text.Pos(), "%s is no interval of %s", quoteText(n.Text.Value), qualifierText(&n.Qualifier))
		return nil
	}
	switch n.Qualifier.From {
	case "WEEK":
		v *= 7
	case "QUARTER":
		v *= 3
	}
	if negative {
		v = -v
	}
	return b.intervalOf(n.Text.Pos(), t.Kind, v)
}

// intervalOf makes an interval constant of so many months or milliseconds.
func (b *Binder) intervalOf(pos diag.Pos, k types.Kind, v int64) expr.Expr {
	if k == types.IntervalYM {
		if v != int64(int32(v)) {
			b.errorf(pos, "the interval is too long")
			return nil
		}
		return expr.NewLit(&batch.Fixed[int32]{Typ: monthInterval.NotNull(), Values: []int32{int32(v)}})
	}
	return expr.NewLit(&batch.Fixed[int64]{Typ: secondInterval.NotNull(), Values: []int64{v}})
}

// monthInterval and secondInterval are the types of all intervals, whatever range they were written with.
var (
	monthInterval  = types.Type{Kind: types.IntervalYM, Nullable: true, Unit: types.UnitMonth, Precision: 2}
	secondInterval = types.Type{Kind: types.IntervalDS, Nullable: true, Unit: types.UnitSecond, Precision: 2, Scale: 3}
)

func qualifierText(q *ast.IntervalQualifier) string {
	if q.To != "" {
		return q.From + " TO " + q.To
	}
	return q.From
}

// intervalValue reads the text of an interval, without sign, as months or milliseconds.
func intervalValue(text string, unit types.IntervalUnit) (int64, bool) {
	groups := intervalForms[unit].FindStringSubmatch(text)
	if groups == nil {
		return 0, false
	}
	total := int64(0)
	for i, scale := range intervalScales[unit] {
		g := groups[i+1]
		if scale[0] < 0 {
			g = (g + "000")[:3]
			scale[0] = 1
		}
		v, err := strconv.ParseInt(g, 10, 64)
		if err != nil || scale[1] > 0 && v > scale[1] || v > (math.MaxInt64-total)/scale[0] {
			return 0, false
		}
		total += v * scale[0]
	}
	return total, true
}
