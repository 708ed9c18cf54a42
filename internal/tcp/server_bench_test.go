// SPDX-License-Identifier: BSD-3-Clause

// Round trips to the data server beside those to a plain echo of as many bytes, by the same client.
package tcp

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// rawEcho answers every request of in bytes with out bytes, as directly as possible; polling says how it waits.
func rawEcho(b *testing.B, in, out int, poll bool) *caller {
	ln, at, err := listenAt(addrPort(&unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	if err != nil {
		b.Fatal(err)
	}
	fd, err := connect(at, &Options{Timeout: time.Second}, soon())
	if err != nil {
		b.Fatal(err)
	}
	peer, _, err := unix.Accept4(ln, unix.SOCK_NONBLOCK)
	if err != nil {
		b.Fatal(err)
	}
	unix.Close(ln)
	tune(peer, time.Second)
	go func() {
		runtime.LockOSThread()
		buf := make([]byte, max(in, out))
		for recvAll(peer, buf[:in], poll) == nil && sendFull(peer, buf[:out], noDeadline) == nil {
		}
		unix.Close(peer)
	}()
	b.Cleanup(func() { unix.Close(fd) })
	return &caller{t: b, fd: fd}
}

// recvAll receives len(b) bytes, polling or sleeping.
func recvAll(fd int, b []byte, poll bool) error {
	for len(b) > 0 {
		n, err := recvNow(fd, b)
		if errors.Is(err, unix.EAGAIN) {
			if err = nil; !poll {
				err = waitFor(fd, unix.POLLIN, noDeadline)
			}
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{8, 1 << 10, 64 << 10, 1 << 20} {
		for _, poll := range []bool{true, false} {
			name := fmt.Sprintf("%d/%s", size, map[bool]string{true: "polling", false: "sleeping"}[poll])
			get := frame(header{Kind: kindGet, Bytes: uint64(size)}, nil, nil)
			put := frame(header{Kind: kindPut, Flags: flagAck, Bytes: uint64(size)}, nil, make([]byte, size))
			b.Run(name+"/raw-get", func(b *testing.B) {
				trips(b, rawEcho(b, headerBytes, headerBytes+size, poll), get, headerBytes+size, poll)
			})
			b.Run(name+"/get", func(b *testing.B) { served(b, get, headerBytes+size, poll) })
			b.Run(name+"/raw-put", func(b *testing.B) {
				trips(b, rawEcho(b, headerBytes+size, headerBytes, poll), put, headerBytes, poll)
			})
			b.Run(name+"/put", func(b *testing.B) { served(b, put, headerBytes, poll) })
		}
	}
}

// served measures against a data server.
func served(b *testing.B, request []byte, out int, poll bool) {
	r := newRig(b, func(o *Options) {
		if !poll {
			o.Poll = 0
		}
	})
	var h header
	h.decode(request)
	h.Addr = uint64(r.node.base())
	h.encode(request)
	c := r.dial(2)
	trips(b, c, request, out, poll)
	c.bye()
}

func trips(b *testing.B, c *caller, request []byte, out int, poll bool) {
	answer := make([]byte, out)
	b.ReportAllocs()
	for b.Loop() {
		c.send(request)
		if err := recvAll(c.fd, answer, poll); err != nil {
			b.Fatal(err)
		}
	}
}
