// SPDX-License-Identifier: BSD-3-Clause

// Tests of sending: everything arrives, descriptors too, deadlines hold, and a closed peer is an
// error.
package sys

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair is two ends of a connected stream socket.
func pair(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|
		unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ends := make([]*net.UnixConn, 2)
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "end")
		c, err := net.FileConn(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = c.(*net.UnixConn)
		t.Cleanup(func() { c.Close() })
	}
	return ends[0], ends[1]
}

// TestSend sends more than a socket buffers.
func TestSend(t *testing.T) {
	a, b := pair(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // more than a socket's buffer
	sent := make(chan error, 1)
	go func() { sent <- Send(a, want, nil) }()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(b, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("received %v, equal %v", err, bytes.Equal(got, want))
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

// TestSendRights sends a descriptor beside the data.
func TestSendRights(t *testing.T) {
	a, b := pair(t)
	if err := Send(a, []byte("xy"), unix.UnixRights(int(os.Stderr.Fd()))); err != nil {
		t.Fatal(err)
	}
	body, oob := make([]byte, 8), make([]byte, 64)
	n, m, _, _, err := b.ReadMsgUnix(body, oob)
	if err != nil || n != 2 {
		t.Fatalf("received %d bytes: %v", n, err)
	}
	all, err := unix.ParseSocketControlMessage(oob[:m])
	if err != nil || len(all) != 1 {
		t.Fatalf("%d control messages: %v", len(all), err)
	}
	fds, err := unix.ParseUnixRights(&all[0])
	if err != nil || len(fds) != 1 {
		t.Fatalf("descriptors %v: %v", fds, err)
	}
	unix.Close(fds[0])
}

// TestSendFails shows the errors of a full socket, a closed peer and a closed connection.
func TestSendFails(t *testing.T) {
	a, b := pair(t)
	a.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	if err := Send(a, make([]byte, 8<<20), nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nobody reads: %v, want a deadline exceeded", err)
	}
	a.SetWriteDeadline(time.Time{})
	b.Close()
	if err := Send(a, []byte("x"), nil); !errors.Is(err, unix.EPIPE) &&
		!errors.Is(err, unix.ECONNRESET) {
		t.Errorf("the peer has closed: %v, want EPIPE", err)
	}
	a.Close()
	if err := Send(a, []byte("x"), nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed here: %v, want net.ErrClosed", err)
	}
}
