// SPDX-License-Identifier: BSD-3-Clause

// Joining a node: which connections are accepted, how an address is agreed on, and that a rank that
// dies meanwhile ends the joining of all others with a clear error and nothing left behind.
package shm

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/kernel"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

// openListener is a listener that the test closes.
func openListener(t *testing.T) *Listener {
	t.Helper()
	d, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// admitted runs connect against a listener and returns the result of admit.
func admitted(t *testing.T, d *Listener, nlocal int, connect func() error) (frame, error) {
	t.Helper()
	called := make(chan error, 1)
	go func() { called <- connect() }()
	c, err := d.socket.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	f, err := admit(c, testSecret(), nlocal)
	if e := <-called; e != nil {
		t.Fatal(e)
	}
	return f, err
}

// A connection is accepted with a whole hello, the secret and a rank of the node only.
func TestAdmit(t *testing.T) {
	leaktest.Check(t)
	d := openListener(t)
	say := func(b []byte) func() error {
		return func() error {
			c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: "@" + d.Name,
				Net: "unix"})
			if err == nil {
				_, err = c.Write(b)
				c.Close()
			}
			return err
		}
	}
	hello := frame{kind: frameHello, from: 2, a: purposeMessages}
	good := append(hello.marshal(), testSecret()...)
	if f, err := admitted(t, d, 3, say(good)); err != nil || f != hello {
		t.Errorf("%+v, %v", f, err)
	}
	wrong := append(hello.marshal(), strings.Repeat("x", secretLen)...)
	for what, b := range map[string][]byte{
		"nothing": nil, "half a frame": good[:10], "no secret": good[:frameBytes],
		"half a secret": good[:frameBytes+8],
		"wrong secret":  wrong, "another frame": append(frame{kind: frameVote}.marshal(),
			testSecret()...), "zeros": make([]byte, 40),
	} {
		if _, err := admitted(t, d, 3, say(b)); err == nil {
			t.Errorf("%s was let in", what)
		}
	}
	if _, err := admitted(t, d, 2, say(good)); err == nil {
		t.Error("local rank 2 of 2 was let in")
	}
}

// Another user is refused in both directions, even with the secret.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user for a moment")
	}
	leaktest.Check(t)
	d := openListener(t)
	good := append(frame{kind: frameHello, from: 1}.marshal(), testSecret()...)
	_, err := admitted(t, d, 2, asNobody(func() error {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Connect(fd, &unix.SockaddrUnix{Name: "@" + d.Name}); err != nil {
			return err
		}
		_, err = unix.Write(fd, good)
		return err
	}))
	if err == nil || !strings.Contains(err.Error(), "user 65534") {
		t.Errorf("a caller of another user: %v", err)
	}
	var theirs *net.UnixListener
	if err := asNobody(func() (err error) {
		theirs, err = net.ListenUnix("unix", &net.UnixAddr{Name: "@" + d.Name + "-x",
			Net: "unix"})
		return err
	})(); err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if _, err := dialRank(d.Name+"-x", hello{purpose: purposeJoin, self: 1,
		secret: testSecret()}); err == nil || !strings.Contains(err.Error(), "user 65534") {
		t.Errorf("a listener of another user: %v", err)
	}
}

// asNobody runs do on a thread of another user, which then ends.
func asNobody(do func() error) func() error {
	return func() error {
		done := make(chan error, 1)
		go func() {
			// and never unlock: the thread ends with the goroutine
			runtime.LockOSThread()
			if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534,
				65534); e != 0 {
				done <- e
				return
			}
			done <- do()
		}()
		return <-done
	}
}

