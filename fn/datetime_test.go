package fn_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/expr/exprtest"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/types"
)

// TestTimesInZone evaluates where clocks are switched: 02:30 on 10 March 2024
// does not exist in New York, 01:30 on 3 November comes twice.
func TestTimesInZone(t *testing.T) {
	env := exprtest.Env()
	var err error
	if env.Zone, err = time.LoadLocation("America/New_York"); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ expr, want string }{
		{"EXTRACT(HOUR FROM TO_TIMESTAMP_LTZ(0, 0))", "19 :: BIGINT"},
		{"EXTRACT(DAY FROM TO_TIMESTAMP_LTZ(0, 0))", "31 :: BIGINT"},
		{"EXTRACT(EPOCH FROM TO_TIMESTAMP_LTZ(0, 0))", "0 :: BIGINT"},
		{"FLOOR(TO_TIMESTAMP_LTZ(1710086400, 0) TO DAY)", "2024-03-10 00:00:00.000 :: TIMESTAMP_LTZ(3)"},
		{"CEIL(TO_TIMESTAMP_LTZ(1710050400, 0) TO DAY)", "2024-03-11 00:00:00.000 :: TIMESTAMP_LTZ(3)"},
		{"FLOOR(TO_TIMESTAMP_LTZ(1710086400, 0) TO MONTH)", "2024-03-01 00:00:00.000 :: TIMESTAMP_LTZ(3)"},
		// The second 01:30 goes back to the second 01:00.
		{"EXTRACT(EPOCH FROM FLOOR(TO_TIMESTAMP_LTZ(1730615400, 0) TO HOUR))", "1730613600 :: BIGINT"},
		{"EXTRACT(EPOCH FROM FLOOR(TO_TIMESTAMP_LTZ(1730611800, 0) TO HOUR))", "1730610000 :: BIGINT"},
		{"DATE_FORMAT(TO_TIMESTAMP_LTZ(0, 0), 'yyyy-MM-dd HH:mm')", "1969-12-31 19:00 :: STRING"},
		{"TIMESTAMPDIFF(HOUR, TO_TIMESTAMP_LTZ(0, 0), TO_TIMESTAMP_LTZ(7200, 0))", "2 :: INT"},
		{"TIMESTAMPADD(DAY, 1, TO_TIMESTAMP_LTZ(1709996400, 0))", "2024-03-10 11:00:00.000 :: TIMESTAMP_LTZ(3)"},
		{"FROM_UNIXTIME(0)", "1969-12-31 19:00:00 :: STRING"},
		{"FROM_UNIXTIME(0, 'z Z X')", "EST -0500 -05 :: STRING"},
		{"UNIX_TIMESTAMP('1970-01-01 00:00:00')", "18000 :: BIGINT NOT NULL"},
		{"UNIX_TIMESTAMP('2024-03-10 02:30:00')", "1710055800 :: BIGINT NOT NULL"},
		{"UNIX_TIMESTAMP('2024-11-03 01:30:00')", "1730615400 :: BIGINT NOT NULL"},
		{"TO_TIMESTAMP_LTZ('2024-07-01 12:00:00')", "2024-07-01 08:00:00.000 :: TIMESTAMP_LTZ(3)"},
		{"TO_TIMESTAMP('1970-01-01 00:00:00')", "1970-01-01 00:00:00.000 :: TIMESTAMP(3)"},
		// The clock of the tests stands at 12:34:56.789 UTC, a leap day.
		{"CURRENT_DATE", "2024-02-29 :: DATE NOT NULL"},
		{"LOCALTIME", "07:34:56 :: TIME(0) NOT NULL"},
		{"LOCALTIMESTAMP", "2024-02-29 07:34:56.789 :: TIMESTAMP(3) NOT NULL"},
		{"NOW()", "2024-02-29 07:34:56.789 :: TIMESTAMP_LTZ(3) NOT NULL"},
		{"UNIX_TIMESTAMP()", "1709210096 :: BIGINT NOT NULL"},
	}
	for _, tt := range tests {
		for _, fold := range []bool{false, true} {
			if got, err := exprtest.Eval(tt.expr, env, fold); got != tt.want {
				t.Errorf("%s (folded %t): got %s (%v), want %s", tt.expr, fold, got, err, tt.want)
			}
		}
	}
}

