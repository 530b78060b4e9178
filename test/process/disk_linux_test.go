package process

import (
	"fmt"
	"syscall"
)

// mountSmall mounts a file system of some KB in memory.
func mountSmall(dir string, kb int) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk", kb))
}

// enlarge gives it room.
func enlarge(dir string) error { return syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size=64m") }

func unmount(dir string) error { return syscall.Unmount(dir, syscall.MNT_DETACH) }