// Strangers and repeated callers do not disturb the joining.
func TestStrangersDoNotDisturbJoining(t *testing.T) {
	leaktest.Check(t)
	d := openListener(t)
	for _, h := range []struct {
		self    int
		purpose uint64
		secret  string
	}{{1, purposeJoin, "w"}, {1, purposeMessages, "s"}, {2, purposeJoin, "s"},
		{2, purposeJoin, "s"}, {1, purposeJoin, "s"}} {
		secret := []byte(strings.Repeat(h.secret, secretLen))
		c, err := dialRank(d.Name, hello{h.purpose, h.self, secret, int64(h.self) << 30})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	o := order{Listeners: make([]string, 3), Secret: testSecret()}
	opt := o.options()
	conns, left, err := d.acceptMembers(&opt)
	if err != nil || conns[0] != nil || conns[1] == nil || conns[2] == nil {
		t.Errorf("%v, %v", conns, err)
	}
	if ownSpaceLeft() == unlimited && left != (spaceLeft{1 << 30, 1}) {
		t.Errorf("the least address space left: %+v", left)
	}
	closeAll(conns)
}

// A rank that cannot reach its leader names it in the error.
func TestNoLeader(t *testing.T) {
	leaktest.Check(t)
	d := openListener(t)
	o := order{Listeners: []string{"armci-nobody", d.Name}, Self: 1, Secret: testSecret()}
	if _, err := d.Join(o.options()); err == nil ||
		!strings.Contains(err.Error(), "reach rank 2") {
		t.Errorf("%v", err)
	}
}

// An arena that is too small is refused with the setting to raise.
func TestImpossibleArena(t *testing.T) {
	leaktest.Check(t)
	d := openListener(t)
	o := order{Listeners: []string{d.Name}, Secret: testSecret(), Arena: 1 << 20,
		Base: testBase}
	if _, err := d.Join(o.options()); err == nil ||
		!strings.Contains(err.Error(), "too small") ||
		!strings.Contains(err.Error(), "ARMCI_SHM_ARENA") {
		t.Errorf("%v", err)
	}
}

var scenarios = map[string]func(*rank){
	"die while joining": dieWhileJoining,
	"squat":             squat,
	"fail to join":      failToJoin,
	"wrong secret":      wrongSecret,
	"few descriptors":   fewDescriptors,
}

// dieWhileJoining kills rank 2 after its hello, before its vote.
func dieWhileJoining(r *rank) {
	if r.order.Self == 2 {
		if _, err := dialRank(r.order.Listeners[0], hello{purposeJoin, 2, r.order.Secret,
			unlimited}); err != nil {
			r.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	failToJoin(r)
}

// failToJoin expects Join to fail with nothing left mapped, and writes the error to the parent.
func failToJoin(r *rank) {
	err := r.join()
	if err == nil {
		r.Fatal("joined")
	}
	r.Node = nil
	r.writeLine("%v", err)
	maps, merr := os.ReadFile("/proc/self/maps")
	if merr != nil || strings.Contains(string(maps), fmt.Sprintf("\n%x-", r.order.Base)) ||
		strings.Contains(string(maps), "memfd:armci") {
		r.Errorf("the arena is still mapped (%v)", merr)
	}
}

// A rank that dies while joining makes all others fail, and leaves no mapping.
func TestDeathWhileJoining(t *testing.T) {
	leaktest.Check(t)
	begin := time.Now()
	all := launch(t, 4, "die while joining", nil)
	for _, p := range all {
		if p.Local != 2 {
			want := fmt.Sprintf("take the arena from rank %d", worldRank(0))
			if p.Local == 0 {
				want = fmt.Sprintf("rank %d has ended", worldRank(2))
			}
			if got := p.readLine(t); !strings.Contains(got, want) {
				t.Errorf("local rank %d: %q, expected %q", p.Local, got, want)
			}
		}
	}
	for _, p := range all {
		p.awaitExit(t, p.Local == 2)
	}
	if took := time.Since(begin); took > patience/2 {
		t.Errorf("it took %v", took)
	}
}

// squat occupies, in rank 1, the address that is tried first.
func squat(r *rank) {
	if r.order.Self == 1 {
		flags := unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_FIXED_NOREPLACE
		if _, err := unix.MmapPtr(-1, 0, kernel.Ptr(r.order.Base+1<<30), page,
			unix.PROT_READ, flags); err != nil {
			r.Fatal(err)
		}
	}
	if err := r.join(); err != nil {
		r.Fatal(err)
	}
	r.writeLine("%#x", r.Base())
}

// All ranks map the arena at another address if one rank cannot map it at the first.
func TestAddressTaken(t *testing.T) {
	leaktest.Check(t)
	all := launch(t, 3, "squat", nil)
	first := all[0].readLine(t)
	for _, p := range all[1:] {
		if got := p.readLine(t); got != first || got == fmt.Sprintf("%#x", testBase) {
			t.Errorf("local rank %d maps at %s, local rank 0 at %s", p.Local, got,
				first)
		}
	}
	for _, p := range all {
		p.awaitExit(t, false)
	}
}

// wrongSecret: local rank 2 is a stranger first, then comes back with the right secret.
func wrongSecret(r *rank) {
	if r.order.Self == 2 {
		right := r.order.Secret
		r.order.Secret = []byte(strings.Repeat("w", secretLen))
		if err := r.join(); err == nil {
			r.Fatal("let in with a wrong secret")
		}
		r.order.Secret = right
	}
	if err := r.join(); err != nil {
		r.Fatal(err)
	}
}

func TestWrongSecret(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "wrong secret")
}

// Whatever bytes arrive, admit accepts no connection without the secret.
func FuzzAdmit(f *testing.F) {
	good := append(frame{kind: frameHello, from: 1, a: purposeJoin}.marshal(), testSecret()...)
	f.Add(good)
	f.Add(good[:30])
	f.Add(make([]byte, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		mine, theirs := socketPair(t)
		defer mine.Close()
		theirs.Write(b)
		theirs.Close()
		got, err := admit(mine, testSecret(), 2)
		knows := len(b) >= frameBytes+secretLen &&
			string(b[frameBytes:frameBytes+secretLen]) == string(testSecret())
		if err == nil && (!knows || got.from > 1 || got.kind != frameHello) {
			t.Errorf("%x was let in as %+v", b, got)
		}
	})
}

// Whatever a leader sends, a member keeps no place that not all ranks have reserved.
func FuzzOffer(f *testing.F) {
	f.Add(frame{kind: frameOffer, a: 1 << 30, b: testBase}.marshal())
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		mine, theirs := socketPair(t)
		defer mine.Close()
		theirs.Write(b)
		theirs.Close()
		if p, reserved, err := answerOffer(mine, 1); err == nil || reserved {
			t.Errorf("%x: reserved %+v", b, p)
		}
	})
}

