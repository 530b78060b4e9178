package fn

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(printfDef)
}

var printfDef = &Def{
	Name: "PRINTF", Family: familyString, Syntax: "PRINTF(format, value, ...)",
	Doc: "Returns the format with its specifiers, which are those of Java (%d, %5.2f, %-10s, %x, %e, %b, %c, %1$s ...), replaced by the values. " +
		"NULL if the format is wrong or a value does not fit its specifier. %h and %t are not known.",
	Examples: []Example{
		{"PRINTF('%s has %d', 'a', 5)", "a has 5 :: STRING"},
		{"PRINTF('%05.1f|%-5d|', 3.14159e0, 7)", "'003.1|7    |' :: STRING"},
		{"PRINTF('%2$s %1$s', 'a', 'b')", "b a :: STRING"},
		{"PRINTF('%,d', 1234567)", "1,234,567 :: STRING"},
		{"PRINTF('%s', CAST(NULL AS STRING))", "null :: STRING"},
		{"PRINTF('%d', 'a')", "NULL :: STRING"},
	},
	NullCall: true,
	Bind: func(c *Call) (*Bound, error) {
		if err := c.Arity(1, -1); err != nil {
			return nil, err
		}
		b := &Bound{Params: make([]types.Type, len(c.Args)), Result: types.StringType()}
		var err error
		if b.Params[0], err = c.Want(0, TextArg); err != nil {
			return nil, err
		}
		for i := 1; i < len(c.Args); i++ {
			t := c.Args[i].Type
			if t.Kind == types.Null {
				b.Params[i] = types.StringType()
			} else if t.IsNested() || t.IsBinary() || t.Phys() == types.PhysNone {
				return nil, c.Misfit(i, "a value that can be printed")
			}
		}
		b.Kernel = printfKernel(b.Result)
		return b, nil
	},
}

func printfKernel(t types.Type) Kernel {
	var (
		last  []byte
		specs []formatSpec
		valid bool
	)
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		format := args[0].(*batch.Bytes)
		p := printer{args: args[1:]}
		return Bytes(t, rows, sizeOf(args), func(dst []byte, i int) ([]byte, bool, error) {
			if format.Valid.IsNull(i) {
				return dst, false, nil
			}
			if specs == nil || !bytes.Equal(last, format.At(i)) {
				last = append(last[:0], format.At(i)...)
				specs, valid = parseFormat(string(last))
			}
			if !valid {
				return dst, false, nil
			}
			out, ok := p.print(dst, specs, i)
			return out, ok, nil
		})
	}
}

// formatSpec is a specifier with the text before it, or the text at the end
// (verb 0).
type formatSpec struct {
	before string
	verb   byte // in lower case
	upper  bool
	arg    int // from 1; 0: the next one; -1: the last one used
	width  int // -1: none
	prec   int // -1: none
	flags  string
}

func (f *formatSpec) has(flag byte) bool { return strings.IndexByte(f.flags, flag) >= 0 }

// parseFormat cuts a format into its specifiers; false if it is wrong.
func parseFormat(s string) ([]formatSpec, bool) {
	specs := []formatSpec{}
	for {
		before, rest, found := strings.Cut(s, "%")
		if !found {
			return append(specs, formatSpec{before: before}), true
		}
		f := formatSpec{before: before, width: -1, prec: -1}
		n, ok := f.parse(rest)
		if !ok || !f.valid() {
			return specs, false
		}
		specs, s = append(specs, f), rest[n:]
	}
}

// parse reads what follows a %, and returns how long it is.
func (f *formatSpec) parse(s string) (n int, ok bool) {
	if d := countDigits(s); d > 0 && d < len(s) && s[d] == '$' {
		if f.arg, ok = atoi(s[:d]); !ok || f.arg == 0 {
			return 0, false
		}
		n = d + 1
	}
	for ; n < len(s) && strings.IndexByte("-#+ 0,(<", s[n]) >= 0; n++ {
		switch {
		case s[n] == '<':
			f.arg = -1
		case f.has(s[n]):
			return 0, false
		default:
			f.flags += s[n : n+1]
		}
	}
	if d := countDigits(s[n:]); d > 0 {
		if f.width, ok = atoi(s[n : n+d]); !ok {
			return 0, false
		}
		n += d
	}
	if n < len(s) && s[n] == '.' {
		d := countDigits(s[n+1:])
		if f.prec, ok = atoi(s[n+1 : n+1+d]); !ok {
			return 0, false
		}
		n += 1 + d
	}
	if n == len(s) {
		return 0, false
	}
	f.verb = s[n]
	if f.verb >= 'A' && f.verb <= 'Z' {
		f.upper = true
		f.verb |= 0x20
	}
	return n + 1, true
}

