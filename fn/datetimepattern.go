package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/datepattern"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// compiled keeps what was last made of a text, such as a pattern: in a column
// of patterns most are like the one before.
type compiled[T any] struct {
	compile func(text string) (T, error)
	text    []byte
	done    bool
	value   T
	err     error
}

func (c *compiled[T]) get(text []byte) (T, error) {
	if !c.done || string(text) != string(c.text) {
		c.text = append(c.text[:0], text...)
		c.value, c.err = c.compile(string(text))
		c.done = true
	}
	return c.value, c.err
}

// check compiles argument i if it is constant, so that an error comes when the
// statement is planned.
func (c *compiled[T]) check(call *Call, i int) error {
	s, ok := call.ConstText(i)
	if !ok {
		return nil
	}
	if _, err := c.get([]byte(s)); err != nil {
		return Argf(i, "%s", err)
	}
	return nil
}

// patterns compiles patterns of java.time.
func patterns() *compiled[*datepattern.Formatter] {
	return &compiled[*datepattern.Formatter]{compile: datepattern.Compile}
}

// simplePatterns compiles patterns of java.text. The second argument of a call,
// if there is one, is the pattern.
func simplePatterns(c *Call) (*compiled[*datepattern.Simple], error) {
	p := &compiled[*datepattern.Simple]{compile: func(s string) (*datepattern.Simple, error) {
		return datepattern.CompileSimple(s, c.Env.Now())
	}}
	return p, p.check(c, 1)
}

// secondsPattern is the pattern where none is given.
const secondsPattern = "yyyy-MM-dd HH:mm:ss"

var secondsPatternBytes = []byte(secondsPattern)

// patternAt returns the pattern of a row: args[1], or the usual one.
func patternAt(args []batch.Vector, i int) []byte {
	if len(args) < 2 {
		return secondsPatternBytes
	}
	return args[1].(*batch.Bytes).At(i)
}

func init() { Register(dateFormatDef, fromUnixtimeDef) }

const simplePatternDoc = " The pattern is one of java.text.SimpleDateFormat, by default '" + secondsPattern + "'."

var dateFormatDef = &Def{
	Name: "DATE_FORMAT", Family: familyTime, Syntax: "DATE_FORMAT(x, pattern)",
	Doc: "Formats a timestamp by a pattern of java.time.format.DateTimeFormatter, such as 'yyyy-MM-dd HH:mm:ss.SSS'; a TIMESTAMP_LTZ in the " +
		"session's time zone. A string is read as '" + secondsPattern + "' first, both by the rules of java.text.SimpleDateFormat; NULL if it is no such text.",
	Examples: []Example{
		{"DATE_FORMAT(TIMESTAMP '2024-02-09 15:04:05.678', 'yyyy/MM/dd HH:mm:ss.SSS')", "2024/02/09 15:04:05.678 :: STRING"},
		{"DATE_FORMAT(TIMESTAMP '2024-02-09 15:04:05', 'EEEE, d MMMM, h a')", "Friday, 9 February, 3 PM :: STRING"},
		{"DATE_FORMAT('2024-02-09 15:04:05', 'yyyyMMdd')", "20240209 :: STRING"},
		{"DATE_FORMAT('2024-02-09', 'yyyyMMdd')", "NULL :: STRING"},
		{"DATE_FORMAT(TIMESTAMP '2024-02-09 15:04:05', CAST(NULL AS STRING))", "NULL :: STRING"},
		{"DATE_FORMAT(TIMESTAMP '2024-02-09 15:04:05', 'z')", "error"},
		{"DATE_FORMAT(DATE '2024-02-09', 'yyyy')", "error"},
	},
	Bind: typed(either(bindFormatTimestamp, bindFormatText)),
}

