//go:build !unix

package optest

import "time"

func cpuTime() time.Duration { return 0 }