func countDigits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}

func atoi(s string) (int, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	return int(n), err == nil
}

// valid reports whether verb, flags, width and precision go together.
func (f *formatSpec) valid() bool {
	allowed, precision, upper := "", false, false
	switch f.verb {
	case 's', 'b':
		allowed, precision, upper = "-", true, true
	case 'c':
		allowed, upper = "-", true
	case 'd':
		allowed = "-+ 0,("
	case 'o':
		allowed = "-#0"
	case 'x':
		allowed, upper = "-#0", true
	case 'e':
		allowed, precision, upper = "-#+ 0(", true, true
	case 'f':
		allowed, precision = "-#+ 0,(", true
	case 'g':
		allowed, precision, upper = "-+ 0,(", true, true
	case 'a':
		allowed, precision, upper = "-+ 0", true, true
	case '%':
		allowed = "-"
	case 'n':
		return f.flags == "" && f.width < 0 && f.prec < 0 && !f.upper
	default:
		return false
	}
	return strings.Trim(f.flags, allowed) == "" && (precision || f.prec < 0) && (upper || !f.upper) &&
		(f.width >= 0 || !f.has('-') && !f.has('0')) && !(f.has('-') && f.has('0')) && !(f.has('+') && f.has(' '))
}

// printer prints the values of one batch.
type printer struct {
	args []batch.Vector
	buf  []byte
}

// print appends the row at position i; false if a value does not fit.
func (p *printer) print(dst []byte, specs []formatSpec, i int) ([]byte, bool) {
	next, last := 0, -1
	for k := range specs {
		f := &specs[k]
		dst = append(dst, f.before...)
		switch f.verb {
		case 0:
			continue
		case 'n':
			dst = append(dst, '\n')
			continue
		case '%':
			dst = f.pad(dst, []byte{'%'})
			continue
		}
		switch {
		case f.arg > 0:
			last = f.arg - 1
		case f.arg == 0:
			last, next = next, next+1
		}
		if last < 0 || last >= len(p.args) {
			return dst, false
		}
		out, ok := p.value(f, p.args[last], i)
		if !ok {
			return dst, false
		}
		if f.upper {
			out = appendUpper(nil, out)
		}
		dst = f.pad(dst, out)
	}
	return dst, true
}

// pad appends s, with blanks up to the width.
func (f *formatSpec) pad(dst, s []byte) []byte {
	blanks := f.width - text.UTF16Len(s)
	if f.has('-') {
		dst = append(dst, s...)
	}
	for ; blanks > 0; blanks-- {
		dst = append(dst, ' ')
	}
	if !f.has('-') {
		dst = append(dst, s...)
	}
	return dst
}

// value prints value i of v without padding by blanks.
func (p *printer) value(f *formatSpec, v batch.Vector, i int) ([]byte, bool) {
	p.buf = p.buf[:0]
	null := v.Validity().IsNull(i)
	if f.verb == 'b' {
		b, is := v.(*batch.Fixed[bool])
		return f.cut(strconv.AppendBool(p.buf, !null && (!is || b.Values[i]))), true
	}
	if null {
		return f.cut(append(p.buf, "null"...)), true
	}
	switch f.verb {
	case 's':
		return f.cut(appendJavaString(p.buf, v, i)), true
	case 'e', 'f', 'g', 'a':
		switch v := v.(type) {
		case *batch.Fixed[float64]:
			return f.float(p.buf, v.Values[i]), true
		case *batch.Fixed[float32]:
			return f.float(p.buf, float64(v.Values[i])), true
		}
		return nil, false
	}
	n, bits, ok := integerAt(v, i)
	switch {
	case !ok:
		return nil, false
	case f.verb == 'c':
		if bits == 64 || n < 0 || n > utf8.MaxRune {
			return nil, false
		}
		return appendChar(p.buf, rune(n)), true
	case f.verb == 'd':
		return f.signed(strconv.AppendUint(p.buf, magnitude(n), 10), n < 0, true), true
	}
	u := uint64(n) << (64 - bits) >> (64 - bits)
	base, prefix := 8, "0"
	if f.verb == 'x' {
		base, prefix = 16, "0x"
	}
	out := strconv.AppendUint(p.buf, u, base)
	if !f.has('#') {
		prefix = ""
	}
	return f.zeros(out, prefix, ""), true
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return uint64(-n)
	}
	return uint64(n)
}

