package fn

import (
	"bytes"
	"math"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(urlEncodeDef, urlDecodeDef, parseURLDef, inetAtonDef, inetNtoaDef)
}

var urlEncodeDef = &Def{
	Name: "URL_ENCODE", Family: familyString, Syntax: "URL_ENCODE(string)",
	Doc: "Returns the string as it stands in the query of a URL: a blank as +, and each byte of the UTF-8 form but letters, digits, -, _, . and * as %XX.",
	Examples: []Example{
		{"URL_ENCODE('a b&é')", "a+b%26%C3%A9 :: STRING"},
		{"URL_ENCODE('-_.*~')", "-_.*%7E :: STRING"},
		{"URL_ENCODE(NULL)", "NULL :: STRING"},
	},
	Bind: nullable(types.StringType(), func(t types.Type) Kernel { return Text1(t, appendURLEncoded) }, TextArg),
}

func appendURLEncoded(dst, s []byte) []byte {
	const digits = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == '*':
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		case isSurrogate(s[i:]):
			dst = append(dst, "%3F"...)
			i += 2
		default:
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
	}
	return dst
}

var urlDecodeDef = &Def{
	Name: "URL_DECODE", Family: familyString, Syntax: "URL_DECODE(string)",
	Doc: "Returns the string that another one stands for in the query of a URL. NULL if a % is not followed by two hexadecimal digits.",
	Examples: []Example{
		{"URL_DECODE('a+b%20%C3%A9')", "a b é :: STRING"},
		{"URL_DECODE('%zz')", "NULL :: STRING"},
	},
	Bind: nullable(types.StringType(), func(t types.Type) Kernel { return TextErr1(t, appendURLDecoded) }, TextArg),
}

func appendURLDecoded(dst, s []byte) ([]byte, bool, error) {
	var octets []byte
	for i := 0; i < len(s); {
		if s[i] != '%' {
			if s[i] == '+' {
				dst = append(dst, ' ')
			} else {
				dst = append(dst, s[i])
			}
			i++
			continue
		}
		octets = octets[:0]
		for ; i < len(s) && s[i] == '%'; i += 3 {
			if i+2 >= len(s) {
				return dst, false, nil
			}
			hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2])
			if s[i+1] == '+' { // Java reads the two characters as a number with a sign
				hi = 0
			}
			if hi < 0 || lo < 0 {
				return dst, false, nil
			}
			octets = append(octets, byte(hi<<4|lo))
		}
		dst = text.AppendValidUTF8(dst, octets)
	}
	return dst, true, nil
}

var parseURLDef = &Def{
	Name: "PARSE_URL", Family: familyString, Syntax: "PARSE_URL(url, part [, key])",
	Doc: "Returns a part of the URL: PROTOCOL, HOST, PATH, QUERY, REF, FILE, AUTHORITY or USERINFO; for QUERY, a key picks the value of one parameter, as it stands there. " +
		"NULL if the URL has no such part, or is none (its protocol must be http, https, ftp, file, mailto, jar or jrt).",
	Examples: []Example{
		{"PARSE_URL('http://user@example.com:80/p?a=1&b=2#frag', 'HOST')", "example.com :: STRING"},
		{"PARSE_URL('http://user@example.com:80/p?a=1&b=2#frag', 'QUERY', 'b')", "2 :: STRING"},
		{"PARSE_URL('http://user@example.com:80/p?a=1&b=2#frag', 'FILE')", "/p?a=1&b=2 :: STRING"},
		{"PARSE_URL('foo://x', 'HOST')", "NULL :: STRING"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(2, TextArg, TextArg, TextArg)
		if err != nil {
			return nil, err
		}
		t := types.StringType()
		return &Bound{Params: params, Result: t, Kernel: parseURLKernel(t)}, nil
	}),
}

func parseURLKernel(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		urls, parts := args[0].(*batch.Bytes), args[1].(*batch.Bytes)
		return Bytes(t, rows, 0, func(dst []byte, i int) ([]byte, bool, error) {
			var u urlParts
			if !u.parse(urls.At(i)) {
				return dst, false, nil
			}
			part, ok := u.part(string(parts.At(i)))
			if len(args) == 3 {
				if string(parts.At(i)) != "QUERY" {
					return dst, false, nil
				}
				part, ok = queryValue(part, args[2].(*batch.Bytes).At(i))
			}
			return append(dst, part...), ok, nil
		})
	}
}

// urlParts are the parts of a URL; nil for one that it does not have.
type urlParts struct {
	protocol                        []byte
	authority, userInfo, host       []byte
	path, query, ref                []byte
	file                            []byte
	hasAuthority, hasQuery, hasInfo bool
}

// parse takes a URL apart, the way that java.net.URL does.
func (u *urlParts) parse(s []byte) bool {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	if len(s) >= 4 && bytes.EqualFold(s[:4], []byte("url:")) {
		s = s[4:]
	}
	colon := bytes.IndexAny(s, ":/?#")
	if colon <= 0 || s[colon] != ':' {
		return false
	}
	u.protocol = bytes.ToLower(s[:colon])
	switch string(u.protocol) {
	case "http", "https", "ftp", "file", "mailto", "jar", "jrt":
	default:
		return false
	}
	s = s[colon+1:]
	if hash := bytes.IndexByte(s, '#'); hash >= 0 {
		u.ref, s = s[hash+1:], s[:hash]
	}
	return u.rest(s)
}

