package fn

import "github.com/millstream-io/millstream/types"

func init() { RegisterAgg(avgDef) }

var avgDef = &AggDef{
	Name: "AVG", Syntax: "AVG(x)",
	Doc: "Returns the mean of the values that are not NULL, and NULL if there are none. The mean of integers has their type, its " +
		"fraction is cut off; the mean of DECIMAL(p, s) is a DECIMAL(38, s) with 6 digits behind the point at the least.",
	Examples: []AggExample{
		{Call: "AVG(x)", Type: "INT", Rows: []string{"1", "2", "NULL", "2"}, Want: "1 :: INT"},
		{Call: "AVG(x)", Type: "INT", Rows: []string{"-1", "-2"}, Want: "-1 :: INT"},
		{Call: "AVG(x)", Type: "BIGINT", Rows: []string{"9223372036854775807", "9223372036854775805"}, Want: "9223372036854775806 :: BIGINT"},
		{Call: "AVG(x)", Type: "DECIMAL(4, 2)", Rows: []string{"1", "2", "2"}, Want: "1.666667 :: DECIMAL(38, 6)"},
		{Call: "AVG(x)", Type: "DOUBLE NOT NULL", Rows: []string{"1", "2"}, Want: "1.5 :: DOUBLE NOT NULL"},
		{Call: "AVG(x)", Type: "FLOAT", Rows: nil, Want: "NULL :: FLOAT"},
		{Call: "AVG(x)", Type: "FLOAT", Rows: []string{"16777216", "1", "1"}, Want: "5592406.0 :: FLOAT"},
	},
	Bind: bindAvg,
}

func bindAvg(c *Call) (*BoundAgg, error) {
	t, err := aggArg(c, NumericArg)
	if err != nil {
		return nil, err
	}
	switch {
	case t.IsApprox():
		return bindFloats(t, true), nil
	case t.Kind == types.Decimal:
		result := meanType(t)
		return bindExact(t, exactBase{result, decimalMean(t, result)}), nil
	case c.Env.WrapIntegers:
		return bindExact(t, exactBase{t, wrapMean}), nil
	}
	return bindExact(t, exactBase{t, integerMean}), nil
}

// meanType is the type of means and deviations: that of the values, but with
// more digits for a DECIMAL.
func meanType(t types.Type) types.Type {
	if t.Kind == types.Decimal {
		return types.DecimalOf(types.MaxPrecision, max(int(t.Scale), 6)).WithNull(t.Nullable)
	}
	return t
}

// integerMean cuts off the fraction. The mean lies among the values, so it fits.
func integerMean(sum types.Int128, n int64) (types.Int128, error) {
	q, _ := sum.QuoRem(types.Int128FromInt64(n))
	return q, nil
}

// wrapMean divides what a sum of 64 bits would be, as Flink does.
func wrapMean(sum types.Int128, n int64) (types.Int128, error) {
	return types.Int128FromInt64(sum.Int64() / n), nil
}

func decimalMean(t, result types.Type) exactFinish {
	unit := types.Pow10(int(result.Scale - t.Scale))
	return func(sum types.Int128, n int64) (types.Int128, error) {
		q, ok := types.MulQuoRound(sum, unit, types.Int128FromInt64(n))
		if !ok || !q.FitsPrecision(types.MaxPrecision) {
			return q, tooManyDigits("AVG", result)
		}
		return q, nil
	}
}
