package runtime

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/checkpoint"
)

func TestSet(t *testing.T) {
	set := func(options map[string]string) (Config, error) {
		var c Config
		err := c.Set(func(name string) (string, bool) { v, ok := options[name]; return v, ok })
		return c, err
	}
	c, err := set(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (checkpoint.Config{Interval: 10_000, Timeout: 600_000, Retained: 1}); c.Checkpoint != want {
		t.Errorf("checkpoints by default: %+v", c.Checkpoint)
	}
	if want := (Restart{Attempts: 5, Delay: 100, MaxDelay: 60_000, ResetAfter: 3_600_000, Multiplier: 1.5}); c.Restart != want {
		t.Errorf("restarts by default: %+v", c.Restart)
	}
	c, err = set(map[string]string{
		"execution.checkpointing.interval": "1 s", "execution.checkpointing.num-retained": "3",
		"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "-1", "restart-strategy.fixed-delay.delay": "20 ms",
	})
	if err != nil || c.Checkpoint.Interval != 1000 || c.Checkpoint.Retained != 3 ||
		c.Restart != (Restart{Attempts: -1, Delay: 20, MaxDelay: 20, Multiplier: 1}) {
		t.Errorf("%+v %v", c, err)
	}
	if c, err = set(map[string]string{"restart-strategy.type": "none"}); err != nil || c.Restart != (Restart{}) {
		t.Errorf("none: %+v %v", c.Restart, err)
	}
	for name, value := range map[string]string{
		"execution.checkpointing.interval":                      "soon",
		"restart-strategy.type":                                 "sometimes",
		"restart-strategy.exponential-delay.backoff-multiplier": "0.5",
	} {
		if _, err := set(map[string]string{name: value}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s = %s: %v", name, value, err)
		}
	}
}

func TestBackoff(t *testing.T) {
	b := backoff{Restart: Restart{Attempts: 4, Delay: 100, MaxDelay: 250, ResetAfter: 1000, Multiplier: 2}}
	var got []string
	for _, ran := range []int64{1, 1, 1, 5000, 1, 1, 1, 1} {
		delay, ok := b.next(ran)
		got = append(got, fmt.Sprint(delay, ok))
	}
	if s := strings.Join(got, ", "); s != "100 true, 200 true, 250 true, 100 true, 200 true, 250 true, 250 true, 0 false" {
		t.Error(s)
	}
}