func bindFormatTimestamp(c *Call) (*Bound, error) {
	if _, err := c.Check(2, TimestampArg, TextArg); err != nil {
		return nil, err
	}
	p := patterns()
	if err := p.check(c, 1); err != nil {
		return nil, err
	}
	if s, ok := c.ConstText(1); ok { // A pattern may ask for what no timestamp has, such as a zone.
		if f, err := p.get([]byte(s)); err == nil {
			if _, err := f.Append(nil, types.TS{}); err == datepattern.ErrZone {
				return nil, Argf(1, "the pattern '%s': %s", s, err)
			}
		}
	}
	t := types.StringType()
	from := c.Args[0].Type
	zone := c.zoneOf(from)
	return &Bound{Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		ms, ns := wallMillis(rows, args[0], from, zone), nanosOf(args[0])
		in := args[1].(*batch.Bytes)
		var last formatted
		return Bytes(t, rows, 20*rows.Len(), func(dst []byte, i int) ([]byte, bool, error) {
			f, err := p.get(in.At(i))
			if err != nil {
				return dst, false, err
			}
			at := types.TS{Ms: ms[i]}
			if ns != nil {
				at.Ns = ns[i].Ns
			}
			dst, err = last.append(dst, f, at)
			return dst, true, err
		})
	}}, nil
}

// formatted remembers where the last text was written, and for which time it
// holds: rows that follow each other often fall into the same minute or day.
type formatted struct {
	f          *datepattern.Formatter
	unit       int64
	from, next int64
	start, end int
}

func (l *formatted) append(dst []byte, f *datepattern.Formatter, t types.TS) ([]byte, error) {
	if f == l.f && t.Ms >= l.from && t.Ms < l.next {
		return append(dst, dst[l.start:l.end]...), nil
	}
	if f != l.f {
		l.f, l.unit = f, f.Unit()
	}
	start := len(dst)
	dst, err := f.Append(dst, t)
	l.start, l.end, l.from, l.next = start, len(dst), 0, 0
	if l.unit > 1 {
		l.from = floorFixed(t.Ms, false, l.unit)
		l.next = l.from + l.unit
	}
	return dst, err
}

func bindFormatText(c *Call) (*Bound, error) {
	if _, err := c.Check(2, TextArg, TextArg); err != nil {
		return nil, err
	}
	out, err := simplePatterns(c)
	if err != nil {
		return nil, err
	}
	in, err := datepattern.CompileSimple(secondsPattern, c.Env.Now())
	if err != nil {
		return nil, err
	}
	t := types.StringType()
	return &Bound{Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s := args[0].(*batch.Bytes)
		return Bytes(t, rows, 20*rows.Len(), func(dst []byte, i int) ([]byte, bool, error) {
			f, err := out.get(patternAt(args, i))
			if err != nil {
				return dst, false, err
			}
			ms, ok := in.Parse(s.At(i), utc)
			if !ok {
				return dst, false, nil
			}
			return f.Append(dst, ms, utc), true, nil
		})
	}}, nil
}

var fromUnixtimeDef = &Def{
	Name: "FROM_UNIXTIME", Family: familyTime, Syntax: "FROM_UNIXTIME(seconds [, pattern])",
	Doc: "Formats a time in seconds since 1970-01-01 00:00:00 UTC in the session's time zone." + simplePatternDoc,
	Examples: []Example{
		{"FROM_UNIXTIME(1700000000)", "2023-11-14 22:13:20 :: STRING"},
		{"FROM_UNIXTIME(-1, 'yyyy/MM/dd')", "1969/12/31 :: STRING"},
		{"FROM_UNIXTIME(CAST(NULL AS BIGINT))", "NULL :: STRING"},
		{"FROM_UNIXTIME(0, 'b')", "error"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(1, IntegerArg, TextArg)
		if err != nil {
			return nil, err
		}
		p, err := simplePatterns(c)
		if err != nil {
			return nil, err
		}
		t, loc := types.StringType(), c.location()
		return &Bound{Params: params, Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			seconds := args[0].(*batch.Fixed[int64]).Values
			return Bytes(t, rows, 20*rows.Len(), func(dst []byte, i int) ([]byte, bool, error) {
				f, err := p.get(patternAt(args, i))
				if err != nil {
					return dst, false, err
				}
				ms := seconds[i] * text.MsPerSecond
				if ms/text.MsPerSecond != seconds[i] {
					return dst, false, Failf(i, "%d seconds are too many for a time", seconds[i])
				}
				return f.Append(dst, ms, loc), true, nil
			})
		}}, nil
	}),
}
