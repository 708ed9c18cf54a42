// SPDX-License-Identifier: BSD-3-Clause

// Sockets that are lost at random moments while both processes live: no byte is lost, doubled or in
// another place.
package tcp

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/internode"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// reconnecting lets connections be made again.
func reconnecting(f *fabric) { f.Reconnect = true }

// dialAgain connects a client that connects again after a loss.
func (s *server) dialAgain(t testing.TB, me transport.Rank) *client {
	t.Helper()
	c := newClient(t, me, reconnecting)
	if err := c.connect(s.fabric.Info().Addr, 0); err != nil {
		t.Fatal(err)
	}
	return c
}

// cut ends a socket as a machine in between may: gracefully in one direction or both, or with a
// reset that discards what the other kernel has not received.
func cut(s *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	how := []int{unix.SHUT_RD, unix.SHUT_WR, unix.SHUT_RDWR}
	unix.Shutdown(s.fd, how[rand.IntN(len(how))])
}

// cutAtRandom cuts one of the sockets after random pauses, until the result is called, which
// returns how often.
func cutAtRandom(longest time.Duration, sockets func() []*socket) (stop func() int) {
	var ending atomic.Bool
	done, cuts := make(chan struct{}), 0
	go func() {
		defer close(done)
		for !ending.Load() {
			time.Sleep(rand.N(longest))
			if all := sockets(); len(all) > 0 {
				cut(all[rand.IntN(len(all))])
				cuts++
			}
		}
	}()
	return func() int {
		ending.Store(true)
		<-done
		return cuts
	}
}

// awaitSockets waits until each connection has a socket that is whole in both directions. A
// connection without one is not in the list. A socket with a cut receiving side stays established,
// as TCP sees it, until its thread has read the end.
func awaitSockets(t testing.TB, conns int, sockets func() []*socket) {
	t.Helper()
	whole := func() (n int) {
		for _, s := range sockets() {
			cut := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLRDHUP}}
			info, err := unix.GetsockoptTCPInfo(s.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
			if _, e := unix.Poll(cut, 0); e == nil && cut[0].Revents == 0 &&
				err == nil && info.State == unix.BPF_TCP_ESTABLISHED {
				n++
			}
		}
		return n
	}
	for end := testDeadline(); whole() < conns; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d connections have a socket", whole(), conns)
		}
	}
}

// Echoes of all lengths come back right while sockets are cut on both sides.
func TestEchoesOverCutSockets(t *testing.T) {
	s := newServer(t, reconnecting)
	c := s.dialAgain(t, 2)
	end := s.awaitConns(t, 1)[0]
	stop := cutAtRandom(5*time.Millisecond, func() []*socket {
		return []*socket{&c.endpoint.socket, &end.conn.socket}
	})
	begin := time.Now()
	for i := 0; time.Since(begin) < 3*time.Second; i++ {
		c.echo(t, 3, 1<<rand.IntN(21))
	}
	if n := stop(); n < 20 {
		t.Errorf("%d cuts", n)
	}
	if got := s.awaitConns(t, 1); len(got) != 1 {
		t.Errorf("%d connections", len(got))
	}
}

// The transport passes the suite while its sockets are cut, and the job learns of no loss.
func TestTransportOverCutSockets(t *testing.T) {
	var fabrics []*fabric
	d := Driver(Options{})
	open := d.Open
	d.Open = func(c transport.FabricConfig) (transport.Fabric, error) {
		c.Reconnect = true
		f, err := open(c)
		if err == nil {
			fabrics = append(fabrics, f.(*fabric))
		}
		return f, err
	}
	ranks := []int{1, 1, 1}
	hints := [][]byte{makeHint(), makeHint(), makeHint()}
	e := transporttest.NewEnds(t, ranks, func(info transport.OpenInfo) (transport.Transport,
		error) {
		o := internode.Options{OpenInfo: info, Servers: 1, Poll: 20 * time.Microsecond,
			Settings: transport.Settings{Timeout: 5 * time.Second, Eager: 8 << 10,
				Buffer: 16 << 20, Looks: func() int { return 100 }}}
		o.Hints = hints
		return internode.Open(d, o)
	})
	conns := 0
	sockets := func() (all []*socket) {
		for _, f := range fabrics {
			for _, end := range f.endpoints.listConns() {
				all = append(all, &end.socket)
			}
		}
		conns = max(conns, len(all))
		return all
	}
	stop := cutAtRandom(20*time.Millisecond, sockets)
	cuts := 0
	e.BeforeClose = func() {
		// a process that has closed its transport is not looked for by one that has lost it
		cuts = stop()
		for _, s := range sockets() {
			unix.Shutdown(s.fd, unix.SHUT_RD) // the cut that is found last
		}
		awaitSockets(t, conns, sockets)
	}
	e.Conform(t)
	t.Logf("%d cuts", cuts)
}

