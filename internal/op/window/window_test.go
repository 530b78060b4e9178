package window

import (
	"testing"
	"time"
)

func at(t *testing.T, s string) int64 {
	t.Helper()
	v, err := time.Parse("2006-01-02 15:04:05.000", s)
	if err != nil {
		t.Fatal(err)
	}
	return v.UnixMilli()
}

func show(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000") }

func TestTumbleEnd(t *testing.T) {
	for _, c := range []struct {
		size, offset, ms, want int64
	}{
		{10, 0, 0, 10}, {10, 0, 9, 10}, {10, 0, 10, 20}, {10, 0, -1, 0}, {10, 0, -10, 0}, {10, 0, -11, -10},
		{10, 3, 0, 3}, {10, 3, 3, 13}, {10, -3, 6, 7}, {10, -3, 7, 17}, {10, 13, 2, 3},
	} {
		w := Assigner{Size: c.size, Offset: c.offset}
		if got := w.SliceOf(w.Wall(c.ms)); got != c.want {
			t.Errorf("size %d offset %d: the window of %d ends at %d, want %d", c.size, c.offset, c.ms, got, c.want)
		}
		if due := w.Due(c.want); due != c.want-1 {
			t.Errorf("due of %d is %d", c.want, due)
		}
	}
}

// TestGivenUpSummerTime: Shanghai's clocks went back on 13 September 1987.
func TestGivenUpSummerTime(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	w := Assigner{Size: 3600_000, Zone: shanghai}
	if got := show(w.Due(at(t, "1987-09-13 02:00:00.000"))); got != "1987-09-12 16:59:59.999" {
		t.Errorf("over at %s", got)
	}
}

// TestTimesLeftOut: windows that end while clocks jump are over at the jump, but
// have the window_time that clocks would show if they had not.
func TestTimesLeftOut(t *testing.T) {
	for _, c := range []struct {
		zone            string
		size            int64
		end, over, time string
	}{
		{"America/New_York", 600_000, "2024-03-10 02:00:00.000", "2024-03-10 06:59:59.999", "2024-03-10 06:59:59.999"},
		{"America/New_York", 600_000, "2024-03-10 02:10:00.000", "2024-03-10 07:00:00.000", "2024-03-10 07:09:59.999"},
		{"America/New_York", 600_000, "2024-03-10 03:00:00.000", "2024-03-10 07:00:00.000", "2024-03-10 07:59:59.999"},
		{"America/New_York", 600_000, "2024-03-10 03:10:00.000", "2024-03-10 07:09:59.999", "2024-03-10 07:09:59.999"},
		{"Europe/Berlin", 600_000, "2024-03-31 02:30:00.000", "2024-03-31 01:00:00.000", "2024-03-31 01:29:59.999"},
		{"Australia/Lord_Howe", 600_000, "2024-10-06 02:20:00.000", "2024-10-05 15:30:00.000", "2024-10-05 15:49:59.999"},
		{"Pacific/Apia", 3600_000, "2011-12-30 12:00:00.000", "2011-12-30 10:00:00.000", "2011-12-30 21:59:59.999"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		w, end := Assigner{Size: c.size, Zone: zone}, at(t, c.end)
		if over, mark := show(w.Due(end)), show(w.Time(end)); over != c.over || mark != c.time {
			t.Errorf("%s: the window to %s is over at %s, and has the time %s; want %s and %s", c.zone, c.end, over, mark, c.over, c.time)
		}
		if passed := w.Passed(w.Due(end) - 1); passed >= end {
			t.Errorf("%s: the window to %s has passed too early", c.zone, c.end)
		}
		if passed := w.Passed(w.Due(end)); passed < end {
			t.Errorf("%s: the window to %s has not passed when it is over", c.zone, c.end)
		}
	}
}

// TestZone looks at hours and days of Berlin over both switches of 2024.
func TestZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	hour := Assigner{Size: 3600_000, Zone: berlin}
	day := Assigner{Size: 24 * 3600_000, Zone: berlin}
	for _, c := range []struct {
		name           string
		w              Assigner
		utc, end, over string
	}{
		{"winter", hour, "2024-01-01 11:30:00.000", "2024-01-01 13:00:00.000", "2024-01-01 11:59:59.999"},
		{"before the clock goes forward", hour, "2024-03-31 00:59:00.000", "2024-03-31 02:00:00.000", "2024-03-31 00:59:59.999"},
		{"after it", hour, "2024-03-31 01:00:00.000", "2024-03-31 04:00:00.000", "2024-03-31 01:59:59.999"},
		{"the short day", day, "2024-03-31 12:00:00.000", "2024-04-01 00:00:00.000", "2024-03-31 21:59:59.999"},
		{"the hour that comes twice, first", hour, "2024-10-27 00:30:00.000", "2024-10-27 03:00:00.000", "2024-10-27 01:59:59.999"},
		{"the hour that comes twice, again", hour, "2024-10-27 01:30:00.000", "2024-10-27 03:00:00.000", "2024-10-27 01:59:59.999"},
		{"the long day", day, "2024-10-27 12:00:00.000", "2024-10-28 00:00:00.000", "2024-10-27 22:59:59.999"},
	} {
		end := c.w.SliceOf(c.w.Wall(at(t, c.utc)))
		if show(end) != c.end {
			t.Errorf("%s: the window of %s ends at %s, want %s", c.name, c.utc, show(end), c.end)
		}
		if got := show(c.w.Due(end)); got != c.over {
			t.Errorf("%s: over at %s, want %s", c.name, got, c.over)
		}
	}
}
