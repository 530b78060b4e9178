package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/millstream-io/millstream/internal/blob"
)

// Who reads the rows of a checkpoint needs a directory for links and other files
// while it does, beside the state files. If it is killed, the directory stays: its
// name tells whose it was, so that it can be removed.

const readerPrefix = "inspect-"

var readers atomic.Int64

// NewReader is the name of the directory of a new reader in this process.
func NewReader() string { return fmt.Sprintf("%s%d-%d", readerPrefix, os.Getpid(), readers.Add(1)) }

// parseReader takes the name of a reader's directory apart.
func parseReader(name string) (pid int, ok bool) {
	var n int64
	if _, err := fmt.Sscanf(name, readerPrefix+"%d-%d", &pid, &n); err != nil || pid <= 0 {
		return 0, false
	}
	return pid, name == fmt.Sprintf("%s%d-%d", readerPrefix, pid, n)
}

// IsReader reports whether that is the name of a reader's directory.
func IsReader(name string) bool {
	_, ok := parseReader(name)
	return ok
}

// ReaderLeft reports whether that is the name of the directory of a reader whose
// process does not run on this machine any more.
func ReaderLeft(name string) bool {
	pid, ok := parseReader(name)
	if !ok {
		return false
	}
	process, err := os.FindProcess(pid)
	return err == nil && errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// sweepReaders removes the directories of readers that were killed.
func (d *Dir) sweepReaders(infos []blob.Info) error {
	var errs []error
	for _, i := range infos {
		if name, dir := strings.CutSuffix(i.Name, "/"); dir && ReaderLeft(name) {
			errs = append(errs, d.RemoveReader(name))
		}
	}
	return errors.Join(errs...)
}

// RemoveReader removes what is left of a reader.
func (d *Dir) RemoveReader(name string) error {
	fsys, path, ok := d.store.File(name)
	if !ok {
		return nil // it has none in such a store
	}
	return fsys.RemoveAll(path)
}