// The death of the server's process is found out at once.
func TestDeadServerIsNotAwaited(t *testing.T) {
	s := newServer(t, reconnecting)
	c := s.dialAgain(t, 2)
	s.awaitConns(t, 1)
	begin := time.Now()
	s.close()
	if err := c.awaitLoss(t); !strings.Contains(err.Error(), "connection") ||
		time.Since(begin) > 3*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

// originWithDeadServer is a server with a connection to an origin, and nothing listens where that
// one's server was.
func originWithDeadServer(t *testing.T) (*server, *rawClient, *serverEnd) {
	dead := newServer(t, nil)
	s := newServer(t, func(f *fabric) {
		f.Reconnect = true
		f.ServerAddr = func(transport.Rank) []byte { return dead.fabric.Info().Addr }
	})
	r := s.dialRaw(2)
	end := s.awaitConns(t, 1)[0]
	dead.close()
	return s, r, end
}

// The death of the origin's process is found out at once: nothing listens where its server was.
func TestDeadOriginIsNotAwaited(t *testing.T) {
	s, r, end := originWithDeadServer(t)
	begin := time.Now()
	unix.Close(r.fd)
	if err := s.lossOf(t, end); time.Since(begin) > 3*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

// So it is if the origin has received no replies for a while, which the server keeps.
func TestDeadOriginWithReplies(t *testing.T) {
	s, r, end := originWithDeadServer(t)
	frame := appendFrame(nil, []byte{opEcho}, make([]byte, 8<<10))
	for at, begin := 0, time.Now(); time.Since(begin) < 500*time.Millisecond; {
		if n, _ := unix.Write(r.fd, frame[at:]); n > 0 {
			at = (at + n) % len(frame)
		}
	}
	unix.Close(r.fd)
	s.lossOf(t, end)
}

// An origin that does not come again is lost after the timeout, and what it had sent before is
// handled.
func TestOriginThatDoesNotReturn(t *testing.T) {
	s := newServer(t, func(f *fabric) { f.Reconnect, f.Timeout = true, time.Second })
	r := s.dialRaw(2)
	end := s.awaitConns(t, 1)[0]
	r.send(appendFrame(nil, []byte{opPut}, []byte("late")))
	unix.Close(r.fd)
	begin := time.Now()
	s.lossOf(t, end)
	if took := time.Since(begin); took < 900*time.Millisecond || took > 5*time.Second {
		t.Errorf("lost after %v", took)
	}
	if !bytes.HasPrefix(s.mem, []byte("late")) {
		t.Error("what had come was not handled")
	}
}

// A stream is not gone on with by another rank, nor one that is not known.
func TestStreamsOfOthers(t *testing.T) {
	s := newServer(t, reconnecting)
	c := s.dialAgain(t, 2)
	s.awaitConns(t, 1)
	for name, at := range map[string]streamPoint{
		"another rank's": {id: c.endpoint.id, received: 1},
		"an unknown one": {id: transport.NewNonce(), received: 1},
	} {
		fd := s.rawConnect()
		f := &fabric{FabricConfig: config(3, 1)}
		_, err := f.proveToServer(fd, 0, at, testDeadline(), testDeadline())
		unix.Close(fd)
		if err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.echo(t, 3, 100)
	if c.endpoint.out.lossCause() != nil {
		t.Error("the true one has lost its socket")
	}
}

// A hello that was sent before the origin went on last is refused, and changes nothing: one of an
// earlier outage, or one of the same, once bytes were freed that it asks for.
func TestLateHello(t *testing.T) {
	s := newServer(t, reconnecting)
	c := s.dialAgain(t, 2)
	s.awaitConns(t, 1)
	c.echo(t, 3, 100)
	received := c.streamed()
	cut(&c.endpoint.socket)
	c.echo(t, 10, 60000)
	for _, late := range []uint64{received - 1, received} {
		fd := s.rawConnect()
		f := &fabric{FabricConfig: config(2, 1)}
		at := streamPoint{id: c.endpoint.id, received: late}
		_, err := f.proveToServer(fd, 0, at, testDeadline(), testDeadline())
		unix.Close(fd)
		if err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%d bytes received, after %d: %v", late, received, err)
		}
		c.echo(t, 3, 100)
		if c.endpoint.out.lossCause() != nil {
			t.Error("the connection has lost its socket")
		}
	}
}

// The first connection waits, as later ones do, until the network is up.
func TestDialWhileTheNetworkIsDown(t *testing.T) {
	runtime.LockOSThread() // never unlocked: the thread ends with its namespace
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("skip: no network namespace of one's own: %v", err)
	}
	if err := exec.Command("ip", "link", "set", "lo", "up").Run(); err != nil {
		t.Skipf("skip: ip link set lo up: %v", err)
	}
	s := newServer(t, reconnecting)
	c := newClient(t, 2, reconnecting)
	outage := exec.Command("sh", "-c", "ip addr flush dev lo && echo && sleep 0.4 && "+
		"ip addr add 127.0.0.1/8 dev lo") // meanwhile there is no route
	begun, err := outage.StdoutPipe()
	if err == nil {
		err = outage.Start()
	}
	if err == nil {
		_, err = begun.Read(make([]byte, 1))
	}
	if err == nil {
		err = c.connect(s.fabric.Info().Addr, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	outage.Wait()
	c.echo(t, 3, 100)
}

// Bytes that were acknowledged and did not arrive end the connection: nothing is made up.
func TestLostBytesAreFound(t *testing.T) {
	s := outStream{socket: streamSocket{fd: -1}, resumes: true, state: streamLost,
		cause: errors.New("reset"), unacked: []byte("abc"), end: 10}
	for received, want := range map[uint64]bool{6: false, 7: true, 10: true, 11: false} {
		s.state = streamLost
		if err := s.resume(received); (err == nil) != want {
			t.Errorf("%d of 10 bytes, 3 of them kept: %v", received, err)
		}
	}
}

// connectedPair is the two sockets of a TCP connection.
func connectedPair(t *testing.T) (pair [2]int) {
	fd, at, err := rawsock.Listen(loopback, "")
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if pair[0], err = rawsock.Connect(at, "", time.Second, testDeadline()); err == nil {
		pair[1], _, err = unix.Accept4(fd, unix.SOCK_NONBLOCK)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Close(pair[0])
		unix.Close(pair[1])
	})
	return pair
}
