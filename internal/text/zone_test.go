package text

import (
	"testing"
	"time"
)

func TestParseZone(t *testing.T) {
	noon := time.Date(2024, 7, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		east int // seconds on that day, -1 for an error
	}{
		{"UTC", 0}, {"utc", 0}, {"Z", 0}, {"GMT", 0}, {"GMT+1", 3600}, {"GMT-08:00", -8 * 3600}, {"UTC+2", 7200}, {"+05:30", 19800},
		{"+0530", 19800}, {"-18", -18 * 3600}, {"Europe/Paris", 7200}, {"Etc/GMT+5", -5 * 3600},
		{"GMT+25", -1}, {"+05:3", -1}, {"+5:60", -1}, {"", -1}, {"local", -1}, {"Nope/Nope", -1}, {"PST", -1}, {"GMTx", -1},
	}
	for _, tt := range tests {
		z, err := ParseZone(tt.name)
		if err != nil {
			if tt.east != -1 {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if _, east := noon.In(z).Zone(); east != tt.east {
			t.Errorf("%s: %d seconds east, want %d", tt.name, east, tt.east)
		}
	}
	for name, full := range oldZones {
		if _, err := ParseOldZone(name); err != nil {
			t.Errorf("%s, that is %s: %v", name, full, err)
		}
	}
	if z, err := ParseOldZone("Asia/Tokyo"); err != nil || z.String() != "Asia/Tokyo" {
		t.Errorf("Asia/Tokyo: %v, %v", z, err)
	}
}
