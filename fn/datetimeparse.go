package fn

import (
	"bytes"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/datepattern"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

func init() { Register(toDateDef, toTimestampDef, unixTimestampDef, convertTzDef) }

var toDateDef = &Def{
	Name: "TO_DATE", Family: familyTime, Syntax: "TO_DATE(string [, pattern])",
	Doc: "Reads a date; NULL if the text is none. Without a pattern the text is like '2024-02-29', with one it is read by the lax rules of " +
		"java.text.SimpleDateFormat: days beyond the end of a month carry over, and text behind the pattern's end is ignored.",
	Examples: []Example{
		{"TO_DATE('2024-02-29')", "2024-02-29 :: DATE"},
		{"TO_DATE('29.02.2024', 'dd.MM.yyyy')", "2024-02-29 :: DATE"},
		{"TO_DATE('2024/02/31', 'yyyy/MM/dd')", "2024-03-02 :: DATE"},
		{"TO_DATE('1500-01-01', 'yyyy-MM-dd')", "1500-01-01 :: DATE"},
		{"TO_DATE('x', 'yyyy')", "NULL :: DATE"},
		{"TO_DATE('x', 'b')", "error"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		if _, err := c.Check(1, TextArg, TextArg); err != nil {
			return nil, err
		}
		t := types.Of(types.Date)
		if len(c.Args) == 1 {
			return &Bound{Result: t, Kernel: MapNull1(t, text.ParseDate)}, nil
		}
		p, err := simplePatterns(c)
		if err != nil {
			return nil, err
		}
		return &Bound{Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			s := args[0].(*batch.Bytes)
			return Fixed(t, rows, func(i int) (int32, bool, error) {
				f, err := p.get(patternAt(args, i))
				if err != nil {
					return 0, false, err
				}
				ms, ok := f.Parse(s.At(i), utc)
				days := dayOf(ms)
				return int32(days), ok && days == int(int32(days)), nil
			})
		}}, nil
	}),
}

var toTimestampDef = &Def{
	Name: "TO_TIMESTAMP", Family: familyTime, Syntax: "TO_TIMESTAMP(string [, pattern])",
	Doc: "Reads a timestamp; NULL if the text is none. Without a pattern the text is like '2024-02-29 12:34:56.789'. A pattern is one of " +
		"java.time.format.DateTimeFormatter; text that does not match it may still be of the form '2024-2-9' or '2024-2-9 1:2:3.5'. " +
		"Fields that the pattern does not have are those of 1970-01-01 00:00:00.",
	Examples: []Example{
		{"TO_TIMESTAMP('2024-02-29 12:34:56.789')", "2024-02-29 12:34:56.789 :: TIMESTAMP(3)"},
		{"TO_TIMESTAMP('2024-02-29')", "2024-02-29 00:00:00.000 :: TIMESTAMP(3)"},
		{"TO_TIMESTAMP('29/02/2024 03:04 PM', 'dd/MM/yyyy hh:mm a')", "2024-02-29 15:04:00.000 :: TIMESTAMP(3)"},
		{"TO_TIMESTAMP('2024-02-29T12:34:56.7', 'yyyy-MM-dd''T''HH:mm:ss[.SSS][.S]')", "2024-02-29 12:34:56.700 :: TIMESTAMP(3)"},
		{"TO_TIMESTAMP('2024-2-9', 'yyyyMMdd')", "2024-02-09 00:00:00.000 :: TIMESTAMP(3)"},
		{"TO_TIMESTAMP('x', 'yyyy')", "NULL :: TIMESTAMP(3)"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		if _, err := c.Check(1, TextArg, TextArg); err != nil {
			return nil, err
		}
		t := types.TimeOf(types.Timestamp, 3)
		if len(c.Args) == 1 {
			return &Bound{Result: t, Kernel: MapNull1(t, func(s []byte) (int64, bool) {
				at, ok := text.ParseTimestamp(s, 3)
				return at.Ms, ok
			})}, nil
		}
		p := patterns()
		return &Bound{Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			s := args[0].(*batch.Bytes)
			return Fixed(t, rows, func(i int) (int64, bool, error) {
				f, err := p.get(args[1].(*batch.Bytes).At(i))
				if err != nil { // a pattern that is wrong matches nothing
					return 0, false, nil
				}
				at, ok := parseByPattern(f, s.At(i))
				return at.Ms, ok, nil
			})
		}}, nil
	}),
}

// parseByPattern reads wall time by a pattern, or else in the forms that need
// none.
func parseByPattern(f *datepattern.Formatter, s []byte) (types.TS, bool) {
	if at, ok := f.Parse(s); ok {
		return at, true
	}
	return parseJDBC(s)
}

// parseJDBC reads what java.sql.Date and java.sql.Timestamp read: 2024-2-9 and
// 2024-2-9 1:2:3.5, where a day or an hour may be too large.
func parseJDBC(s []byte) (t types.TS, ok bool) {
	date, clock, timed := bytes.Cut(bytes.TrimSpace(s), []byte{' '})
	y, rest, _ := bytes.Cut(date, []byte{'-'})
	m, d, _ := bytes.Cut(rest, []byte{'-'})
	year, ok1 := shortNumber(y, 4)
	month, ok2 := shortNumber(m, 2)
	day, ok3 := shortNumber(d, 2)
	if !ok1 || !ok2 || !ok3 || len(y) != 4 || year < 1 || month < 1 || month > 12 || day < 1 || day > 31 {
		return t, false
	}
	t.Ms = int64(text.DaysFromCivil(year, month, day)) * text.MsPerDay
	if !timed {
		return t, true
	}
	h, clock, _ := bytes.Cut(clock, []byte{':'})
	mi, sec, _ := bytes.Cut(clock, []byte{':'})
	sec, frac, point := bytes.Cut(sec, []byte{'.'})
	hour, ok1 := shortNumber(h, 9)
	minute, ok2 := shortNumber(mi, 9)
	second, ok3 := shortNumber(sec, 9)
	if !ok1 || !ok2 || !ok3 {
		return t, false
	}
	t.Ms += int64(hour)*text.MsPerHour + int64(minute)*text.MsPerMinute + int64(second)*text.MsPerSecond
	if point {
		n, ok := shortNumber(frac, 9)
		if !ok {
			return t, false
		}
		for range 9 - len(frac) {
			n *= 10
		}
		t.Ms, t.Ns = t.Ms+int64(n/1_000_000), int32(n%1_000_000)
	}
	return t, true
}

