package clock

import (
	"testing"
	"time"
)

func TestManualNeverGoesBack(t *testing.T) {
	m := NewManual(100)
	m.Set(50)
	if m.Now() != 100 {
		t.Fatalf("a clock set back shows %d", m.Now())
	}
	m.Set(250)
	m.Advance(2 * time.Second)
	if m.Now() != 2250 {
		t.Fatalf("clock shows %d, want 2250", m.Now())
	}
}

func TestSystemIsWallTime(t *testing.T) {
	before := time.Now().UnixMilli()
	now := System{}.Now()
	if now < before || now > time.Now().UnixMilli() {
		t.Fatalf("system clock shows %d, not between %d and now", now, before)
	}
}