// rest takes apart what stands between protocol and reference.
func (u *urlParts) rest(s []byte) bool {
	switch string(u.protocol) {
	case "jar":
		u.path, u.file = s, s
		return bytes.Contains(s, []byte("!/"))
	case "mailto":
		u.ref = nil
	}
	if q := bytes.IndexByte(s, '?'); q >= 0 {
		u.query, u.hasQuery, s = s[q+1:], true, s[:q]
	}
	if bytes.HasPrefix(s, []byte("//")) {
		s = s[2:]
		end := bytes.IndexByte(s, '/')
		if end < 0 {
			end = len(s)
		}
		if !u.server(s[:end]) {
			return false
		}
		s = s[end:]
	}
	u.path, u.file = s, s
	if u.hasQuery {
		u.file = append(append(bytes.Clone(u.path), '?'), u.query...)
	}
	return true
}

// server takes the authority apart.
func (u *urlParts) server(s []byte) bool {
	u.authority, u.hasAuthority, u.host = s, true, s
	if at := bytes.IndexByte(s, '@'); at >= 0 {
		u.userInfo, u.hasInfo, u.host = s[:at], true, s[at+1:]
		if bytes.IndexByte(u.host, '@') >= 0 { // more than one: Java gives up on the host
			u.userInfo, u.hasInfo, u.host = nil, false, nil
		}
	}
	port := []byte(nil)
	if len(u.host) > 0 && u.host[0] == '[' {
		end := bytes.IndexByte(u.host, ']')
		if end < 0 {
			return false
		}
		if rest := u.host[end+1:]; len(rest) > 0 {
			if rest[0] != ':' {
				return false
			}
			port = rest[1:]
		}
		u.host = u.host[:end+1]
	} else if colon := bytes.IndexByte(u.host, ':'); colon >= 0 {
		port, u.host = u.host[colon+1:], u.host[:colon]
	}
	if len(port) == 0 {
		return true
	}
	n, err := strconv.ParseInt(string(port), 10, 32)
	return err == nil && n >= -1
}

// part returns a part by its name; ok is false if the URL has none.
func (u *urlParts) part(name string) (part []byte, ok bool) {
	switch name {
	case "PROTOCOL":
		return u.protocol, true
	case "HOST":
		return u.host, true
	case "PATH":
		return u.path, true
	case "QUERY":
		return u.query, u.hasQuery
	case "REF":
		return u.ref, u.ref != nil
	case "FILE":
		return u.file, true
	case "AUTHORITY":
		return u.authority, u.hasAuthority
	case "USERINFO":
		return u.userInfo, u.hasInfo
	}
	return nil, false
}

// queryValue returns the value of the first parameter of that name.
func queryValue(query, key []byte) ([]byte, bool) {
	for len(query) > 0 {
		param, rest, _ := bytes.Cut(query, []byte("&"))
		if bytes.HasPrefix(param, key) && len(param) > len(key) && param[len(key)] == '=' {
			return param[len(key)+1:], true
		}
		query = rest
	}
	return nil, false
}

var inetAtonDef = &Def{
	Name: "INET_ATON", Family: familyString, Syntax: "INET_ATON(address)",
	Doc: "Returns an IPv4 address as an integer; parts may be left out before the last one (127.1 is 127.0.0.1). NULL if it is no address.",
	Examples: []Example{
		{"INET_ATON('127.0.0.1')", "2130706433 :: BIGINT"},
		{"INET_ATON('256.1.1.1')", "NULL :: BIGINT"},
	},
	Bind: nullable(types.Of(types.BigInt), func(t types.Type) Kernel { return MapNull1(t, inetAton) }, TextArg),
}

// inetAton reads one to four numbers below 256; those that are missing before
// the last one are zero.
func inetAton(s []byte) (addr int64, ok bool) {
	for n := 0; ; n++ {
		part, rest, more := bytes.Cut(s, []byte("."))
		v, err := strconv.ParseUint(string(part), 10, 8)
		if err != nil || len(part) > 0 && part[0] == '+' || n == 3 && more {
			return 0, false
		}
		if !more {
			return addr<<(8*(4-n)) | int64(v), true
		}
		addr = addr<<8 | int64(v)
		s = rest
	}
}

var inetNtoaDef = &Def{
	Name: "INET_NTOA", Family: familyString, Syntax: "INET_NTOA(integer)",
	Doc: "Returns the IPv4 address that an integer stands for. NULL if it is negative or has more than 32 bits.",
	Examples: []Example{
		{"INET_NTOA(2130706433)", "127.0.0.1 :: STRING"},
		{"INET_NTOA(-1)", "NULL :: STRING"},
	},
	Bind: nullable(types.StringType(), func(t types.Type) Kernel {
		return TextErr1(t, func(dst []byte, n int64) ([]byte, bool, error) {
			if n < 0 || n > math.MaxUint32 {
				return dst, false, nil
			}
			for shift := 24; shift >= 0; shift -= 8 {
				dst = strconv.AppendInt(dst, n>>shift&255, 10)
				if shift > 0 {
					dst = append(dst, '.')
				}
			}
			return dst, true, nil
		})
	}, IntegerArg),
}
