package datepattern

import (
	"strings"
	"time"
)

// shortZones are the abbreviations that Java takes for zones.
var shortZones = map[string]string{
	"ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "ART": "Africa/Cairo",
	"AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka", "CAT": "Africa/Harare",
	"CNT": "America/St_Johns", "CST": "America/Chicago", "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa",
	"ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo",
	"MIT": "Pacific/Apia", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix",
	"PRT": "America/Puerto_Rico", "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
}

// looseZone returns the time zone of a name, such as Europe/Paris, an offset, such
// as +05:30, GMT+5 or Z, or an abbreviation, such as PST.
func looseZone(id string) (*time.Location, bool) {
	if long, ok := shortZones[id]; ok {
		id = long
	}
	if id == "" || id == "Local" {
		return nil, false
	}
	rest := id
	for _, prefix := range []string{"GMT", "UTC", "UT"} {
		if r, ok := strings.CutPrefix(id, prefix); ok {
			rest = r
			break
		}
	}
	switch {
	case rest == "" || id == "Z":
		return time.UTC, true
	case rest[0] == '+' || rest[0] == '-':
		seconds, n := offsetAt(rest)
		if n != len(rest) {
			return nil, false
		}
		return time.FixedZone(id, seconds), true
	}
	loc, err := time.LoadLocation(id)
	return loc, err == nil
}

// offsetAt reads an offset at the start of s: a sign, one or two digits of hours,
// and two of minutes and of seconds, with colons or without. n is its length, 0
// if there is none.
func offsetAt(s string) (seconds, n int) {
	if s == "" || s[0] != '+' && s[0] != '-' {
		return 0, 0
	}
	digits := func(i, most int) int {
		k := 0
		for k < most && i+k < len(s) && isDigit(s[i+k]) {
			k++
		}
		return k
	}
	k := digits(1, 2)
	if k == 0 {
		return 0, 0
	}
	unit := 3600
	for n = 1; k > 0; {
		v := 0
		for _, c := range []byte(s[n : n+k]) {
			v = v*10 + int(c-'0')
		}
		if unit < 3600 && v > 59 || v > 18 && unit == 3600 {
			return 0, 0
		}
		seconds += v * unit
		n, unit = n+k, unit/60
		if unit == 0 || k == 1 {
			break
		}
		if k = digits(n, 2); k == 0 && n < len(s) && s[n] == ':' && digits(n+1, 2) == 2 {
			n, k = n+1, 2
		}
		if k == 1 {
			break
		}
	}
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, n
}
