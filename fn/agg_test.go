package fn_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/expr/exprtest"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// typeOf reads a type as SQL writes it.
func typeOf(t testing.TB, s string) types.Type {
	t.Helper()
	name, notNull := strings.CutSuffix(s, " NOT NULL")
	tree, errs := parse.Expr("CAST(NULL AS " + name + ")")
	if len(errs) > 0 {
		t.Fatalf("type %s: %v", s, errs)
	}
	b := &bind.Binder{Env: exprtest.Env()}
	return b.Type(tree.(*ast.Cast).Type).WithNull(!notNull)
}

// bindAgg binds a call of an aggregate without arguments, or with one.
func bindAgg(name string, env *fn.Env, args ...types.Type) (*fn.BoundAgg, error) {
	def := fn.LookupAgg(name)
	c := &fn.Call{Def: &fn.Def{Name: def.Name}, Env: env}
	for _, a := range args {
		c.Args = append(c.Args, fn.Arg{Type: a})
	}
	return def.Bind(c)
}

func mustBindAgg(t testing.TB, name string, args ...types.Type) *fn.BoundAgg {
	t.Helper()
	b, err := bindAgg(name, exprtest.Env(), args...)
	if err != nil {
		t.Fatalf("%s(%v): %v", name, args, err)
	}
	return b
}

// stateOf returns n fresh accumulators.
func stateOf(b *fn.BoundAgg, n int) []batch.Column {
	st := make([]batch.Column, len(b.State))
	for i, s := range b.State {
		st[i] = batch.NewColumn(s)
		st[i].Grow(n)
	}
	return st
}

// column makes a vector of cells.
func column(t testing.TB, typ types.Type, cells []string) batch.Vector {
	t.Helper()
	v := batch.New(typ, len(cells))
	for _, c := range cells {
		if err := text.ParseCell(v, c); err != nil {
			t.Fatalf("cell %q of type %s: %v", c, typ, err)
		}
	}
	return v
}

// cells prints a vector.
func cells(v batch.Vector) []string {
	out := make([]string, v.Len())
	for i := range out {
		out[i] = strings.TrimSpace(string(text.AppendCell(nil, v, i)))
	}
	return out
}

// TestAggExamples runs the examples of every aggregate.
func TestAggExamples(t *testing.T) {
	for _, d := range fn.AllAggs() {
		if d.Doc == "" || d.Syntax == "" || len(d.Examples) == 0 {
			t.Errorf("%s has no syntax, documentation or examples", d.Name)
		}
		for _, e := range d.Examples {
			got, err := aggExample(t, e)
			if err != nil {
				got = "error"
			}
			if got != e.Want {
				t.Errorf("%s of %s %q: got %s (%v), want %s", e.Call, e.Type, e.Rows, got, err, e.Want)
			}
		}
	}
}

func aggExample(t *testing.T, e fn.AggExample) (string, error) {
	name, args, _ := strings.Cut(strings.TrimSuffix(e.Call, ")"), "(")
	args = strings.Replace(args, " VALUE ", ", ", 1)
	c := &fn.Call{Def: &fn.Def{Name: name}, Env: exprtest.Env()}
	if x, ok := strings.CutSuffix(args, " NULL ON NULL"); ok {
		args, c.Nulls = x, fn.KeepNulls
	}
	var constants []expr.Expr
	var in []batch.Vector
	if args != "*" {
		first, rest, _ := strings.Cut(args, ", ")
		if first != "x" {
			t.Fatalf("%s: the first argument is not x", e.Call)
		}
		typ := typeOf(t, e.Type)
		c.Args, in = []fn.Arg{{Type: typ}}, []batch.Vector{column(t, typ, e.Rows)}
		constants = constantArgs(t, c, rest)
	}
	b, err := fn.LookupAgg(name).Bind(c)
	if err != nil {
		return "", err
	}
	if len(b.Params) > 0 && b.Params[0].IsValid() {
		in[0] = column(t, b.Params[0], e.Rows)
	}
	for i, k := range constants {
		in = append(in, repeated(t, k, b, i+1, len(e.Rows)))
	}
	st := stateOf(b, 1)
	if err := b.Agg.Add(st, make([]int32, len(e.Rows)), in, batch.All(len(e.Rows))); err != nil {
		return "", err
	}
	out, err := b.Agg.Result(st, []int32{0})
	if err != nil {
		return "", err
	}
	if !out.Type().Equal(b.Result) {
		t.Errorf("%s of %s: a vector of %s, bound as %s", e.Call, e.Type, out.Type(), b.Result)
	}
	return cells(out)[0] + " :: " + b.Result.String(), nil
}

