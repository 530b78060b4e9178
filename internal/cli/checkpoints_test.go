package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/control"
)

func TestFailuresOfARunningJob(t *testing.T) {
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.Local)
	fail := func(id int64) control.Failure {
		return control.Failure{Checkpoint: id, Time: at.UnixMilli(), Error: "checkpoint 7 failed in phase upload, operator sums, task Sum 0/2: the store is down"}
	}
	const line = "2024-05-06 07:08:09  checkpoint 7 failed in phase upload, operator sums, task Sum 0/2: the store is down\n"
	tests := []struct {
		status control.Status
		want   string
	}{
		{control.Status{}, ""},
		{control.Status{FailedCheckpoints: 1, Failures: []control.Failure{fail(7)}}, "1 checkpoint has failed since the job was started:\n" + line},
		{control.Status{FailedCheckpoints: 2, Failures: []control.Failure{fail(7), fail(7)}}, "2 checkpoints have failed since the job was started:\n" + line + line},
		{control.Status{FailedCheckpoints: 9, Failures: []control.Failure{fail(7)}}, "9 checkpoints have failed since the job was started; the last 1:\n" + line},
	}
	for _, tt := range tests {
		var b strings.Builder
		if err := writeFailures(&b, &tt.status); err != nil || b.String() != tt.want {
			t.Errorf("%d failures: %v\n%s\nwant\n%s", tt.status.FailedCheckpoints, err, b.String(), tt.want)
		}
	}
}
