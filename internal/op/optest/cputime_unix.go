//go:build unix

package optest

import (
	"syscall"
	"time"
)

// cpuTime is what the process has used of the processors so far: unlike the time
// of the clock, it tells little of what else runs on the machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
