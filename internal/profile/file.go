// SPDX-License-Identifier: BSD-3-Clause

// Files of a trace, which are regular files of this user: traces are often written to directories
// in which others may make names, such as /tmp. A link would let another user choose which file is
// overwritten, and a FIFO would block the end of the job.
package profile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// CreateFile opens an empty file for reading and writing: a new one, or one that CheckFile permits.
func CreateFile(path string) (fd int, err error) {
	fd, err = unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o666)
	if err == unix.EEXIST {
		if fd, err = openOwn(path, unix.O_RDWR); err == nil {
			err = unix.Ftruncate(fd, 0)
		}
	}
	return checked(path, fd, err)
}

// CheckFile tells whether CreateFile could open a file that is there; that there is none is no
// error.
func CheckFile(path string) error {
	fd, err := openOwn(path, unix.O_RDWR)
	if err == unix.ENOENT {
		return nil
	}
	if fd, err = checked(path, fd, err); err == nil {
		unix.Close(fd)
	}
	return err
}

// open opens a file of a trace for reading. It may be another user's: armci_info -m puts together
// what was brought from elsewhere.
func open(path string) (*os.File, error) {
	fd, err := openRegular(path, unix.O_RDONLY, nil)
	if fd, err = checked(path, fd, err); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// checked closes the file if there was an error, which gets the path.
func checked(path string, fd int, err error) (int, error) {
	if err == nil {
		return fd, nil
	}
	if fd >= 0 {
		unix.Close(fd)
	}
	if err == unix.ELOOP {
		err = errors.New("is a symbolic link, which is not followed: name the file itself")
	}
	return -1, &fs.PathError{Op: "open", Path: path, Err: err}
}

// openOwn opens a regular file of this user that has no further names.
func openOwn(path string, flags int) (int, error) {
	return openRegular(path, flags, func(st *unix.Stat_t) error {
		switch {
		case int(st.Uid) != os.Geteuid():
			return errors.New("is another user's file")
		case st.Nlink > 1:
			return errors.New("has other names (hard links), and would be " +
				"overwritten under these, too")
		}
		return nil
	})
}

// openRegular may return an open file beside an error. Opening never waits for the other end of a
// FIFO.
func openRegular(path string, flags int, also func(*unix.Stat_t) error) (int, error) {
	fd, err := unix.Open(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	switch err := unix.Fstat(fd, &st); {
	case err != nil:
		return fd, err
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return fd, errors.New("is not a regular file")
	case also == nil:
		return fd, nil
	}
	return fd, also(&st)
}
