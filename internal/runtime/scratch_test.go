package runtime

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTidyScratch: what killed processes have left in the temporary directory goes,
// and nothing else.
func TestTidyScratch(t *testing.T) {
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	for name, stays := range map[string]bool{
		fmt.Sprintf("millstream-%d-1", dead.Process.Pid): false,
		fmt.Sprintf("millstream-%d-1", os.Getpid()):      true,
		fmt.Sprintf("millstream-%d", dead.Process.Pid):   true,
		"millstream-x-1": true,
		"other":          true,
	} {
		path := filepath.Join(temp, name)
		if err := os.MkdirAll(filepath.Join(path, "live"), 0o755); err != nil {
			t.Fatal(err)
		}
		tidyScratch(temp)
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}
