package config

import (
	"strings"
	"testing"
	"time"
)

func TestSet(t *testing.T) {
	tests := []struct {
		key, value string
		want       string // part of the error, or empty
	}{
		{Parallelism, "4", ""},
		{Parallelism, "0", "at least 1"},
		{Parallelism, "four", "whole number"},
		{TimeZone, "Europe/Berlin", ""},
		{TimeZone, "GMT+02:00", ""},
		{TimeZone, "Mars/Olympus", "unknown time zone"},
		{NotNullEnforcer, "drop", ""},
		{NotNullEnforcer, "maybe", "one of ERROR, DROP"},
		{"table.exec.state.ttl", "10 d", ""},
		{"table.exec.state.ttl", "10 parsecs", "unknown unit"},
		{"some.option.of.flink", "x", ""},
		{"millstream.bach.size", "1", `did you mean "millstream.batch.size"?`},
		{"millstream.nothing-like-it", "1", "the options are"},
	}
	for _, tt := range tests {
		var s Settings
		err := s.Set(tt.key, tt.value)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("SET %s = %s: %v", tt.key, tt.value, err)
		case tt.want == "" && s.Text(tt.key) != tt.value:
			t.Errorf("SET %s = %s: it is %q", tt.key, tt.value, s.Text(tt.key))
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(tt.want, "unknown unit"))):
			t.Errorf("SET %s = %s: got %v, want %s", tt.key, tt.value, err, tt.want)
		case tt.want != "" && s.Has(tt.key):
			t.Errorf("SET %s = %s was refused, and kept", tt.key, tt.value)
		}
	}
}

func TestDefaults(t *testing.T) {
	var s Settings
	if s.Int(Parallelism) != 1 || s.Zone() != time.UTC || !s.Is(LengthEnforcer, "ignore") || s.Duration(IdleTimeout) != 0 {
		t.Errorf("the defaults are wrong: %d %s %s %s", s.Int(Parallelism), s.Zone(), s.Text(LengthEnforcer), s.Duration(IdleTimeout))
	}
	for _, kv := range [][2]string{{"b", "2"}, {"a", "1"}} {
		if err := s.Set(kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	if all := s.All(); len(all) != 2 || all[0] != [2]string{"a", "1"} {
		t.Errorf("all options: %v", all)
	}
	s.Reset("a")
	if s.Has("a") || !s.Has("b") {
		t.Error("RESET a")
	}
	s.ResetAll()
	if len(s.All()) != 0 {
		t.Error("RESET left options")
	}
}

func TestKnown(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range Known() {
		if seen[o.Name] {
			t.Errorf("%s is there twice", o.Name)
		}
		seen[o.Name] = true
		if o.Doc == "" {
			t.Errorf("%s has no documentation", o.Name)
		}
		if strings.HasPrefix(o.Name, OwnPrefix) && !o.Own {
			t.Errorf("%s is our own, and does not say so", o.Name)
		}
	}
}