// integerAt returns value i of a vector of integers, or of dates, times and
// intervals as the integers that they are, and the size in bits.
func integerAt(v batch.Vector, i int) (n int64, bits int, ok bool) {
	if t := v.Type(); t.Kind == types.Decimal || t.IsTimestamp() {
		return 0, 0, false
	}
	switch v := v.(type) {
	case *batch.Fixed[int8]:
		return int64(v.Values[i]), 8, true
	case *batch.Fixed[int16]:
		return int64(v.Values[i]), 16, true
	case *batch.Fixed[int32]:
		return int64(v.Values[i]), 32, true
	case *batch.Fixed[int64]:
		return v.Values[i], 64, true
	}
	return 0, 0, false
}

// cut shortens s to the precision.
func (f *formatSpec) cut(s []byte) []byte {
	if f.prec >= 0 {
		s, _ = text.CutChars(s, f.prec)
	}
	return s
}

// zeros puts a prefix before s and a suffix behind it, with zeros between
// prefix and s up to the width if that is asked for.
func (f *formatSpec) zeros(s []byte, prefix, suffix string) []byte {
	n := 0
	if f.has('0') {
		n = max(0, f.width-len(prefix)-len(s)-len(suffix))
	}
	out := make([]byte, 0, len(prefix)+n+len(s)+len(suffix))
	out = append(out, prefix...)
	out = append(out, bytes.Repeat([]byte{'0'}, n)...)
	return append(append(out, s...), suffix...)
}

// signed completes the digits of a number: groups, sign and zeros.
func (f *formatSpec) signed(digits []byte, negative, finite bool) []byte {
	if f.has(',') && finite {
		digits = grouped(digits)
	}
	prefix, suffix := "", ""
	switch {
	case negative && f.has('('):
		prefix, suffix = "(", ")"
	case negative:
		prefix = "-"
	case f.has('+'):
		prefix = "+"
	case f.has(' '):
		prefix = " "
	}
	if !finite {
		return []byte(prefix + string(digits) + suffix)
	}
	return f.zeros(digits, prefix, suffix)
}

// grouped puts commas between the thousands of the integer part.
func grouped(digits []byte) []byte {
	end := len(digits)
	if point := bytes.IndexByte(digits, '.'); point >= 0 {
		end = point
	}
	var out []byte
	for i, c := range digits[:end] {
		if i > 0 && (end-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, c)
	}
	return append(out, digits[end:]...)
}

// float prints a number by the verbs e, f, g and a.
func (f *formatSpec) float(buf []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(buf, "NaN"...)
	case math.IsInf(x, 0):
		return f.signed(append(buf, "Infinity"...), x < 0, false)
	case f.verb == 'a':
		return f.hexFloat(buf, x)
	}
	negative := math.Signbit(x)
	digits, exp := shortestDigits(math.Abs(x))
	prec := f.prec
	if prec < 0 {
		prec = 6
	}
	verb := f.verb
	if verb == 'g' {
		prec = max(prec, 1)
		if x == 0 || math.Abs(x) >= 1e-4 && math.Abs(x) < math.Pow10(prec) {
			verb, prec = 'f', prec-exp
		} else {
			verb, prec = 'e', prec-1
		}
	}
	if verb == 'f' {
		return f.signed(appendFixed(buf, digits, exp, max(prec, 0), f.has('#')), negative, true)
	}
	return f.signed(appendExponent(buf, digits, exp, prec, f.has('#')), negative, true)
}

// shortestDigits returns the digits of x >= 0 and the exponent that makes it
// 0.digits * 10^exp. Java prints numbers from these, not from the exact value.
func shortestDigits(x float64) (digits []byte, exp int) {
	if x == 0 {
		return []byte{'0'}, 1
	}
	s := strconv.FormatFloat(x, 'e', -1, 64)
	mant, e, _ := strings.Cut(s, "e")
	exp, _ = strconv.Atoi(e)
	return []byte(strings.Replace(mant, ".", "", 1)), exp + 1
}

// rounded returns the first n digits, rounded half up; carry tells that they
// became one more.
func rounded(digits []byte, n int) (out []byte, carry bool) {
	if n < 0 {
		return nil, false
	}
	if n >= len(digits) {
		return digits, false
	}
	out = bytes.Clone(digits[:n])
	if digits[n] < '5' {
		return out, false
	}
	for i := n - 1; i >= 0; i-- {
		if out[i] != '9' {
			out[i]++
			return out, false
		}
		out[i] = '0'
	}
	return append([]byte{'1'}, out...), true
}

