// SPDX-License-Identifier: BSD-3-Clause

// One file without a name that processes can map: a memory file, or where the system refuses these
// (a container's filter of system calls), a file that is in no directory. Either disappears with
// the last process that has it.
package shm

import (
	"crypto/rand"
	"fmt"
	"path"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
)

// fileDirs are where files are made that are in no directory: in memory first.
var fileDirs = []string{"/dev/shm", "/tmp", "/var/tmp"}

// memfd is replaced by tests.
var memfd = unix.MemfdCreate

// newFile makes a file that shall have so many bytes, and says for messages what it is.
func newFile(bytes int64) (fd int, what string, err error) {
	fd, err = memfd("armci", unix.MFD_CLOEXEC)
	if err != unix.EPERM && err != unix.EACCES && err != unix.ENOSYS {
		if err != nil {
			err = fmt.Errorf("create a memory file: %w", err)
		}
		return fd, "a memory file", err
	}
	for _, dir := range fileDirs {
		if fd, why := unlinkedFile(dir); why == nil && unix.Ftruncate(fd, bytes) == nil {
			log.Infof("memory files are refused (%v): the arena is files of %s "+
				"without a name", err, dir)
			return fd, "a file of " + dir, nil
		} else if why == nil {
			unix.Close(fd)
		}
	}
	return -1, "", fmt.Errorf("memory files are refused (memfd_create: %w), and none of %v "+
		"takes a file of %d bytes: "+
		"allow memfd_create, or mount a tmpfs at /dev/shm", err, fileDirs, bytes)
}

// unlinkedFile makes a file that is in no directory; where the file system cannot do that, it is in
// dir for an instant.
func unlinkedFile(dir string) (int, error) {
	const flags = unix.O_RDWR | unix.O_CLOEXEC
	fd, err := unix.Open(dir, flags|unix.O_TMPFILE|unix.O_EXCL, 0o600)
	if err == nil {
		return fd, nil
	}
	name := path.Join(dir, "armci-"+rand.Text())
	fd, err = unix.Open(name, flags|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err == nil {
		err = unix.Unlink(name)
	}
	return fd, err
}
