// SPDX-License-Identifier: BSD-3-Clause

// Lost connections, silent nodes, broken devices and goodbyes, as callers meet them: each operation
// ends, a loss is reported once, and what is no fault is survived.
package internode

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/eventually"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// networks are those that faults are tested over.
func networks() map[string]pipe.Options {
	return map[string]pipe.Options{
		"plain": {},
		"small": {MaxFrame: 4096, Credits: 4, Room: 8 << 10, Divide: true,
			Delay: 50 * time.Microsecond, Defer: true},
		"blocks": {Blocks: true, Room: 32 << 10},
		"device": {Direct: true, Atomics: true, Shared: true, MaxFrame: 16 << 10,
			Credits: 16, Delay: 50 * time.Microsecond},
	}
}

// user posts operations of all kinds to rank 1 until one fails, from several threads.
type user struct {
	tr     transport.Transport
	mine   uintptr
	there  uintptr
	open   atomic.Int64 // transfers without Done so far, and calls without Replied
	errors atomic.Int64
}

const userBytes = 1 << 20

// operate posts an operation that depends on a number, and waits for it.
func (u *user) operate(i int) error {
	n := []int{8, 100, 3000, 40000, 200000}[i/7%5]
	x := plain(u.mine+uintptr(i%64), u.there, n)
	if i%3 == 0 {
		x = &transport.Xfer{Count: []int32{int32(n/8 + 8), 7},
			Local:  transport.Section{Base: u.mine, Stride: []int32{int32(n/8 + 16)}},
			Remote: transport.Section{Base: u.there, Stride: []int32{int32(n/8 + 24)}}}
	}
	one := float64(1)
	switch i % 7 {
	case 0:
		return u.startTransfer(x, u.tr.Put)
	case 1:
		return u.startTransfer(x, u.tr.Get)
	case 2:
		x.Count[0] = x.Count[0] / 8 * 8
		return u.startTransfer(x, func(p transport.Peer, x *transport.Xfer) error {
			return u.tr.Acc(p, x, transport.Scale{Type: int(kernel.Double),
				Value: unsafe.Pointer(&one)})
		})
	case 3:
		return u.tr.RMW(1, &transport.RMW{Bytes: 8, Addr: u.there})
	case 4:
		return u.call(n, i%2 == 0)
	case 5:
		return u.tr.Send(1, transport.Msg{Body: make([]byte, n), Unordered: i%2 == 0})
	}
	return u.tr.Fence(1)
}

// call makes a call, and waits for the reply if waits is set.
func (u *user) call(n int, waits bool) error {
	m := transport.Msg{Body: make([]byte, n)}
	if !waits {
		u.open.Add(1)
		m.Replied = func(body []byte, err error) {
			if u.open.Add(-1) < 0 || err == nil && len(body) != n {
				panic("a reply that was told twice, or is not its call's")
			}
		}
	}
	_, err := u.tr.Call(1, m)
	if err != nil && !waits {
		u.open.Add(-1)
	}
	return err
}

// startTransfer starts a transfer, and waits for it except for each third one.
func (u *user) startTransfer(x *transport.Xfer,
	start func(transport.Peer, *transport.Xfer) error) error {
	x.Later = u.open.Add(1)%3 == 0
	done := make(chan error, 2)
	x.Done = func(err error) {
		u.open.Add(-1)
		done <- err
	}
	err := start(1, x)
	if err != nil {
		u.open.Add(-1)
	} else if !x.Later {
		err = <-done
	}
	return err
}

// useUntilError uses a transport with several threads until it fails in each, and returns the
// errors.
func (u *user) useUntilError() (all []error) {
	var running sync.WaitGroup
	all = make([]error, 4)
	for th := range all {
		running.Go(func() {
			for i := th * 5; all[th] == nil; i++ {
				all[th] = u.operate(i)
			}
		})
	}
	running.Wait()
	return all
}