// shortNumber reads 1 to most digits.
func shortNumber(b []byte, most int) (n int, ok bool) {
	if len(b) == 0 || len(b) > most {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

var unixTimestampDef = &Def{
	Name: "UNIX_TIMESTAMP", Family: familyTime, Syntax: "UNIX_TIMESTAMP([string [, pattern]])",
	Doc: "Returns a time in seconds since 1970-01-01 00:00:00 UTC: the current time, or that which the string names in the session's time " +
		"zone. Text that does not match the pattern gives NULL, and is an error where the string is NOT NULL and so the result is." + simplePatternDoc,
	Examples: []Example{
		{"UNIX_TIMESTAMP('2024-02-29 12:00:00')", "1709208000 :: BIGINT NOT NULL"},
		{"UNIX_TIMESTAMP('29.02.2024 10:00', 'dd.MM.yyyy HH:mm')", "1709200800 :: BIGINT NOT NULL"},
		{"UNIX_TIMESTAMP() > 0", "TRUE :: BOOLEAN NOT NULL"},
		{"UNIX_TIMESTAMP(CAST(NULL AS STRING))", "NULL :: BIGINT"},
		{"UNIX_TIMESTAMP(NULLIF('x', ''))", "NULL :: BIGINT"},
		{"UNIX_TIMESTAMP('x')", "error"},
	},
	Volatile: true,
	Bind:     typed(bindUnixTimestamp),
}

func bindUnixTimestamp(c *Call) (*Bound, error) {
	if _, err := c.Check(0, TextArg, TextArg); err != nil {
		return nil, err
	}
	t := c.Strict(types.Of(types.BigInt))
	if len(c.Args) == 0 {
		return &Bound{Result: t, Kernel: func(rows Rows, _ []batch.Vector) (batch.Vector, error) {
			return repeatMillis(c.Env.Now().Unix(), t, rows.N), nil
		}}, nil
	}
	p, err := simplePatterns(c)
	if err != nil {
		return nil, err
	}
	loc := c.location()
	return &Bound{Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s := args[0].(*batch.Bytes)
		return Fixed(t, rows, func(i int) (int64, bool, error) {
			pattern := patternAt(args, i)
			f, err := p.get(pattern)
			if err != nil {
				return 0, false, err
			}
			ms, ok := f.Parse(s.At(i), loc)
			if !ok && !t.Nullable {
				return 0, false, Failf(i, "%s is no time of the pattern '%s', and the result cannot be NULL since the argument cannot; "+
					"write NULLIF(argument, '')", strconv.Quote(string(s.At(i))), pattern)
			}
			return floorDiv(ms, text.MsPerSecond), ok, nil
		})
	}}, nil
}

var convertTzDef = &Def{
	Name: "CONVERT_TZ", Family: familyTime, Syntax: "CONVERT_TZ(string, from, to)",
	Doc: "Converts a time such as '2024-02-29 12:00:00' from one time zone to another; NULL if the text is no such time. Zones are names " +
		"such as 'Europe/Paris', or offsets such as 'GMT+05:30'; an unknown one gives NULL, and is an error where it is a literal.",
	Examples: []Example{
		{"CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')", "1969-12-31 16:00:00 :: STRING"},
		{"CONVERT_TZ('2024-03-10 02:30:00', 'America/New_York', 'UTC')", "2024-03-10 07:30:00 :: STRING"},
		{"CONVERT_TZ('2024-07-01', 'UTC', 'Asia/Tokyo')", "NULL :: STRING"},
		{"CONVERT_TZ('2024-07-01 12:00:00', 'UTC', CAST(NULL AS STRING))", "NULL :: STRING"},
		{"CONVERT_TZ('2024-07-01 12:00:00', 'Nope', 'UTC')", "error"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		if _, err := c.Check(3, TextArg, TextArg, TextArg); err != nil {
			return nil, err
		}
		from, to := zones(text.ParseOldZone), zones(text.ParseOldZone)
		if err := from.check(c, 1); err != nil {
			return nil, err
		}
		if err := to.check(c, 2); err != nil {
			return nil, err
		}
		f, err := datepattern.CompileSimple(secondsPattern, c.Env.Now())
		if err != nil {
			return nil, err
		}
		t := types.StringType()
		return &Bound{Result: t, Kernel: TextErr3(t, func(dst, s, a, b []byte) ([]byte, bool, error) {
			there, err := from.get(a)
			here, err2 := to.get(b)
			if err != nil || err2 != nil {
				return dst, false, nil
			}
			ms, ok := f.Parse(s, there)
			if !ok {
				return dst, false, nil
			}
			return f.Append(dst, ms, here), true, nil
		})}, nil
	}),
}
