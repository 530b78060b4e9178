package main

import (
	"os"
	"syscall"
)

// peakRSS is the most memory that a process had, in MiB.
func peakRSS(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss >> 10
	}
	return 0
}