func newUser(t testing.TB, o pipe.Options, change func(*Options)) (*pipe.Net, *transporttest.Ends,
	*user) {
	leaktest.Check(t)
	net := pipe.New(o)
	ends := newEnds(t, net, change, 1, 1)
	ends.ConnectAll(t)
	u := &user{tr: ends.Open[0], mine: ends.Alloc(t, 0, 2*userBytes),
		there: ends.Alloc(t, 1, 2*userBytes)}
	return net, ends, u
}

// expectLost checks what follows a loss: errors, one report at rank 0, and nothing left open.
func (u *user) expectLost(t testing.TB, ends *transporttest.Ends, errs []error, why string) {
	t.Helper()
	for _, err := range errs {
		if !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("an operation ended with: %v", err)
		}
	}
	for i := range 7 {
		if err := u.operate(i); !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("operation %d afterwards: %v", i, err)
		}
	}
	eventually.True(t, func() bool { return u.open.Load() == 0 }, "transfers do not end")
	losses(t, ends)
	mine := 0
	for _, l := range ends.Losses() {
		if strings.HasPrefix(l,
			"rank 0 was told about rank 1: rank 1 (host host1): connection lost: ") &&
			strings.Contains(l, why) {
			mine++
		}
	}
	if mine != 1 {
		t.Errorf("rank 0 was told %d times: %v", mine, ends.Losses())
	}
}

// TestConnectionBreaks breaks the connection at many points of a busy exchange.
func TestConnectionBreaks(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(12) {
				o.Seed = seed
				net, ends, u := newUser(t, o, nil)
				net.Break(0, 1, 1+rand.New(rand.NewPCG(seed, 1)).IntN(1<<(2+seed)))
				transporttest.Returns(t, fmt.Sprintf("seed %d", seed),
					func() {
						u.expectLost(t, ends, u.useUntilError(),
							"broken")
					})
				ends.CloseAll()
			}
		})
	}
}

// TestLossBetweenPartsOfReplies shows that a loss between the frames of a long reply leaves the
// reply's memory alone. It was once written to after its request had ended.
func TestLossBetweenPartsOfReplies(t *testing.T) {
	for seed := range uint64(30) {
		net, ends, u := newUser(t, pipe.Options{Seed: seed, MaxFrame: 2048,
			Delay: 20 * time.Microsecond, Credits: 8}, nil)
		if _, err := u.tr.Call(1, transport.Msg{Body: []byte("?")}); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for i := 0; ; i++ {
					body := bytes.Repeat([]byte{byte(i)}, 30000)
					got, err := u.tr.Call(1, transport.Msg{Body: body})
					if err == nil && bytes.Equal(got, body) {
						continue
					}
					if err == nil || !errors.Is(err, transport.ErrPeerDead) {
						t.Errorf("%d bytes came back, %v", len(got), err)
					}
					return
				}
			})
		}
		time.Sleep(time.Duration(seed) * 100 * time.Microsecond)
		net.Break(0, 1, 0)
		transporttest.Returns(t, "calls", all.Wait)
		ends.CloseAll()
	}
}

// TestSilentNodeIsLost shows that a node from which nothing comes any more is noticed, also by a
// process that waits for nothing.
func TestSilentNodeIsLost(t *testing.T) {
	for name, o := range networks() {
		for _, busy := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, busy %v", name, busy), func(t *testing.T) {
				net, ends, u := newUser(t, o,
					func(o *Options) { o.Timeout = 400 * time.Millisecond })
				if err := u.operate(1); err != nil {
					t.Fatal(err)
				}
				net.Vanish(1)
				var errs []error
				transporttest.Returns(t, "operations", func() {
					if busy {
						errs = u.useUntilError()
					}
					losses(t, ends)
					u.expectLost(t, ends, errs, "")
				})
			})
		}
	}
}

// TestBrokenDevice shows that a device that fails ends the connection, once.
func TestBrokenDevice(t *testing.T) {
	net, ends, u := newUser(t, networks()["device"], nil)
	if err := u.operate(0); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(5*time.Millisecond, func() { net.Fail(0) })
	transporttest.Returns(t, "operations",
		func() { u.expectLost(t, ends, u.useUntilError(), "device") })
}

