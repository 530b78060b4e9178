package bind

import (
	"strings"

	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/types"
)

func upper(s string) string { return strings.ToUpper(s) }

// call binds a call of a scalar or an aggregate function.
func (b *Binder) call(s *scope, c *ast.Call) expr.Expr {
	name := upper(c.FuncName())
	if e, handled := b.groupFunction(s, c, name); handled {
		return e
	}
	if _, is := rankFuncs[name]; is && c.Over != nil {
		return b.rankCall(s, c, name)
	}
	if c.Over != nil && len(c.Name.Parts) == 1 {
		return b.overFunction(s, c, name)
	}
	if b.refused(c, name) {
		return nil
	}
	if agg := fn.LookupAgg(name); agg != nil && (s.aggs != nil || fn.Lookup(name) == nil) {
		return b.aggCall(s, c, agg)
	}
	if c.Distinct || c.Star || c.Filter != nil {
		if fn.Lookup(name) != nil {
			b.errorf(c.Pos(), "%s is no aggregate function: DISTINCT, * and FILTER have no meaning there", name)
		} else {
			b.unknownFunction(c, name)
		}
		return nil
	}
	if special := conditionals[name]; special != nil {
		args := b.exprs(s, c.Args)
		if args == nil && len(c.Args) > 0 {
			return nil
		}
		return special(b, c, args)
	}
	def := fn.Lookup(name)
	if def == nil || def.Internal {
		b.unknownFunction(c, name)
		return nil
	}
	args, symbols, ok := b.arguments(s, c)
	if !ok {
		return nil
	}
	if name == fn.CurrentWatermark && len(args) == 1 && args[0].Type().Attr != types.Rowtime {
		b.noEventTime(s, c, args[0])
		return nil
	}
	return b.apply(c.Pos(), def, positions(c.Args), args, symbols)
}

// refused reports what a call uses that is not supported yet.
func (b *Binder) refused(c *ast.Call, name string) bool {
	agg := fn.LookupAgg(name) != nil // which looks at its clauses itself
	switch {
	case len(c.Name.Parts) > 1:
		b.unsupported(c.Pos(), "the user-defined function "+strings.Join(c.Name.Strings(), "."))
	case needsEnd[name] || needsRow[name]:
		b.errorf(c.Pos(), "%s needs an OVER (...)", name)
	case len(c.WithinGroup) > 0 && !agg:
		b.unsupported(c.WithinGroup[0].Pos(), "WITHIN GROUP")
	case len(c.OrderBy) > 0 && !agg:
		b.unsupported(c.OrderBy[0].Pos(), "ORDER BY within an aggregate function")
	case c.Nulls != ast.NullsDefault && !agg:
		b.unsupported(c.Pos(), "IGNORE NULLS and RESPECT NULLS")
	case c.Semantics != "":
		b.unsupported(c.Pos(), c.Semantics)
	case c.JSON != nil && !agg:
		b.unsupported(c.Pos(), name)
	case name == "APPROX_COUNT_DISTINCT":
		b.errorf(c.Pos(), "%s is not there for streams, as in Flink", name).WithHint("use COUNT(DISTINCT ..)")
	case flinkFunctions[name] && fn.Lookup(name) == nil && !agg:
		b.unsupported(c.Pos(), name)
	default:
		return false
	}
	return true
}