// constantArgs reads the arguments behind the first one, which are constants.
func constantArgs(t *testing.T, c *fn.Call, src string) (out []expr.Expr) {
	t.Helper()
	if src == "" {
		return nil
	}
	row, err := exprtest.Constant("ROW("+src+")", c.Env)
	must(t, err)
	for _, a := range row.(*expr.Call).Args {
		lit := expr.Fold(a, c.Env).(*expr.Lit)
		c.Args = append(c.Args, fn.Arg{Type: lit.Type(), Const: lit.Value})
		out = append(out, lit)
	}
	return out
}

// repeated is a constant as column i of the arguments.
func repeated(t *testing.T, k expr.Expr, b *fn.BoundAgg, i, n int) batch.Vector {
	t.Helper()
	if i < len(b.Params) && b.Params[i].IsValid() {
		cast, err := expr.Coerce(k, b.Params[i], exprtest.Env())
		must(t, err)
		k = expr.Fold(cast, exprtest.Env())
	}
	return batch.Take(k.(*expr.Lit).Value, make([]int32, n))
}

// TestAggTypes checks which types are taken, and what they give.
func TestAggTypes(t *testing.T) {
	tests := []struct{ name, arg, want string }{
		{"SUM", "TINYINT", "TINYINT"}, {"SUM", "FLOAT NOT NULL", "FLOAT NOT NULL"},
		{"SUM", "DECIMAL(38, 0)", "DECIMAL(38, 0)"}, {"SUM", "STRING", ""}, {"SUM", "DATE", ""},
		{"AVG", "DECIMAL(10, 2)", "DECIMAL(38, 6)"}, {"AVG", "DECIMAL(20, 10)", "DECIMAL(38, 10)"}, {"AVG", "BOOLEAN", ""},
		{"MIN", "CHAR(3)", "CHAR(3)"}, {"MIN", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(3)"}, {"MIN", "BYTES", ""},
		{"MAX", "ARRAY<INT>", ""}, {"MAX", "ROW<x INT>", ""},
		{"FIRST_VALUE", "MAP<STRING, INT>", "MAP<STRING, INT>"}, {"LAST_VALUE", "BYTES", "BYTES"},
		{"COUNT", "MAP<STRING, INT>", "BIGINT NOT NULL"},
		{"VAR_POP", "SMALLINT", "SMALLINT"}, {"STDDEV_SAMP", "DECIMAL(38, 0)", "DECIMAL(38, 6)"}, {"STDDEV", "TIME(0)", ""},
	}
	for _, tt := range tests {
		got := ""
		if b, err := bindAgg(tt.name, exprtest.Env(), typeOf(t, tt.arg)); err == nil {
			got = b.Result.String()
		}
		if got != tt.want {
			t.Errorf("%s(%s): got %q, want %q", tt.name, tt.arg, got, tt.want)
		}
	}
	for name, args := range map[string][]types.Type{
		"COUNT": {types.Of(types.Null)}, "SUM": {types.Of(types.Null)}, "MIN": nil,
		"AVG": {types.Of(types.Int), types.Of(types.Int)},
	} {
		if _, err := bindAgg(name, exprtest.Env(), args...); err == nil {
			t.Errorf("%s%v is taken", name, args)
		}
	}
}

// valueMaker makes a random cell of a type.
var valueMakers = map[string]func(r *rand.Rand) string{
	"TINYINT":          func(r *rand.Rand) string { return strconv.Itoa(r.IntN(5) - 2) },
	"SMALLINT":         func(r *rand.Rand) string { return strconv.Itoa(r.IntN(601) - 300) },
	"INT":              func(r *rand.Rand) string { return strconv.Itoa(r.IntN(20001) - 10000) },
	"BIGINT":           func(r *rand.Rand) string { return strconv.FormatInt(r.Int64N(1<<50)-1<<49, 10) },
	"DECIMAL(10, 2)":   func(r *rand.Rand) string { return decimalCell(r, 1e6, 100) },
	"DECIMAL(30, 3)":   func(r *rand.Rand) string { return decimalCell(r, 1<<61, 1000) },
	"FLOAT":            floatCell,
	"DOUBLE":           floatCell,
	"STRING":           func(r *rand.Rand) string { return strings.Repeat("xyß", r.IntN(4)) + strconv.Itoa(r.IntN(100)) },
	"BOOLEAN":          func(r *rand.Rand) string { return []string{"TRUE", "FALSE"}[r.IntN(2)] },
	"DATE":             func(r *rand.Rand) string { return fmt.Sprintf("%d-0%d-1%d", 1950+r.IntN(50), 1+r.IntN(9), r.IntN(9)) },
	"TIME(0)":          func(r *rand.Rand) string { return fmt.Sprintf("1%d:%d:15", r.IntN(10), 10+r.IntN(50)) },
	"TIMESTAMP(3)":     func(r *rand.Rand) string { return fmt.Sprintf("%d-01-01 00:00:00.%03d", 1960+r.IntN(20), r.IntN(1000)) },
	"TIMESTAMP_LTZ(9)": func(r *rand.Rand) string { return fmt.Sprintf("%d-01-01 00:00:00.%09d", 1960+r.IntN(20), r.IntN(1e9)) },
}

func decimalCell(r *rand.Rand, limit int64, unit float64) string {
	x := new(big.Rat).SetFrac64(r.Int64N(2*limit)-limit, int64(unit))
	return x.FloatString(int(math.Round(math.Log10(unit))))
}

// floatCell prefers numbers whose sums are exact.
func floatCell(r *rand.Rand) string {
	if r.IntN(30) == 0 {
		return []string{"NaN", "Infinity", "-Infinity"}[r.IntN(3)]
	}
	return strconv.FormatFloat(float64(r.IntN(801)-400)/4, 'f', -1, 64)
}

// TestAggAgainstReference folds random rows into random groups: all at once, in
// two parts that are merged, and with rows that are taken back.
func TestAggAgainstReference(t *testing.T) {
	for _, name := range []string{"COUNT", "SUM", "AVG", "MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP"} {
		for typ, value := range valueMakers {
			b, err := bindAgg(name, exprtest.Env(), typeOf(t, typ))
			if err != nil {
				continue
			}
			if b.Result.IsExact() && isDeviation(name) { // of numbers that are taken back much less is left
				value = valueMakers["TINYINT"]
			}
			t.Run(name+"/"+typ, func(t *testing.T) {
				r := rand.New(rand.NewPCG(7, uint64(len(typ))))
				for range 20 {
					checkAgg(t, r, b, name, typ, value)
				}
			})
		}
	}
}

func checkAgg(t *testing.T, r *rand.Rand, b *fn.BoundAgg, name, typ string, value func(*rand.Rand) string) {
	t.Helper()
	groups, n := 1+r.IntN(6), r.IntN(60)
	in, slots := make([]string, n), make([]int32, n)
	byGroup := make([][]string, groups)
	for i := range in {
		if in[i] = "NULL"; r.IntN(5) > 0 {
			in[i] = value(r)
		}
		slots[i] = int32(r.IntN(groups))
		byGroup[slots[i]] = append(byGroup[slots[i]], in[i])
	}
	args := []batch.Vector{column(t, typeOf(t, typ), in)}
	rows := batch.All(n)
	want := make([]string, groups)
	for g, vals := range byGroup {
		want[g] = reference(name, b.Result, vals)
	}
	whole := stateOf(b, groups)
	must(t, b.Agg.Add(whole, slots, args, rows))
	compareAgg(t, "in one", b, whole, want, byGroup)

	cut := r.IntN(n + 1)
	first, second := stateOf(b, groups), stateOf(b, groups)
	must(t, b.Agg.Add(first, slots[:cut], args, rows[:cut]))
	must(t, b.Agg.Add(second, slots[cut:], args, rows[cut:]))
	must(t, b.Agg.Merge(first, batch.All(groups), second, batch.All(groups)))
	compareAgg(t, "merged", b, first, want, byGroup)

	if b = b.Over(true); b == nil {
		t.Fatalf("%s cannot take rows back", name)
	}
	extra := make([]string, 1+r.IntN(40))
	extraSlots := make([]int32, len(extra))
	for i := range extra {
		extra[i], extraSlots[i] = value(r), int32(r.IntN(groups))
	}
	more := []batch.Vector{column(t, typeOf(t, typ), extra)}
	st := stateOf(b, groups)
	must(t, b.Agg.Add(st, extraSlots, more, batch.All(len(extra))))
	must(t, b.Agg.Add(st, slots, args, rows))
	must(t, b.Agg.Retract(st, extraSlots, more, batch.All(len(extra))))
	compareAgg(t, "with rows taken back", b, st, want, byGroup)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func compareAgg(t *testing.T, how string, b *fn.BoundAgg, st []batch.Column, want []string, in [][]string) {
	t.Helper()
	v, err := b.Agg.Result(st, batch.All(len(want)))
	must(t, err)
	if !v.Type().Equal(b.Result) {
		t.Fatalf("the result is of type %s, bound as %s", v.Type(), b.Result)
	}
	for g, got := range cells(v) {
		if !near(got, want[g]) {
			t.Fatalf("%s: got %s, want %s, of %q", how, got, want[g], in[g])
		}
	}
}

// near compares two cells. The reference has its deviations and quotients as
// "~", the value and what may be between.
func near(got, want string) bool {
	value, ok := strings.CutPrefix(want, "~")
	if !ok {
		return got == want
	}
	at, slack, _ := strings.Cut(value, "~")
	g, err := strconv.ParseFloat(got, 64)
	w, _ := strconv.ParseFloat(at, 64)
	s, _ := strconv.ParseFloat(slack, 64)
	return err == nil && (g == w || math.Abs(g-w) <= s+1e-6*math.Abs(w) || w != w && g != g)
}

// reference computes an aggregate from cells, slowly.
func reference(name string, result types.Type, in []string) string {
	vals := slices.DeleteFunc(slices.Clone(in), func(s string) bool { return s == "NULL" })
	switch {
	case name == "COUNT":
		return strconv.Itoa(len(vals))
	case len(vals) == 0:
		return "NULL"
	case name == "FIRST_VALUE":
		return canonical(vals[0], result)
	case name == "LAST_VALUE":
		return canonical(vals[len(vals)-1], result)
	case name == "MIN" || name == "MAX":
		best := slices.MinFunc(vals, func(a, b string) int {
			if name == "MAX" {
				a, b = b, a
			}
			return compareCells(a, b, result)
		})
		return canonical(best, result)
	case result.IsApprox() || isDeviation(name):
		return referenceFloat(name, result, vals)
	}
	sum := new(big.Rat)
	for _, v := range vals {
		x, _ := new(big.Rat).SetString(v)
		sum.Add(sum, x)
	}
	if name == "AVG" {
		sum.Quo(sum, new(big.Rat).SetInt64(int64(len(vals))))
		if result.IsInteger() {
			return new(big.Int).Quo(sum.Num(), sum.Denom()).String()
		}
	}
	return sum.FloatString(int(result.Scale))
}

func isDeviation(name string) bool {
	return strings.HasPrefix(name, "STDDEV") || strings.HasPrefix(name, "VAR")
}

// canonical is a cell as it is printed.
func canonical(cell string, t types.Type) string {
	v := batch.New(t, 1)
	if err := text.ParseCell(v, cell); err != nil {
		panic(err)
	}
	return cells(v)[0]
}

func compareCells(a, b string, t types.Type) int {
	if !t.IsNumeric() {
		return strings.Compare(a, b)
	}
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	switch {
	case x == y || x != x && y != y:
		return 0
	case x != x || x > y:
		return 1
	}
	return -1
}

func referenceFloat(name string, result types.Type, vals []string) string {
	sum, n := 0.0, float64(len(vals))
	xs := make([]float64, len(vals))
	for i, v := range vals {
		xs[i], _ = strconv.ParseFloat(v, 64)
		sum += xs[i]
	}
	x, slack := sum, "0.00001"
	switch name {
	case "AVG":
		x = sum / n
	case "SUM":
	default:
		if strings.HasSuffix(name, "SAMP") {
			if n--; n == 0 {
				return "NULL"
			}
		}
		x = 0
		for _, v := range xs {
			d := v - sum/float64(len(vals))
			x += d * d
		}
		x /= n
		if strings.HasPrefix(name, "STDDEV") {
			x = math.Sqrt(x)
		}
		if result.IsInteger() {
			slack = "1"
		}
	}
	return fmt.Sprintf("~%v~%s", x, slack)
}

// TestAggOverflow shows that a sum is judged by its result, and that integers
// wrap around where the session says so.
func TestAggOverflow(t *testing.T) {
	wrap := exprtest.Env()
	wrap.WrapIntegers = true
	tests := []struct {
		name, typ string
		in        []string
		want      string
		wrapped   string
	}{
		{"SUM", "BIGINT", []string{"9223372036854775807", "1"}, "error", "-9223372036854775808"},
		{"SUM", "BIGINT", []string{"9223372036854775807", "1", "-1"}, "9223372036854775807", "9223372036854775807"},
		{"SUM", "BIGINT", []string{"-9223372036854775807", "-1"}, "-9223372036854775808", "-9223372036854775808"},
		{"SUM", "INT", []string{"2147483647", "1"}, "error", "-2147483648"},
		{"SUM", "INT", []string{"-2147483648", "0"}, "-2147483648", "-2147483648"},
		{"SUM", "SMALLINT", []string{"-32768", "-1"}, "error", "32767"},
		{"SUM", "TINYINT", []string{"100", "100"}, "error", "-56"},
		{"AVG", "BIGINT", []string{"9223372036854775807", "9223372036854775807"}, "9223372036854775807", "-1"},
		{"VAR_POP", "INT", []string{"-2147483648", "2147483647"}, "error", "2147483647"},
		{"VAR_POP", "TINYINT", []string{"-128", "127"}, "error", "-128"},
		{"SUM", "DECIMAL(38, 0)", []string{strings.Repeat("9", 38), "1"}, "error", "error"},
		{"SUM", "DECIMAL(38, 0)", []string{strings.Repeat("9", 38), strings.Repeat("9", 38)}, "error", "error"},
		{"AVG", "DECIMAL(38, 0)", []string{strings.Repeat("9", 33)}, "error", "error"},
		{"AVG", "DECIMAL(38, 0)", []string{strings.Repeat("9", 32)}, strings.Repeat("9", 32) + ".000000", strings.Repeat("9", 32) + ".000000"},
	}
	for _, tt := range tests {
		for env, want := range map[*fn.Env]string{exprtest.Env(): tt.want, wrap: tt.wrapped} {
			typ := typeOf(t, tt.typ)
			b, err := bindAgg(tt.name, env, typ)
			must(t, err)
			st := stateOf(b, 1)
			got := "error"
			err = b.Agg.Add(st, make([]int32, len(tt.in)), []batch.Vector{column(t, typ, tt.in)}, batch.All(len(tt.in)))
			if err == nil {
				var v batch.Vector
				if v, err = b.Agg.Result(st, []int32{0}); err == nil {
					got = cells(v)[0]
				}
			}
			if got != want {
				t.Errorf("%s(%s) of %v, wrapping %t: got %s (%v), want %s", tt.name, tt.typ, tt.in, env.WrapIntegers, got, err, want)
			}
		}
	}
}

// TestSumForgets shows that a value which is taken back leaves nothing behind.
func TestSumForgets(t *testing.T) {
	typ := typeOf(t, "DOUBLE")
	tests := []struct{ keep, gone, want string }{
		{"1", "NaN", "1.0"}, {"Infinity", "-Infinity", "Infinity"}, {"-Infinity", "NaN", "-Infinity"},
		{"-0.0", "NaN", "-0.0"}, {"NULL", "0.1", "NULL"},
	}
	for _, tt := range tests {
		b := mustBindAgg(t, "SUM", typ)
		st := stateOf(b, 1)
		v := []batch.Vector{column(t, typ, []string{tt.keep, tt.gone})}
		must(t, b.Agg.Add(st, []int32{0, 0}, v, []int32{0, 1}))
		must(t, b.Agg.Retract(st, []int32{0}, v, []int32{1}))
		out, err := b.Agg.Result(st, []int32{0})
		must(t, err)
		if got := cells(out)[0]; got != tt.want {
			t.Errorf("%s without %s: got %s, want %s", tt.keep, tt.gone, got, tt.want)
		}
	}
}

func BenchmarkAgg(b *testing.B) {
	const size, groups = 4096, 1000
	for _, bench := range []struct{ name, typ string }{
		{"COUNT", "INT"}, {"SUM", "INT"}, {"SUM", "BIGINT"}, {"SUM", "DECIMAL(10, 2)"}, {"SUM", "DECIMAL(30, 3)"}, {"SUM", "DOUBLE"},
		{"AVG", "BIGINT"}, {"MIN", "BIGINT"}, {"MAX", "DOUBLE"}, {"MAX", "STRING"}, {"FIRST_VALUE", "INT"}, {"LAST_VALUE", "INT"},
		{"STDDEV_POP", "DOUBLE"},
	} {
		for _, keys := range []int{1, groups} {
			b.Run(fmt.Sprintf("%s/%s/groups=%d", bench.name, bench.typ, keys), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				in, slots := make([]string, size), make([]int32, size)
				for i := range in {
					in[i], slots[i] = valueMakers[bench.typ](r), int32(r.IntN(keys))
				}
				typ := typeOf(b, bench.typ)
				args, rows := []batch.Vector{column(b, typ, in)}, batch.All(size)
				bound := mustBindAgg(b, bench.name, typ)
				st := stateOf(bound, groups)
				b.ReportAllocs()
				for b.Loop() {
					if err := bound.Agg.Add(st, slots, args, rows); err != nil {
						b.Fatal(err)
					}
				}
				total := float64(b.N) * size
				b.ReportMetric(total/b.Elapsed().Seconds(), "rows/s")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/total, "ns/row")
			})
		}
	}
}