// TestTimesAtTheEdge has what the examples leave out: exact boundaries, times
// before 1970, parts of a millisecond, overflow.
func TestTimesAtTheEdge(t *testing.T) {
	tests := []struct{ expr, want string }{
		{"EXTRACT(MILLISECOND FROM TIMESTAMP '1969-12-31 23:59:59.999')", "999 :: BIGINT NOT NULL"},
		{"EXTRACT(NANOSECOND FROM TIMESTAMP '1969-12-31 23:59:59.999999999')", "999999999 :: BIGINT NOT NULL"},
		{"EXTRACT(SECOND FROM DATE '2021-01-03')", "0 :: BIGINT NOT NULL"},
		{"EXTRACT(MILLENNIUM FROM DATE '2000-12-31')", "2 :: BIGINT NOT NULL"},
		{"EXTRACT(QUARTER FROM INTERVAL '-3-4' YEAR TO MONTH)", "0 :: BIGINT NOT NULL"},
		{"EXTRACT(WEEK FROM INTERVAL '1' DAY)", "error"},
		{"CEIL(TIMESTAMP '2024-01-01 00:00:00.000000001' TO YEAR)", "2025-01-01 00:00:00.000000000 :: TIMESTAMP(9) NOT NULL"},
		{"CEIL(TIMESTAMP '2024-01-01 10:00:00' TO YEAR)", "2025-01-01 00:00:00 :: TIMESTAMP(0) NOT NULL"},
		{"CEIL(DATE '2020-01-01' TO DECADE)", "2020-01-01 :: DATE NOT NULL"},
		{"CEIL(DATE '2024-05-17' TO DAY)", "2024-05-18 :: DATE NOT NULL"},
		{"CEIL(TIME '23:45:00' TO HOUR)", "00:00:00 :: TIME(0) NOT NULL"},
		{"FLOOR(TIME '23:45:00' TO DAY)", "23:45:00 :: TIME(0) NOT NULL"},
		{"CEIL(TIME '23:45:00.500' TO DAY)", "23:45:00.501 :: TIME(3) NOT NULL"}, {"FLOOR(TIME '23:45:00' TO MONTH)", "error"},
		{"FLOOR(DATE '2024-05-17' TO NOPE)", "error"},
		{"TIMESTAMPADD(MILLISECOND, 1, TIMESTAMP '2024-01-31 23:30:00')", "2024-01-31 23:30:00.001 :: TIMESTAMP(3) NOT NULL"},
		{"TIMESTAMPADD(MONTH, 1, TIMESTAMP '2024-01-31 00:00:00.123456789')", "2024-02-29 00:00:00.123456789 :: TIMESTAMP(9) NOT NULL"},
		{"TIMESTAMPADD(MONTH, 9999999999, DATE '2024-01-31')", "error"},
		{"TIMESTAMPADD(MICROSECOND, 1, TIMESTAMP '2024-01-31 23:30:00')", "error"},
		{"TIMESTAMPDIFF(MONTH, TIMESTAMP '2024-03-15 12:00:00', TIMESTAMP '2024-02-15 13:00:00')", "-1 :: INT NOT NULL"},
		{"TIMESTAMPDIFF(MONTH, TIMESTAMP '2024-03-15 13:00:00', TIMESTAMP '2024-02-15 12:00:00')", "-2 :: INT NOT NULL"},
		{"TIMESTAMPDIFF(MONTH, TIMESTAMP '2024-02-29 00:00:00', TIMESTAMP '2024-02-15 00:00:00')", "0 :: INT NOT NULL"},
		{"TIMESTAMPDIFF(SECOND, TIMESTAMP '2024-05-17 13:46:00', TIMESTAMP '2024-05-17 13:45:59.999999999')", "0 :: INT NOT NULL"},
		{"TIMESTAMPDIFF(NANOSECOND, TIMESTAMP '2024-05-17 13:46:00', TIMESTAMP '2024-05-17 13:45:59.999999999')", "-1 :: BIGINT NOT NULL"},
		{"TIMESTAMPDIFF(SECOND, TIMESTAMP '1900-01-01 00:00:00', TIMESTAMP '2024-01-01 00:00:00')", "error"},
		{"TO_TIMESTAMP('2024-2-30 1:2:3.5', 'yyyy')", "2024-03-01 01:02:03.500 :: TIMESTAMP(3)"},
		{"TO_TIMESTAMP('2024-2-32', 'yyyy')", "NULL :: TIMESTAMP(3)"},
		{"TO_TIMESTAMP('2024-2-3 1:2', 'yyyy')", "NULL :: TIMESTAMP(3)"},
		{"TO_TIMESTAMP('2024-02-09', '{')", "NULL :: TIMESTAMP(3)"},
		{"TO_TIMESTAMP_LTZ(-0.5e0, 3)", "1969-12-31 23:59:59.999 :: TIMESTAMP_LTZ(3)"},
		{"TO_TIMESTAMP_LTZ(1, 10)", "error"},
		{"TO_TIMESTAMP_LTZ(1, 0, 'UTC')", "error"},
		{"TO_TIMESTAMP_LTZ('2024-02-29', 'yyyy-MM-dd', '+02:00')", "2024-02-28 22:00:00.000 :: TIMESTAMP_LTZ(3)"},
		{"TO_TIMESTAMP_LTZ('2024-02-29', 'yyyy-MM-dd', 'Nope')", "error"},
		{"CONVERT_TZ('2024-07-01 12:00:00', '+05:30', 'PST')", "2024-06-30 23:30:00 :: STRING"},
		{"CONVERT_TZ('2024-07-01 12:00:00', SUBSTRING('Nope' FROM 1), 'UTC')", "error"},
		{"CONVERT_TZ('2024-07-01 12:00:00', UPPER(CAST(NULL AS STRING)), 'UTC')", "NULL :: STRING"},
		{"FROM_UNIXTIME(9223372036854775807)", "error"},
		{"(DATE '2024-02-01', DATE '2024-01-01') OVERLAPS (DATE '2024-02-01', INTERVAL '1' MONTH)", "TRUE :: BOOLEAN NOT NULL"},
		{"(TIME '09:00:00', TIME '10:00:00') OVERLAPS (TIME '10:15:00', INTERVAL '3' HOUR)", "FALSE :: BOOLEAN NOT NULL"},
		{"(DATE '2024-02-01', DATE '2024-01-01') OVERLAPS (TIME '10:15:00', TIME '10:15:00')", "error"},
	}
	env := exprtest.Env()
	for _, tt := range tests {
		if got, err := exprtest.Eval(tt.expr, env, false); got != tt.want {
			t.Errorf("%s: got %s (%v), want %s", tt.expr, got, err, tt.want)
		}
	}
}

