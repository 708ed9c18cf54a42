// SPDX-License-Identifier: BSD-3-Clause

// Round trips to the data server beside those to a plain echo of as many bytes, by the same client.
package tcp

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
)

// rawEcho answers every request of in bytes with out bytes, as directly as possible; poll says
// whether it polls or sleeps.
func rawEcho(b *testing.B, in, out int, poll bool) int {
	ln, at, err := rawsock.Listen(loopback, "")
	if err != nil {
		b.Fatal(err)
	}
	fd, err := rawsock.Connect(at, "", time.Second, testDeadline())
	if err != nil {
		b.Fatal(err)
	}
	peer, _, err := unix.Accept4(ln, unix.SOCK_NONBLOCK)
	if err != nil {
		b.Fatal(err)
	}
	unix.Close(ln)
	rawsock.Tune(peer, time.Second)
	go func() {
		runtime.LockOSThread()
		buf := make([]byte, max(in, out))
		for recvAll(peer, buf[:in], poll) == nil && rawsock.SendAll(peer, buf[:out],
			rawsock.NoDeadline) == nil {
		}
		unix.Close(peer)
	}()
	b.Cleanup(func() { unix.Close(fd) })
	return fd
}

// recvAll receives len(b) bytes, polling or sleeping.
func recvAll(fd int, b []byte, poll bool) error {
	for len(b) > 0 {
		n, err := rawsock.Receive(fd, b)
		if err == unix.EAGAIN {
			if err = nil; !poll {
				err = rawsock.WaitFor(fd, unix.POLLIN, rawsock.NoDeadline)
			}
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// BenchmarkRoundTrip measures gets and puts of the data server, and plain echos as large.
func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{8, 1 << 10, 64 << 10, 1 << 20} {
		for _, poll := range []bool{true, false} {
			name := fmt.Sprintf("%d/%s", size, map[bool]string{true: "polling",
				false: "sleeping"}[poll])
			get, put := frame(getHead(size, 1), nil),
				frame([]byte{opPutAck}, make([]byte, size))
			const getAnswer, putAnswer = prefixBytes + 1, prefixBytes + 1
			for _, c := range []struct {
				name    string
				request []byte
				out     int
			}{{"get", get, getAnswer + size}, {"put", put, putAnswer}} {
				b.Run(name+"/raw-"+c.name, func(b *testing.B) {
					fd := rawEcho(b, len(c.request), c.out, poll)
					benchTrips(b, fd, c.request, c.out, poll)
				})
				b.Run(name+"/"+c.name, func(b *testing.B) {
					s := newServer(b, nil)
					s.patient.Store(poll)
					r := s.dialRaw(2)
					benchTrips(b, r.fd, c.request, c.out, poll)
					r.closeWithGoodbye()
				})
			}
		}
	}
}

// benchTrips measures requests with answers of out bytes.
func benchTrips(b *testing.B, fd int, request []byte, out int, poll bool) {
	answer := make([]byte, out)
	b.ReportAllocs()
	for b.Loop() {
		if err := rawsock.SendAll(fd, request, testDeadline()); err != nil {
			b.Fatal(err)
		}
		if err := recvAll(fd, answer, poll); err != nil {
			b.Fatal(err)
		}
	}
}
