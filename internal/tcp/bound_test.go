// SPDX-License-Identifier: BSD-3-Clause

// The memory of buffers is bounded, as the pools count it and as the process grows: much is sent to
// many peers that read nothing for a while. In the end all data must have arrived.
package tcp

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

const (
	boundPeers  = 24
	boundBuffer = 1 << 20
	boundRows   = 1500 // of 64 bytes, in packed frames
)

// heapInUse is the memory of the Go heap and of stacks, after a collection.
func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// awaitSteady waits until a number has not changed for a while.
func awaitSteady(n *atomic.Int64) {
	for last, since := int64(-1), time.Now(); time.Since(
		since) < 200*time.Millisecond; time.Sleep(10 * time.Millisecond) {
		if now := n.Load(); now != last {
			last, since = now, time.Now()
		}
	}
}

// slowServers are servers that read nothing until they are released, and then count the bytes.
type slowServers struct {
	release chan struct{}
	all     sync.WaitGroup
	bytes   [boundPeers]int64
}

// start starts server i, which accepts one connection, and returns its address.
func (s *slowServers) start(t *testing.T, i int) []byte {
	ln, at, err := rawsock.Listen(loopback, "")
	if err != nil {
		t.Fatal(err)
	}
	unix.SetsockoptInt(ln, unix.SOL_SOCKET, unix.SO_RCVBUF, 32<<10)
	s.all.Go(func() {
		defer unix.Close(ln)
		rawsock.WaitFor(ln, unix.POLLIN, testDeadline())
		fd, _, err := unix.Accept4(ln, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			t.Error(err)
			return
		}
		defer unix.Close(fd)
		acceptHandshake(t, fd)
		<-s.release
		for b := make([]byte, 64<<10); ; {
			n, err := rawsock.Receive(fd, b)
			if err == unix.EAGAIN {
				err = rawsock.WaitFor(fd, unix.POLLIN, testDeadline())
			}
			if err != nil {
				return
			}
			s.bytes[i] += int64(n)
		}
	})
	return []byte(at.String())
}

// An origin of many slow peers holds no more buffers than the setting allows.
func TestBuffersAreBounded(t *testing.T) {
	leaktest.Check(t)
	const smalls, larges = 300, 12
	s := &slowServers{release: make(chan struct{})}
	c := newClient(t, 2, func(f *fabric) { f.Buffer, f.options.Gather = boundBuffer, 1024 })
	mem := bytes.Repeat([]byte{filler}, boundRows*128)
	var ends []*endpoint
	for i := range boundPeers {
		e, err := c.fabric.Dial(0, s.start(t, i), c)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, e.(*endpoint))
		unix.SetsockoptInt(ends[i].fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 32<<10)
	}
	before := heapInUse()
	var done atomic.Int64
	var sending, flushing sync.WaitGroup
	locks := make([]sync.Mutex, boundPeers)
	for i, e := range ends {
		sending.Go(func() {
			for k := range smalls + larges {
				body, n, when := cursorOf(mem, 8, 1), int64(8), transport.Soon
				if k%(smalls/larges+1) == 0 {
					body, n, when = cursorOf(mem, 64, boundRows), 64*boundRows,
						transport.Now
				}
				locks[i].Lock()
				if _, err := e.Send([]byte{opPut}, &body, n, when); err != nil {
					t.Error(err)
				}
				locks[i].Unlock()
				done.Add(1)
			}
		})
	}
	ended := make(chan struct{})
	flushing.Go(func() { // as the progress thread does
		for {
			for i, e := range ends {
				if locks[i].TryLock() {
					e.Flush()
					locks[i].Unlock()
				}
			}
			select {
			case <-ended:
				return
			case <-time.After(flushInterval):
			}
		}
	})
	check := func(when string) {
		made, most := int(c.fabric.sendBuffers.made.Load()), cap(c.fabric.sendBuffers.free)
		grown := heapInUse() - before
		t.Logf("%s: %d buffers of %d, %d sent, the process has grown by %d KiB", when, made,
			most, done.Load(), grown>>10)
		if made > most || int64(most)*bufferBytes > boundBuffer/2 || grown > 2*boundBuffer {
			t.Errorf("%s: %d buffers, %d may be made; the process has grown by %d KiB",
				when, made, most, grown>>10)
		}
	}
	awaitSteady(&done)
	if check("while no peer reads"); done.Load() == boundPeers*(smalls+larges) {
		t.Error("all has been sent: the peers were to be slow")
	}
	close(s.release)
	sending.Wait()
	check("in the end")
	close(ended)
	flushing.Wait()
	for _, e := range ends {
		e.Close(10 * time.Second)
	}
	s.all.Wait()
	for i, n := range s.bytes {
		if want := int64(smalls*8 + larges*64*boundRows +
			(smalls+larges)*(prefixBytes+1)); n < want {
			t.Errorf("peer %d: %d bytes have come, expected %d", i, n, want)
		}
	}
}

// A server of clients that request much and read nothing holds no more workspaces than the setting
// allows, and serves all of them in the end.
func TestWorkspacesAreBounded(t *testing.T) {
	const clients, gets, rows = 30, 2, 4096
	s := newServer(t, func(f *fabric) { f.Buffer = boundBuffer })
	for i := range s.mem {
		s.mem[i] = filler
	}
	all := make([]*rawClient, clients)
	for i := range all {
		all[i] = s.dialRaw(transport.Rank(2 + i%2))
		all[i].checkEcho()
	}
	for _, e := range s.awaitConns(t, clients) {
		unix.SetsockoptInt(e.conn.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 32<<10)
	}
	before := heapInUse()
	for _, c := range all {
		for range gets {
			c.send(frame(getHead(64, rows), nil))
		}
	}
	time.Sleep(200 * time.Millisecond)
	made, most := int(s.listener.workspaces.made.Load()), cap(s.listener.workspaces.free)
	grown := heapInUse() - before
	t.Logf("%d workspaces of %d, the process has grown by %d KiB", made, most, grown>>10)
	if made > most || int64(most)*workspaceBytes > boundBuffer || grown > boundBuffer {
		t.Errorf("%d workspaces of %d, the process has grown by %d KiB: allowed are %d",
			made, most, grown>>10, boundBuffer>>10)
	}
	// all at once: clients that do not read keep workspaces from those that do
	var reading sync.WaitGroup
	for i, c := range all {
		reading.Go(func() {
			for range gets {
				if _, b := c.nextFrame(); len(b) != 64*rows ||
					bytes.Count(b, []byte{filler}) != len(b) {
					t.Errorf("client %d: wrong data", i)
				}
			}
		})
	}
	reading.Wait()
	for _, c := range all {
		c.closeWithGoodbye()
	}
}
