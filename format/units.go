package format

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

var durationUnits = map[string]time.Duration{
	"": time.Millisecond, "ms": time.Millisecond, "milli": time.Millisecond, "millis": time.Millisecond,
	"millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	"ns": 1, "nano": 1, "nanos": 1, "nanosecond": 1, "nanoseconds": 1,
	"us": time.Microsecond, "µs": time.Microsecond, "micro": time.Microsecond, "micros": time.Microsecond,
	"microsecond": time.Microsecond, "microseconds": time.Microsecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
}

// ParseDuration reads a duration as Flink's options have it: a whole number
// and a unit, "10 s"; without a unit, ms.
func ParseDuration(s string) (time.Duration, error) {
	n, unit, err := splitUnit(s)
	if err != nil {
		return 0, err
	}
	u, ok := durationUnits[unit]
	if !ok {
		return 0, fmt.Errorf("unknown unit %q of a duration; use ms, s, min, h or d", unit)
	}
	if n > int64(1<<63-1)/int64(u) {
		return 0, fmt.Errorf("duration %q is too long", s)
	}
	return time.Duration(n) * u, nil
}

var sizeUnits = map[string]int64{
	"": 1, "b": 1, "bytes": 1, "k": 1 << 10, "kb": 1 << 10, "kibibytes": 1 << 10,
	"m": 1 << 20, "mb": 1 << 20, "mebibytes": 1 << 20, "g": 1 << 30, "gb": 1 << 30, "gibibytes": 1 << 30,
	"t": 1 << 40, "tb": 1 << 40, "tebibytes": 1 << 40,
}

// ParseSize reads a memory size as Flink's options have it: "128 mb".
func ParseSize(s string) (int64, error) {
	n, unit, err := splitUnit(s)
	if err != nil {
		return 0, err
	}
	u, ok := sizeUnits[unit]
	if !ok {
		return 0, fmt.Errorf("unknown unit %q of a size; use b, kb, mb, gb or tb", unit)
	}
	if n > (1<<63-1)/u {
		return 0, fmt.Errorf("size %q is too large", s)
	}
	return n * u, nil
}

func splitUnit(s string) (int64, string, error) {
	s = strings.TrimSpace(s)
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, err := strconv.ParseInt(s[:i], 10, 64)
	if err != nil {
		return 0, "", fmt.Errorf("%q does not begin with a whole number", s)
	}
	return n, strings.ToLower(strings.TrimSpace(s[i:])), nil
}