// TestPeerLeaves shows that a node that has said goodbye is not lost, and that fences of what it
// has handled succeed; other operations fail.
func TestPeerLeaves(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			_, ends, u := newUser(t, o, nil)
			for i := range 20 {
				if err := u.operate(i); err != nil {
					t.Fatal(err)
				}
			}
			if err := u.tr.Fence(1); err != nil {
				t.Fatal(err)
			}
			ends.Open[1].Close()
			g := u.tr.(*Transport).routes.targets[1]
			eventually.True(t, g.loss.goodbye.Load, "the goodbye is not heard")
			err := u.operate(1)
			if !errors.Is(err, transport.ErrPeerDead) ||
				!strings.Contains(err.Error(), "has left") {
				t.Errorf("a get from a node that has left: %v", err)
			}
			if err := u.tr.Fence(1); err != nil {
				t.Errorf("a fence of what was fenced before: %v", err)
			}
			if l := ends.Losses(); len(l) > 0 {
				t.Error(l)
			}
		})
	}
}

// TestPeerLeavesMeanwhile shows that a caller that sends to a node that is just leaving learns that
// it has left, even if sending fails before its goodbye is read.
func TestPeerLeavesMeanwhile(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				_, ends, u := newUser(t, o, nil)
				if err := u.operate(0); err != nil {
					t.Fatal(err)
				}
				closed := make(chan struct{})
				go func() {
					ends.Open[1].Close()
					close(closed)
				}()
				var err error
				transporttest.Returns(t, "puts", func() {
					for i := 0; err == nil; i++ {
						err = u.tr.Put(1, plain(u.mine, u.there, 8))
					}
				})
				<-closed
				if !errors.Is(err, transport.ErrPeerDead) ||
					!strings.Contains(err.Error(), "has left") {
					t.Errorf("a put to a node that is leaving: %v", err)
				}
				if l := ends.Losses(); len(l) > 0 {
					t.Error(l)
				}
			}
		})
	}
}

// TestCloseWithOpenRequests shows that requests that are open when a transport is closed fail with
// ErrClosed, and no loss is reported.
func TestCloseWithOpenRequests(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			_, ends, u := newUser(t, o, nil)
			if err := u.operate(1); err != nil {
				t.Fatal(err)
			}
			patient := make(chan bool, 1) // Close had time for a goodbye
			time.AfterFunc(3*time.Millisecond, func() {
				begin := time.Now()
				u.tr.Close()
				patient <- time.Since(begin) < goodbyeTimeout
			})
			transporttest.Returns(t, "operations", func() {
				for _, err := range u.useUntilError() {
					if !errors.Is(err, transport.ErrClosed) {
						t.Errorf("an open operation ended with: %v", err)
					}
				}
			})
			eventually.True(t, func() bool { return u.open.Load() == 0 },
				"transfers do not end")
			if l := ends.Losses(); <-patient && len(l) > 0 {
				t.Error(l)
			}
		})
	}
}

// TestFirstRefusal shows that after several bad stores the next fence returns the first refusal,
// once.
func TestFirstRefusal(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			_, ends, u := newUser(t, o, nil)
			bad := ends.Private(1, 4096)
			for i := range uintptr(3) {
				x := plain(u.mine, bad+256*i, 8)
				if err := u.tr.Put(1, x); err != nil {
					t.Fatal(err)
				}
			}
			err := u.tr.Fence(1)
			if !errors.Is(err, transport.ErrBadAddr) ||
				strings.Contains(err.Error(), fmt.Sprintf("%#x", bad+256)) {
				t.Errorf("the fence says: %v; the first was %#x", err, bad)
			}
			if err := u.tr.Fence(1); err != nil {
				t.Errorf("the next fence says: %v", err)
			}
		})
	}
}
