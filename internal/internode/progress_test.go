// SPDX-License-Identifier: BSD-3-Clause

// Unordered messages that the waiting thread receives itself, and stores that a sender sends later.
package internode

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// watchTest is two ranks on two nodes: rank 0 sends messages to rank 1.
type watchTest struct {
	t        *testing.T
	ends     *transporttest.Ends
	connects bool
}

func newWatchTest(t *testing.T, o pipe.Options, change func(*Options)) *watchTest {
	_, ends, _ := newUser(t, o, change)
	return &watchTest{t: t, ends: ends}
}

func (w *watchTest) send() {
	w.t.Helper()
	if err := w.ends.Open[0].Send(1, transport.Msg{Kind: 9, Body: []byte("unordered"),
		Unordered: true}); err != nil {
		w.t.Fatal(err)
	}
}

// call makes rank 1 connect to rank 0, and receive what has come.
func (w *watchTest) call() {
	w.t.Helper()
	if _, err := w.ends.Open[1].Call(0, transport.Msg{}); err != nil {
		w.t.Error(err)
	}
}

func (w *watchTest) await(n int) {
	w.t.Helper()
	for end := time.Now().Add(patience); !w.ends.Inbox[1].Has(0,
		n); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			w.t.Fatalf("message %d has not come", n)
		}
	}
}

func (w *watchTest) watch(n int) (found bool, end func()) {
	end = w.ends.Open[1].(transport.Watcher).Watch(0,
		func() bool { found = w.ends.Inbox[1].Has(0, n); return found }, w.connects)
	return found, end
}

// TestWatchFindsMessage shows that a waiter receives a message over its connection, and that a
// caller that waits for something else receives it, too.
func TestWatchFindsMessage(t *testing.T) {
	w := newWatchTest(t, pipe.Options{}, nil)
	w.send() // rank 1 has no connection: the message comes by its server
	w.await(1)
	w.call()
	w.send()
	time.Sleep(20 * time.Millisecond)
	if w.ends.Inbox[1].Has(0, 2) {
		t.Error("the message came though no thread polled: it went by the server")
	}
	found, end := w.watch(2)
	if end(); !found {
		t.Error("the waiter does not find the message")
	}
	_, end = w.watch(3)
	w.send() // after rank 1 has stopped polling
	w.await(3)
	end()
	w.send()
	w.call() // a wait for another answer receives it, too
	w.await(4)
}

// TestWatchSleepsAtItsConnection shows that a waiter sleeps at the connection by which its last
// messages came, and receives there without the progress thread. If they came by the data server it
// does not sleep there.
func TestWatchSleepsAtItsConnection(t *testing.T) {
	defer func(d time.Duration) { linkSleep = d }(linkSleep)
	linkSleep = patience
	w := newWatchTest(t, pipe.Options{}, nil)
	w.call()
	w.send()
	for start := time.Now(); ; { // it may take longer to come than a waiter looks
		found, end := w.watch(1)
		if end(); found {
			break
		}
		if time.Since(start) > patience {
			t.Fatal("the message has not come")
		}
	}
	g := w.ends.Open[1].(*Transport).routes.targets[0]
	if !g.watch.cameOverLink.Load() {
		t.Error("it is not known by which way the message came")
	}
	go func() {
		time.Sleep(20 * time.Millisecond) // longer than it looks
		w.send()
	}()
	found, end := w.watch(2)
	if end(); !found {
		t.Error("the waiter did not sleep at its connection")
	}
	g.watch.cameOverLink.Store(false)
	found, end = w.watch(3)
	if end(); found {
		t.Error("a message that was not sent has been found")
	}
}

// TestWatchConnects shows that a process that waits for messages of a node again and again connects
// to it, so that they come over the connection.
func TestWatchConnects(t *testing.T) {
	w := newWatchTest(t, pipe.Options{}, nil)
	straight := func() bool { return w.ends.Open[0].(*Transport).server.originOf(1) != nil }
	for n := 1; n <= 3*waitsBeforeConnect; n++ {
		if w.connects = n > waitsBeforeConnect+1; !w.connects && straight() {
			t.Error("it has connected though it may not")
		}
		_, end := w.watch(n)
		w.send()
		w.await(n)
		end()
	}
	if !straight() {
		t.Error("it has not connected")
	}
}

// TestWatchBeforeConnecting shows that a waiter receives a message over a connection that another
// thread has made meanwhile.
func TestWatchBeforeConnecting(t *testing.T) {
	w := newWatchTest(t, pipe.Options{}, nil)
	_, end := w.watch(1)
	defer end()
	w.call()
	w.send()
	w.await(1)
}

// hookedDial calls a function when a connection is made, before Dial returns.
type hookedDial struct {
	transport.Fabric
	dialled func(e transport.OriginEndpoint)
}