// TestTimesAgainstGo compares fields and roundings of random times with those
// of package time.
func TestTimesAgainstGo(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	ms := make([]int64, 2000)
	for i := range ms {
		ms[i] = r.Int64N(400*365*86400_000) - 300*365*86400_000
		if i%4 == 0 {
			ms[i] -= ms[i] % 86400_000
		}
	}
	typ := types.TimeOf(types.Timestamp, 3).NotNull()
	in := []batch.Vector{&batch.Fixed[int64]{Typ: typ, Values: ms}}
	fields := map[string]func(time.Time) int64{
		"YEAR": func(t time.Time) int64 { return int64(t.Year()) }, "MONTH": func(t time.Time) int64 { return int64(t.Month()) },
		"DAYOFMONTH": func(t time.Time) int64 { return int64(t.Day()) }, "DAYOFYEAR": func(t time.Time) int64 { return int64(t.YearDay()) },
		"DAYOFWEEK": func(t time.Time) int64 { return int64(t.Weekday()) + 1 },
		"WEEK":      func(t time.Time) int64 { _, w := t.ISOWeek(); return int64(w) },
		"HOUR":      func(t time.Time) int64 { return int64(t.Hour()) }, "MINUTE": func(t time.Time) int64 { return int64(t.Minute()) },
		"SECOND": func(t time.Time) int64 { return int64(t.Second()) },
	}
	for name, want := range fields {
		got := run(t, name, typ, "", in).(*batch.Fixed[int64]).Values
		for i, x := range ms {
			if at := time.UnixMilli(x).UTC(); got[i] != want(at) {
				t.Fatalf("%s of %s: got %d, want %d", name, at, got[i], want(at))
			}
		}
	}
	begin := map[string]func(time.Time) time.Time{
		"YEAR":  func(t time.Time) time.Time { return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC) },
		"MONTH": func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC) },
		"DAY":   func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) },
		"WEEK": func(t time.Time) time.Time {
			return time.Date(t.Year(), t.Month(), t.Day()-int(t.Weekday()), 0, 0, 0, 0, time.UTC)
		},
		"HOUR": func(t time.Time) time.Time {
			return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), 0, 0, 0, time.UTC)
		},
	}
	for unit, want := range begin {
		down := run(t, "FLOOR", typ, unit, in).(*batch.Fixed[int64]).Values
		up := run(t, "CEIL", typ, unit, in).(*batch.Fixed[int64]).Values
		for i, x := range ms {
			at := time.UnixMilli(x).UTC()
			if w := want(at).UnixMilli(); down[i] != w {
				t.Fatalf("FLOOR of %s to %s: got %s", at, unit, time.UnixMilli(down[i]).UTC())
			}
			// The next beginning is the one behind which the floor moves on.
			if c := time.UnixMilli(up[i]).UTC(); up[i] < x || !want(c).Equal(c) || up[i] > x && want(c.Add(-1)).UnixMilli() != down[i] {
				t.Fatalf("CEIL of %s to %s: got %s", at, unit, c)
			}
		}
	}
}

