package checksum

import "testing"

func TestDelays(t *testing.T) {
	d := delays{{us: 9000, rows: 1}, {us: 250, rows: 98}, {us: 1500, rows: 1}}
	if got, want := d.String(), " p50=0.250 p99=1.500 p99.9=9.000 p100=9.000"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := (delays{}).String(), " p50=0.000 p99=0.000 p99.9=0.000 p100=0.000"; got != want {
		t.Errorf("no rows: %q, want %q", got, want)
	}
}