// flinkFunctions are the functions of Flink 2.3. One that is not in the registry is not supported yet; a name that is neither
// here nor there is unknown.
var flinkFunctions = wordSet(`
	ABS ACOS APPROX_COUNT_DISTINCT ARRAY_AGG ARRAY_APPEND ARRAY_CONCAT ARRAY_CONTAINS ARRAY_DISTINCT ARRAY_EXCEPT
	ARRAY_INTERSECT ARRAY_JOIN ARRAY_MAX ARRAY_MIN ARRAY_POSITION ARRAY_PREPEND ARRAY_REMOVE ARRAY_REVERSE ARRAY_SLICE
	ARRAY_SORT ARRAY_UNION ASCII ASIN ATAN ATAN2 AVG BIN BITMAP_AND BITMAP_ANDNOT BITMAP_AND_AGG
	BITMAP_AND_CARDINALITY_AGG BITMAP_BUILD BITMAP_BUILD_AGG BITMAP_BUILD_CARDINALITY_AGG BITMAP_CARDINALITY
	BITMAP_FROM_BYTES BITMAP_OR BITMAP_OR_AGG BITMAP_OR_CARDINALITY_AGG BITMAP_TO_ARRAY BITMAP_TO_BYTES BITMAP_TO_STRING
	BITMAP_XOR BITMAP_XOR_AGG BITMAP_XOR_CARDINALITY_AGG BTRIM CARDINALITY CEIL CEILING CHARACTER_LENGTH CHAR_LENGTH CHR
	COLLECT CONCAT CONCAT_WS CONVERT_TZ COS COSH COT COUNT CUME_DIST CURRENT_DATABASE CURRENT_DATE CURRENT_ROW_TIMESTAMP
	CURRENT_TIME CURRENT_TIMESTAMP CURRENT_WATERMARK DATE_FORMAT DAYOFMONTH DAYOFWEEK DAYOFYEAR DECODE DEGREES DENSE_RANK
	E ELEMENT ELT ENCODE ENDSWITH EXP EXTRACT FIRST_VALUE FLOOR FROM_BASE64 FROM_UNIXTIME GREATEST GROUPING GROUPING_ID
	GROUP_ID HEX HOP_END HOP_PROCTIME HOP_ROWTIME HOP_START HOUR INET_ATON INET_NTOA INITCAP INSTR IS_ALPHA IS_DECIMAL
	IS_DIGIT JSON JSON_ARRAY JSON_ARRAYAGG JSON_EXISTS JSON_LENGTH JSON_OBJECT JSON_OBJECTAGG JSON_QUERY JSON_QUOTE
	JSON_STRING JSON_UNQUOTE JSON_VALUE LAG LAST_VALUE LEAD LEAST LEFT LISTAGG LN LOCALTIME LOCALTIMESTAMP LOCATE LOG
	LOG10 LOG2 LOWER LPAD LTRIM MAP_ENTRIES MAP_FROM_ARRAYS MAP_KEYS MAP_UNION MAP_VALUES MATCH_PROCTIME MATCH_ROWTIME
	MAX MD5 MIN MINUTE MOD MONTH NOW NTILE OBJECT_OF OBJECT_UPDATE OVERLAY PARSE_JSON PARSE_URL PERCENTILE PERCENT_RANK
	PI POSITION POWER PRINTF PROCTIME QUARTER RADIANS RAND RAND_INTEGER RANK REGEXP REGEXP_COUNT REGEXP_EXTRACT
	REGEXP_EXTRACT_ALL REGEXP_INSTR REGEXP_REPLACE REGEXP_SUBSTR REPEAT REPLACE REVERSE RIGHT ROUND ROW_NUMBER RPAD RTRIM
	SECOND SESSION_END SESSION_PROCTIME SESSION_ROWTIME SESSION_START SHA1 SHA2 SHA224 SHA256 SHA384 SHA512 SIGN SIN SINH
	SOURCE_WATERMARK SPLIT SPLIT_INDEX SQRT STARTSWITH STDDEV STDDEV_POP STDDEV_SAMP STR_TO_MAP SUBSTR SUBSTRING SUM TAN
	TANH TIMESTAMPADD TIMESTAMPDIFF TO_BASE64 TO_DATE TO_TIMESTAMP TO_TIMESTAMP_LTZ TRANSLATE TRIM TRUNCATE
	TRY_PARSE_JSON TUMBLE_END TUMBLE_PROCTIME TUMBLE_ROWTIME TUMBLE_START TYPEOF UNHEX UNIX_TIMESTAMP UPPER URL_DECODE
	URL_ENCODE UUID VARIANCE VAR_POP VAR_SAMP WEEK YEAR`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

func (b *Binder) unknownFunction(c *ast.Call, name string) {
	b.unknown(c.Pos(), name, fn.Names(), "unknown function %s", c.FuncName())
}

// arguments binds a call's arguments; a keyword becomes an entry of symbols.
func (b *Binder) arguments(s *scope, c *ast.Call) (args []expr.Expr, symbols map[int]string, ok bool) {
	ok = true
	for i, a := range c.Args {
		if sym, is := a.(*ast.Symbol); is {
			if symbols == nil {
				symbols = map[int]string{}
			}
			symbols[i] = sym.Name
			args = append(args, nil)
			continue
		}
		x := b.expr(s, a)
		ok = ok && x != nil
		args = append(args, x)
	}
	return args, symbols, ok
}

// conditionals are functions that become a CASE.
var conditionals = map[string]func(b *Binder, c *ast.Call, args []expr.Expr) expr.Expr{
	"COALESCE": (*Binder).coalesce,
	"IFNULL":   (*Binder).coalesce,
	"IF":       (*Binder).ifCall,
	"NULLIF":   (*Binder).nullIf,
}

// arity checks the number of arguments; max < 0 is without limit.
func (b *Binder) arity(c *ast.Call, min, max int) bool {
	call := fn.Call{Def: &fn.Def{Name: upper(c.FuncName())}, Args: make([]fn.Arg, len(c.Args))}
	if err := call.Arity(min, max); err != nil {
		b.errorf(c.Pos(), "%s", err.Error())
		return false
	}
	return true
}

func (b *Binder) coalesce(c *ast.Call, args []expr.Expr) expr.Expr {
	most := -1
	least := 1
	if upper(c.FuncName()) == "IFNULL" {
		most, least = 2, 2
	}
	if !b.arity(c, least, most) {
		return nil
	}
	for i, a := range args {
		if a.Type().Kind != types.Null {
			break
		}
		if i == len(args)-1 {
			b.errorf(c.Pos(), "all arguments of %s are NULL, so it has no type", upper(c.FuncName()))
			return nil
		}
	}
	if len(args) == 1 {
		return args[0]
	}
	at := positions(c.Args)
	if _, ok := b.unify(fn.MergedType, typesOf(args), func(i int) diag.Pos { return at[i] }, upper(c.FuncName())); !ok {
		return nil
	}
	if t := args[0].Type(); upper(c.FuncName()) == "IFNULL" && !t.Nullable && t.Kind != types.Null && (t.IsChar() || t.IsBinary()) {
		return args[0] // as in Flink, a text that is never NULL keeps its type
	}
	out := b.checked(c.Pos())(expr.NewCoalesce(args, b.Env))
	if out == nil {
		return nil
	}
	return withAttr(out, args...)
}

// ifCall binds IF(cond, a, b). Its result can be NULL if any argument can, the condition included. It takes no
// nested types and no intervals.
func (b *Binder) ifCall(c *ast.Call, args []expr.Expr) expr.Expr {
	if !b.arity(c, 3, 3) {
		return nil
	}
	nullable := false
	for i, a := range args {
		if a.Type().Kind == types.Null {
			b.errorf(c.Args[i].Pos(), "IF cannot tell the type of NULL").WithHint("write CAST(NULL AS type)")
			return nil
		}
		nullable = nullable || a.Type().Nullable
	}
	if t := args[1].Type(); t.IsNested() || t.IsInterval() {
		b.errorf(c.Args[1].Pos(), "IF does not take %s", article(t)).WithHint("use CASE")
		return nil
	}
	out := b.newCase(c.Pos(), positions(c.Args)[1:], args[:1], args[1:2], args[2])
	if cs, is := out.(*expr.Case); is && nullable {
		wider := *cs
		wider.Typ.Nullable = true
		return &wider
	}
	return out
}

// nullIf binds NULLIF(a, b): CASE WHEN a = b THEN NULL ELSE a END.
func (b *Binder) nullIf(c *ast.Call, args []expr.Expr) expr.Expr {
	if !b.arity(c, 2, 2) {
		return nil
	}
	if args[0].Type().Kind == types.Null {
		b.errorf(c.Args[0].Pos(), "NULLIF cannot tell the type of NULL").WithHint("write CAST(NULL AS type)")
		return nil
	}
	args = typedNulls(args)
	eq := b.applyNamed(c.Pos(), "=", positions(c.Args), args...)
	if eq == nil {
		return nil
	}
	null := expr.Null(args[0].Type())
	return b.newCase(c.Pos(), positions(c.Args), []expr.Expr{eq}, []expr.Expr{null}, args[0])
}