// appendFixed appends 0.digits * 10^exp with prec digits behind the point.
func appendFixed(buf, digits []byte, exp, prec int, point bool) []byte {
	digits, carry := rounded(digits, exp+prec)
	if carry {
		exp++
	}
	at := func(i int) byte {
		if i >= 0 && i < len(digits) {
			return digits[i]
		}
		return '0'
	}
	if exp <= 0 {
		buf = append(buf, '0')
	}
	for i := range max(exp, 0) {
		buf = append(buf, at(i))
	}
	if prec > 0 || point {
		buf = append(buf, '.')
	}
	for i := range prec {
		buf = append(buf, at(exp+i))
	}
	return buf
}

// appendExponent appends d.ddde+xx.
func appendExponent(buf, digits []byte, exp, prec int, point bool) []byte {
	zero := digits[0] == '0'
	digits, carry := rounded(digits, prec+1)
	if carry {
		exp++
	}
	buf = append(buf, digits[0])
	if prec > 0 || point {
		buf = append(buf, '.')
	}
	for i := 1; i <= prec; i++ {
		if i < len(digits) {
			buf = append(buf, digits[i])
		} else {
			buf = append(buf, '0')
		}
	}
	exp--
	if zero {
		exp = 0
	}
	sign := byte('+')
	if exp < 0 {
		sign, exp = '-', -exp
	}
	buf = append(buf, 'e', sign)
	if exp < 10 {
		buf = append(buf, '0')
	}
	return strconv.AppendInt(buf, int64(exp), 10)
}

// hexFloat prints 0x1.8p1.
func (f *formatSpec) hexFloat(buf []byte, x float64) []byte {
	s := strconv.FormatFloat(math.Abs(x), 'x', max(f.prec, -1), 64)
	mant, exp, _ := strings.Cut(strings.TrimPrefix(s, "0x"), "p")
	if !strings.Contains(mant, ".") {
		mant += ".0"
	}
	e, _ := strconv.Atoi(exp)
	digits := append(append(buf, mant...), 'p')
	sign := ""
	switch {
	case math.Signbit(x):
		sign = "-"
	case f.has('+'):
		sign = "+"
	case f.has(' '):
		sign = " "
	}
	return f.zeros(strconv.AppendInt(digits, int64(e), 10), sign+"0x", "")
}

// appendJavaString appends a value as Java's String.valueOf prints it: numbers
// and texts as CAST does, dates, times and intervals as numbers, timestamps with
// a T.
func appendJavaString(dst []byte, v batch.Vector, i int) []byte {
	switch v := v.(type) {
	case *batch.Bytes:
		return append(dst, v.At(i)...)
	case *batch.Fixed[bool]:
		return strconv.AppendBool(dst, v.Values[i])
	case *batch.Fixed[float64]:
		return text.AppendDouble(dst, v.Values[i])
	case *batch.Fixed[float32]:
		return text.AppendFloat(dst, v.Values[i])
	case *batch.Fixed[types.TS]:
		return appendLocalDateTime(dst, v.Values[i])
	case *batch.Fixed[types.Int128]:
		return v.Values[i].AppendDecimal(dst, int(v.Typ.Scale))
	case *batch.Fixed[int64]:
		switch v.Typ.Kind {
		case types.Decimal:
			return types.Int128FromInt64(v.Values[i]).AppendDecimal(dst, int(v.Typ.Scale))
		case types.Timestamp, types.TimestampLTZ:
			return appendLocalDateTime(dst, types.TS{Ms: v.Values[i]})
		}
	}
	n, _, _ := integerAt(v, i)
	return strconv.AppendInt(dst, n, 10)
}

// appendLocalDateTime prints 2024-01-01T10:20:30.123, the seconds and the
// fraction in threes only where they are needed.
func appendLocalDateTime(dst []byte, t types.TS) []byte {
	days, ms := text.SplitDay(t.Ms)
	dst = append(text.AppendDate(dst, int32(days)), 'T')
	nanos := ms%text.MsPerSecond*1_000_000 + int(t.Ns)
	clock := text.AppendTime(nil, int32(ms), 0)
	if nanos == 0 && ms%text.MsPerMinute == 0 {
		return append(dst, clock[:5]...)
	}
	dst = append(dst, clock...)
	switch {
	case nanos == 0:
		return dst
	case nanos%1_000_000 == 0:
		return appendPadded(append(dst, '.'), nanos/1_000_000, 3)
	case nanos%1000 == 0:
		return appendPadded(append(dst, '.'), nanos/1000, 6)
	}
	return appendPadded(append(dst, '.'), nanos, 9)
}

// appendPadded appends a number with zeros before it, up to a width.
func appendPadded(dst []byte, n, width int) []byte {
	digits := strconv.Itoa(n)
	for range width - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
