package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// onSignals has handle called for each SIGINT and SIGTERM, on a goroutine of
// its own, until the function that it returns is called.
func onSignals(handle func(os.Signal)) (restore func()) {
	signals := make(chan os.Signal, 8)
	over := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	time.AfterFunc(0, func() {
		for {
			select {
			case s := <-signals:
				guarded(func() { handle(s) })
			case <-over:
				return
			}
		}
	})
	return func() {
		signal.Stop(signals)
		close(over)
	}
}

// guarded runs f, which must not end the process by a panic.
func guarded(f func()) {
	defer func() { _ = recover() }()
	f()
}
