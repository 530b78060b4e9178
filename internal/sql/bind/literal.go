package bind

import (
	"encoding/hex"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/text"
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
	unscaled, err := strconv.ParseInt("0"+whole+frac, 10, 64)
	if err != nil || len(frac) > types.MaxPrecision {
		b.errorf(n.Pos(), "the number %s has too many digits", digits).WithHint("write it as CAST('%s' AS DECIMAL(p, s))", digits)
		return nil
	}
	if negative {
		unscaled = -unscaled
	}
	// A zero before the point counts as a digit, zeros before that do not.
	before := len(strings.TrimLeft(whole, "0"))
	if before == 0 && whole != "" {
		before = 1
	}
	t := types.DecimalOf(min(before+len(frac), types.MaxPrecision), len(frac)).NotNull()
	if t.Phys() == types.PhysI64 {
		return expr.NewLit(&batch.Fixed[int64]{Typ: t, Values: []int64{unscaled}})
	}
	return expr.NewLit(&batch.Fixed[types.Int128]{Typ: t, Values: []types.Int128{types.Int128FromInt64(unscaled)}})
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

// temporalForms are the texts of temporal literals; the groups are year, month and day, and hour, minute, second and
// fraction.
var temporalForms = map[string]*regexp.Regexp{
	"DATE":          regexp.MustCompile(`^(\d{1,4})-(\d{1,2})-(\d{1,2})$`),
	"TIME":          regexp.MustCompile(`^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d*))?$`),
	"TIMESTAMP":     regexp.MustCompile(`^(\d{1,4})-(\d{1,2})-(\d{1,2})(?: +(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d*))?)?$`),
	"TIMESTAMP_LTZ": regexp.MustCompile(`^(\d{1,4})-(\d{1,2})-(\d{1,2})(?: +(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d*))?)?$`),
}

// temporalExamples show how temporal literals are written.
var temporalExamples = map[string]string{
	"DATE": "DATE '2024-12-31'", "TIME": "TIME '23:59:59'", "TIMESTAMP": "TIMESTAMP '2024-12-31 23:59:59'",
	"TIMESTAMP_LTZ": "TIMESTAMP WITH LOCAL TIME ZONE '2024-12-31 23:59:59'",
}

// temporalLit binds DATE '..', TIME '..' and TIMESTAMP '..'; the digits of the fraction are the type's precision.
func (b *Binder) temporalLit(n *ast.TemporalLit) expr.Expr {
	form, ok := temporalForms[n.Type]
	if !ok {
		b.unsupported(n.Pos(), "a literal of type "+n.Type)
		return nil
	}
	groups := form.FindStringSubmatch(n.Text.Value)
	if groups == nil {
		b.badTemporal(n)
		return nil
	}
	days, groups, ok := 0, groups[1:], true
	if n.Type != "TIME" {
		days, ok = literalDays(groups)
		groups = groups[3:]
	}
	ms, ns, precision := int64(0), 0, 0
	if ok && n.Type != "DATE" {
		ms, ns, precision, ok = literalTime(groups)
	}
	if !ok {
		b.badTemporal(n)
		return nil
	}
	switch n.Type {
	case "DATE":
		return expr.NewLit(&batch.Fixed[int32]{Typ: types.Of(types.Date).NotNull(), Values: []int32{int32(days)}})
	case "TIME":
		t := types.TimeOf(types.Time, min(precision, 3)).NotNull()
		return expr.NewLit(&batch.Fixed[int32]{Typ: t, Values: []int32{int32(ms)}})
	case "TIMESTAMP":
		return timestampLit(types.TimeOf(types.Timestamp, precision), int64(days)*86400_000+ms, ns)
	}
	wall := time.UnixMilli(int64(days)*86400_000 + ms).UTC()
	utc := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), b.Env.Zone)
	return timestampLit(types.TimeOf(types.TimestampLTZ, precision), utc.UnixMilli(), ns)
}

func (b *Binder) badTemporal(n *ast.TemporalLit) {
	b.errorf(n.Text.Pos(), "%s is no %s", quoteText(n.Text.Value), n.Type).WithHint("write it as %s", temporalExamples[n.Type])
}

func timestampLit(t types.Type, ms int64, ns int) expr.Expr {
	t = t.NotNull()
	if t.Phys() == types.PhysI64 {
		return expr.NewLit(&batch.Fixed[int64]{Typ: t, Values: []int64{ms}})
	}
	return expr.NewLit(&batch.Fixed[types.TS]{Typ: t, Values: []types.TS{{Ms: ms, Ns: int32(ns)}}})
}

// literalDays reads year, month and day, which must exist.
func literalDays(groups []string) (int, bool) {
	y, m, d := digits(groups[0]), digits(groups[1]), digits(groups[2])
	if y < 1 || m < 1 || m > 12 || d < 1 || d > text.DaysInMonth(y, m) {
		return 0, false
	}
	return text.DaysFromCivil(y, m, d), true
}

// literalTime reads hour, minute, second and fraction, as milliseconds and the nanoseconds within; groups are empty for a date
// alone. Digits behind the ninth of the fraction are cut off.
func literalTime(groups []string) (ms int64, ns, precision int, ok bool) {
	if groups[0] == "" {
		return 0, 0, 0, true
	}
	h, m, s := digits(groups[0]), digits(groups[1]), digits(groups[2])
	if h > 23 || m > 59 || s > 59 {
		return 0, 0, 0, false
	}
	frac := groups[3][:min(len(groups[3]), 9)]
	nanos := digits((frac + "000000000")[:9])
	return int64(h*3600+m*60+s)*1000 + int64(nanos/1_000_000), nanos % 1_000_000, len(frac), true
}

// digits reads a text of digits.
func digits(s string) int {
	n := 0
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
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
	value := strings.TrimSpace(n.Text.Value)
	negative := n.Negative
	if rest, ok := strings.CutPrefix(value, "-"); ok {
		value, negative = rest, !negative
	} else {
		value = strings.TrimPrefix(value, "+")
	}
	v, ok := intervalValue(value, t)
	if !ok {
		b.errorf(n.Text.Pos(), "%s is no interval of %s", quoteText(n.Text.Value), qualifierText(&n.Qualifier)).
			WithHint("the first unit may have %d digits; for more, write %s(n)", t.Precision, n.Qualifier.From)
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

// intervalValue reads the text of an interval, without sign, as months or milliseconds,
// whose first unit has no more digits than the type allows.
func intervalValue(value string, t types.Type) (int64, bool) {
	groups := intervalForms[t.Unit].FindStringSubmatch(value)
	if groups == nil || len(groups[1]) > int(t.Precision) {
		return 0, false
	}
	total := int64(0)
	for i, scale := range intervalScales[t.Unit] {
		g := groups[i+1]
		if scale[0] < 0 {
			if len(g) > int(t.Scale) {
				return 0, false
			}
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