// Whatever a rank of the job sends, receiveMessages passes whole messages only to the handler, and
// reports one that is too long.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, 9, 'a', 'b', 'c', 0, 0, 0, 0, 1})
	f.Add([]byte{255, 255, 255, 255, 9})
	f.Add([]byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		mine, theirs := socketPair(t)
		theirs.Write(b)
		theirs.Close()
		violated := false
		m := newNode(nil, Options{Ranks: []transport.Rank{7},
			Lost: func(transport.Rank, string) { violated = true }})
		rest := b
		m.Handle(func(from, _ transport.Rank, msg transport.Msg, _ func([]byte)) {
			n := len(msg.Body)
			if from != 7 || len(rest) < messageHead+n || rest[4] != msg.Kind ||
				string(rest[messageHead:messageHead+n]) != string(msg.Body) {
				t.Fatalf("%x: kind %d, %x", rest, msg.Kind, msg.Body)
			}
			rest = rest[messageHead+n:]
		})
		m.receiveMessages(mine, 0)
		mine.Close()
		if tooLong := len(rest) >= messageHead &&
			binary.LittleEndian.Uint32(
				rest) > transport.MaxMessage; tooLong != violated {
			t.Errorf("%x: reported is %v", rest, violated)
		}
	})
}

// socketPair returns two connected sockets; the caller closes them.
func socketPair(t testing.TB) (a, b *net.UnixConn) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	conn := func(fd int) *net.UnixConn {
		file := os.NewFile(uintptr(fd), "pair")
		defer file.Close()
		c, err := net.FileConn(file)
		if err != nil {
			t.Fatal(err)
		}
		return c.(*net.UnixConn)
	}
	return conn(fds[0]), conn(fds[1])
}
