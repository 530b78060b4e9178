package control

import (
	"errors"
	"os"
	"path/filepath"
)

// maxPath is how long the name of a socket may be on all systems: the shortest
// limit is 104 bytes with the one that ends it.
const maxPath = 100

// short returns a name of a directory that leaves room for the name of a socket
// in it: the directory's own, or that of a link to it in a directory that
// nobody else can write to, which cleanup removes.
func short(dir string, room int) (name string, cleanup func() error, err error) {
	none := func() error { return nil }
	if len(dir)+1+room <= maxPath {
		return dir, none, nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", none, err
	}
	for _, base := range []string{os.TempDir(), "/tmp"} {
		var tmp string
		if tmp, err = os.MkdirTemp(base, "mst"); err != nil {
			continue
		}
		link := filepath.Join(tmp, "d")
		if len(link)+1+room > maxPath {
			err = errors.Join(errors.New("the name of the directory for temporary files is too long for a socket"), os.Remove(tmp))
			continue
		}
		if err = os.Symlink(abs, link); err != nil {
			return "", none, errors.Join(err, os.Remove(tmp))
		}
		return link, func() error { return errors.Join(os.Remove(link), os.Remove(tmp)) }, nil
	}
	return "", none, err
}
