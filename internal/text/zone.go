package text

import (
	"fmt"
	"strings"
	"time"

	// Zones are known wherever the program runs.
	_ "time/tzdata"
)

// ParseZone reads a time zone: a name such as Europe/Berlin, or an offset such
// as GMT+02:00, UTC-5 or +02:00.
func ParseZone(name string) (*time.Location, error) {
	if offset, ok := parseOffset(name); ok {
		if offset == 0 {
			return time.UTC, nil
		}
		return time.FixedZone(name, offset), nil
	}
	if name != "" && !strings.EqualFold(name, "local") {
		if z, err := time.LoadLocation(name); err == nil {
			return z, nil
		}
	}
	return nil, fmt.Errorf("unknown time zone %q: write a name such as Europe/Berlin, or an offset such as GMT+02:00", name)
}

// parseOffset reads [GMT|UTC|UT](+|-)h[h][[:]mm] as seconds east.
func parseOffset(name string) (seconds int, ok bool) {
	rest := name
	for _, p := range []string{"GMT", "UTC", "UT"} {
		if len(name) >= len(p) && strings.EqualFold(name[:len(p)], p) {
			rest = name[len(p):]
			break
		}
	}
	switch {
	case name == "":
		return 0, false
	case rest == "" || rest == "Z":
		return 0, true
	case rest[0] != '+' && rest[0] != '-':
		return 0, false
	}
	h, m, colon := strings.Cut(rest[1:], ":")
	if !colon && len(h) == 4 {
		h, m, colon = h[:2], h[2:], true
	}
	if len(h) > 2 || colon && len(m) != 2 {
		return 0, false
	}
	hours, ok := number([]byte(h))
	minutes := 0
	if colon && ok {
		minutes, ok = number([]byte(m))
	}
	if !ok || hours > 18 || minutes > 59 {
		return 0, false
	}
	seconds = hours*3600 + minutes*60
	if rest[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// ParseOldZone is ParseZone that also knows the names of three letters which
// Java has kept for java.util.TimeZone.
func ParseOldZone(name string) (*time.Location, error) {
	if full := oldZones[name]; full != "" {
		name = full
	}
	return ParseZone(name)
}

var oldZones = map[string]string{
	"ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "ART": "Africa/Cairo",
	"AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka", "CAT": "Africa/Harare", "CNT": "America/St_Johns",
	"CST": "America/Chicago", "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "EST": "-05:00",
	"HST": "-10:00", "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia",
	"MST": "-07:00", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix",
	"PRT": "America/Puerto_Rico", "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
}