// run applies a function to a column, and to a unit where one is given.
func run(t testing.TB, name string, typ types.Type, unit string, args []batch.Vector) batch.Vector {
	t.Helper()
	kernel := kernelOf(t, name, typ, unit)
	out, err := kernel(fn.Rows{N: args[0].Len()}, args)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func kernelOf(t testing.TB, name string, typ types.Type, unit string) fn.Kernel {
	t.Helper()
	def := fn.Lookup(name)
	c := &fn.Call{Def: def, Env: exprtest.Env(), Args: []fn.Arg{{Type: typ}}}
	if unit != "" {
		c.Args = append(c.Args, fn.Arg{Type: types.Of(types.Symbol), Symbol: unit})
	}
	b, err := def.Bind(c)
	if err != nil {
		t.Fatal(err)
	}
	return b.Kernel
}

func BenchmarkTime(b *testing.B) {
	const size = 4096
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct{ call, typ string }{
		{"HOUR(x)", "TIMESTAMP(3)"}, {"HOUR(x)", "TIMESTAMP_LTZ(3)"}, {"HOUR(x)", "TIMESTAMP(6)"}, {"YEAR(x)", "TIMESTAMP(3)"}, {"WEEK(x)", "DATE"},
		{"FLOOR(x TO HOUR)", "TIMESTAMP(3)"}, {"FLOOR(x TO DAY)", "TIMESTAMP_LTZ(3)"}, {"FLOOR(x TO MONTH)", "TIMESTAMP(3)"},
		{"DATE_FORMAT(x, 'yyyy-MM-dd HH:mm')", "TIMESTAMP(3)"}, {"DATE_FORMAT(x, 'yyyy-MM-dd HH:mm:ss.SSS')", "TIMESTAMP(3)"},
		{"TIMESTAMPADD(DAY, 1, x)", "TIMESTAMP(3)"}, {"TIMESTAMPADD(MONTH, 1, x)", "TIMESTAMP(3)"},
		{"TIMESTAMPDIFF(HOUR, x, x)", "TIMESTAMP(3)"}, {"TIMESTAMPDIFF(MONTH, TIMESTAMP '2000-01-01 00:00:00', x)", "TIMESTAMP(3)"},
		{"TO_TIMESTAMP(x)", "STRING"}, {"TO_TIMESTAMP(x, 'yyyy-MM-dd HH:mm:ss.SSS')", "STRING"}, {"TO_DATE(x, 'yyyy-MM-dd')", "STRING"},
		{"UNIX_TIMESTAMP(x)", "STRING"}, {"CONVERT_TZ(x, 'UTC', 'Asia/Tokyo')", "STRING"},
	} {
		b.Run(strings.ReplaceAll(bench.call, " ", "_")+"/"+bench.typ, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			in := make([]string, size)
			at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
			for i := range in {
				at = at.Add(time.Duration(r.IntN(60_000)) * time.Millisecond)
				in[i] = at.Format("2006-01-02 15:04:05.000")
				if bench.typ == "DATE" {
					in[i] = in[i][:10]
				}
			}
			env := exprtest.Env()
			env.Zone = zone
			p := compileOver(b, bench.call, typeOf(b, bench.typ), env)
			rows := batch.Of(types.NewSchema(types.Field{Name: "x", Type: typeOf(b, bench.typ)}), []batch.Vector{column(b, typeOf(b, bench.typ), in)}, size)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(rows); err != nil {
					b.Fatal(err)
				}
			}
			total := float64(b.N) * size
			b.ReportMetric(total/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/total, "ns/row")
		})
	}
}

// compileOver compiles an expression over a column x.
func compileOver(t testing.TB, src string, typ types.Type, env *fn.Env) *expr.Program {
	t.Helper()
	// The binder of a lone expression knows no columns: NULL stands for x.
	null := regexp.MustCompile(`\bx\b`).ReplaceAllString(src, "CAST(NULL AS "+typ.String()+")")
	tree, errs := parse.Expr(null)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	e, err := (&bind.Binder{Env: env}).Expr(tree)
	if err != nil {
		t.Fatal(err)
	}
	p, err := expr.Compile(expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if lit, ok := e.(*expr.Lit); ok && lit.Value.Validity().IsNull(0) {
			return expr.NewCol(0, "x", typ)
		}
		if c, ok := e.(*expr.Cast); ok && c.Typ.Equal(typ) {
			return expr.NewCol(0, "x", typ)
		}
		return e
	}), env)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
