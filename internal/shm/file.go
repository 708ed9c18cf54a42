// SPDX-License-Identifier: BSD-3-Clause

// A file without a name that processes can map: a memory file, or an unlinked one where the system
// refuses memory files (a container's filter of system calls). Either disappears with the last
// process that has it open or mapped.
package shm

import (
	"crypto/rand"
	"fmt"
	"path"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
)

// fileDirs are the file systems that are tried for an unlinked file, those in memory first.
var fileDirs = []string{"/dev/shm", "/tmp", "/var/tmp"}

// memfd is memfd_create; tests replace it.
var memfd = unix.MemfdCreate

// newFile creates a file that can have so many bytes; what describes it in error messages. The
// caller sets the size.
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

// unlinkedFile creates a file of dir's file system that is in no directory. Without O_TMPFILE it
// has a name in dir for an instant.
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