func (d *hookedDial) Dial(to transport.Rank, addr []byte,
	r transport.Receiver) (transport.OriginEndpoint, error) {
	e, err := d.Fabric.Dial(to, addr, r)
	if err == nil {
		d.dialled(e)
	}
	return e, err
}

// TestMessageWhileConnecting shows that a thread that polls a source that connections share
// receives what comes before Dial has returned.
func TestMessageWhileConnecting(t *testing.T) {
	net := pipe.New(pipe.Options{Shared: true})
	w := &watchTest{t: t}
	w.ends = transporttest.NewEnds(t, []int{1, 1},
		func(info transport.OpenInfo) (transport.Transport, error) {
			d := net.Driver()
			if info.Me == 1 {
				d.Open = func(c transport.FabricConfig) (transport.Fabric, error) {
					f, err := net.Open(c)
					return &hookedDial{f, func(e transport.OriginEndpoint) {
						w.send()
						for end := time.Now().Add(
							patience); !w.ends.Inbox[1].Has(0,
							1) && time.Now().Before(end); {
							e.Source().Poll(1)
						}
					}}, err
				}
			}
			return Open(d, options(info, nil))
		})
	w.ends.ConnectAll(t)
	w.call()
	w.await(1)
}

// TestWatchMissesNothing shows that no message is overlooked, whenever it comes.
func TestWatchMissesNothing(t *testing.T) {
	const rounds = 2000
	w := newWatchTest(t, pipe.Options{Delay: 20 * time.Microsecond},
		func(o *Options) { o.Looks = func() int { return 0 } })
	var users sync.WaitGroup
	defer users.Wait()
	users.Go(func() { // connects while rank 1 waits; from then on no other thread receives
		time.Sleep(5 * time.Millisecond)
		w.call()
	})
	var wanted atomic.Int32
	users.Go(func() {
		for n := range int32(rounds) {
			for wanted.Load() <= n && !t.Failed() {
				time.Sleep(time.Microsecond)
			}
			w.ends.Open[0].Send(1, transport.Msg{Kind: 9, Unordered: true})
		}
	})
	for n := 1; n <= rounds; n++ {
		// each as soon as the one before has come, while its reader is still busy
		if n%2 > 0 {
			wanted.Store(int32(n))
		}
		_, end := w.watch(n)
		wanted.Store(int32(n))
		w.await(n)
		end()
	}
}

// TestQueuedStores shows that a sender sends a nonblocking store, but before what its caller posts
// later, and that a fence waits for it.
func TestQueuedStores(t *testing.T) {
	const n = 64 << 10
	_, _, u := newUser(t, pipe.Options{Blocks: true, Room: 16 << 10,
		Delay: 20 * time.Microsecond, Divide: true}, nil)
	for round := range 40 {
		var all sync.WaitGroup
		for i := range 3 {
			mine := memory(u.mine+uintptr(i)*n, n)
			for k := range mine {
				mine[k] = byte(4*round + i + 1)
			}
			x := plain(u.mine+uintptr(i)*n, u.there, n)
			x.Later = true
			all.Add(1)
			x.Done = func(err error) {
				if err != nil {
					t.Error(err)
				}
				all.Done()
			}
			if err := u.tr.Put(1, x); err != nil {
				t.Fatal(err)
			}
		}
		*(*byte)(pointerTo(memory(u.mine+3*n, 1))) = byte(4*round + 4)
		if round%2 == 0 {
			if err := u.tr.Put(1, plain(u.mine+3*n, u.there+100, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if err := u.tr.Fence(1); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%d %d", byte(4*round+3), byte(4*round+3+(round+1)%2))
		if got := memory(u.there, n); fmt.Sprintf("%d %d", got[n-1], got[100]) != want {
			t.Fatalf("round %d: %d %d, expected %s", round, got[n-1], got[100], want)
		}
		transporttest.Returns(t, "Done of all", all.Wait)
	}
}

// TestQueuedStoresAreLost shows that queued stores end with an error when the connection is lost.
func TestQueuedStoresAreLost(t *testing.T) {
	net, ends, u := newUser(t, pipe.Options{Blocks: true, Room: 16 << 10}, nil)
	if err := u.operate(1); err != nil {
		t.Fatal(err)
	}
	net.Break(0, 1, 3)
	var all sync.WaitGroup
	var failed atomic.Int32
	for range 30 {
		x := plain(u.mine, u.there, 64<<10)
		x.Later = true
		all.Add(1)
		x.Done = func(err error) {
			if err != nil {
				failed.Add(1)
			}
			all.Done()
		}
		if err := u.tr.Put(1, x); err != nil {
			all.Done()
			failed.Add(1)
		}
	}
	transporttest.Returns(t, "Done of all", all.Wait)
	if n := failed.Load(); n < 20 {
		t.Errorf("only %d of 30 stores have failed", n)
	}
	u.expectLost(t, ends, nil, "broken")
}
