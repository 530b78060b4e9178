//go:build !linux

package process

import "errors"

func mountSmall(string, int) error { return errors.ErrUnsupported }

func enlarge(string) error { return errors.ErrUnsupported }

func unmount(string) error { return errors.ErrUnsupported }
