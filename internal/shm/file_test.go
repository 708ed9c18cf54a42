// SPDX-License-Identifier: BSD-3-Clause

// Where memory files are refused, the arena is files that no directory has.
package shm

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func refuseMemfd(t *testing.T, why error) {
	former := memfd
	t.Cleanup(func() { memfd = former })
	memfd = func(string, int) (int, error) { return -1, why }
}

// Where memory files are refused, the file has no name, the right size, and no blocks.
func TestFileWithoutMemfd(t *testing.T) {
	for _, why := range []error{unix.EPERM, unix.ENOSYS} {
		refuseMemfd(t, why)
		fd, what, err := newFile(1 << 30)
		if err != nil {
			t.Fatal(err)
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || st.Nlink != 0 || st.Size != 1<<30 ||
			st.Blocks != 0 {
			t.Errorf("%s has %d names, %d bytes, %d blocks; %v", what, st.Nlink,
				st.Size, st.Blocks, err)
		}
		unix.Close(fd)
	}
}

// A file system that has no files without a name; and no place at all.
func TestUnlinkedFile(t *testing.T) {
	dir := t.TempDir()
	fd, err := unlinkedFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	former := fileDirs
	defer func() { fileDirs = former }()
	fileDirs = []string{dir + "/none"}
	refuseMemfd(t, unix.EPERM)
	if _, _, err := newFile(1 << 20); err == nil ||
		!strings.Contains(err.Error(), "mount a tmpfs at /dev/shm") {
		t.Errorf("%v", err)
	}
}
