// SPDX-License-Identifier: BSD-3-Clause

// Connections that are released while messages travel over them, or while a thread waits for one;
// and connections that no thread uses.
package internode

import (
	"errors"
	"sync"
	"testing"
	"time"

	"libarmci/internal/testutil/eventually"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// TestMessagesWhileReleasing shows that messages over a process's own connection all come, once,
// while that is released and made again. Long ones that may take no other way are refused, or come.
func TestMessagesWhileReleasing(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			w := newWatchTest(t, o, nil)
			w.call()
			var talk sync.WaitGroup
			defer talk.Wait()
			sent, stop := 0, make(chan struct{})
			talk.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						w.call()
						time.Sleep(200 * time.Microsecond)
						releaseLinkOf(t, w.ends.Open[1], 0, linkReleased)
					}
				}
			})
			refused := 0
			for i := range 2000 {
				m := transport.Msg{Kind: 9, Body: make([]byte, i%3*4000),
					Unordered: true, ToProcess: i%2 == 0}
				switch err := w.ends.Open[0].Send(1, m); {
				case err == nil:
					sent++
				case m.ToProcess && errors.Is(err, transport.ErrNotNative):
					refused++
				default:
					t.Fatal(err)
				}
				if i%50 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			close(stop)
			talk.Wait()
			w.call() // reads what has come straight
			w.await(sent)
			time.Sleep(2 * time.Millisecond)
			if w.ends.Inbox[1].Has(0, sent+1) {
				t.Error("a message has come twice")
			}
			t.Logf("%d sent, %d refused", sent, refused)
		})
	}
}

// TestWatchWhileReleasing shows that a waiter gets a node's message though the connection has been,
// or is just being, released.
func TestWatchWhileReleasing(t *testing.T) {
	w := newWatchTest(t, pipe.Options{}, nil)
	until := []int32{linkOpen, linkReleasing, linkReleased}
	for n := 1; n <= 60; n++ {
		w.call()
		if n%4 < 3 {
			releaseLinkOf(t, w.ends.Open[1], 0, until[n%4])
		}
		var waiter sync.WaitGroup
		waiter.Go(func() {
			_, end := w.watch(n)
			w.await(n)
			end()
		})
		time.Sleep(time.Duration(n%5) * 200 * time.Microsecond)
		w.send()
		transporttest.Returns(t, "watching", waiter.Wait)
	}
	w.call()
	p := w.ends.Open[1].(*Transport).routes.targets[0].link.Load().poller
	if n := p.sleepers.Load(); n != 0 {
		t.Errorf("%d threads count as asleep", n)
	}
}

// TestWaitKeepsConnection shows that a connection is not released while a thread sleeps until a
// message comes. Where there is none, one is made after a while, so that the node's death is
// noticed.
func TestWaitKeepsConnection(t *testing.T) {
	leaktest.Check(t)
	net := pipe.New(pipe.Options{})
	ends := newEnds(t, net, func(o *Options) {
		o.Connections, o.Looks = 1,
			func() int { return 0 }
	}, 2, 1)
	ends.ConnectAll(t)
	tr := ends.Open[0].(*Transport)
	tr.conns.restless.Store(true)
	g := tr.routes.targets[1]
	watch := func(may bool) (end func()) {
		return tr.Watch(2, func() bool { return false },
			may)
	}
	if _, err := tr.Call(2, transport.Msg{}); err != nil {
		t.Fatal(err)
	}
	end := watch(true)
	for range 20 {
		tr.thread.requestRelease(g.link.Load())
		time.Sleep(time.Millisecond)
	}
	if l := g.link.Load(); l == nil || l.state.Load() != linkOpen {
		t.Fatal("the connection was given back")
	}
	end()
	releaseLinkOf(t, tr, 1, linkReleased)
	awaitLinksClosed(t, tr, 1)
	end = watch(false)
	time.Sleep(50 * time.Millisecond)
	if end(); g.link.Load() != nil {
		t.Error("a connection was made that may not be")
	}
	defer watch(true)()
	eventually.True(t, func() bool { return g.link.Load() != nil }, "no connection is made")
	net.Break(0, 2, 0)
	losses(t, ends)
}

// TestIdleProcessReleases shows that a process that does not call the transport releases its
// connections all the same.
func TestIdleProcessReleases(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			leaktest.Check(t)
			ends := newEnds(t, pipe.New(o), func(o *Options) { o.Connections = 2 }, 1,
				1, 1, 1, 1)
			ends.ConnectAll(t)
			for r := 1; r < 5; r++ { // each is idle from then on
				if _, err := ends.Open[r].Call(0, transport.Msg{}); err != nil {
					t.Fatal(err)
				}
			}
			server := ends.Open[0].(*Transport).server
			for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
				now, peak, exceeded, _ := server.limit.counts()
				if now <= 2 && peak >= 3 && exceeded > 0 {
					break
				} else if time.Now().After(end) {
					t.Fatalf("the server has %d connections, %d at most, %d "+
						"beyond what should be", now, peak, exceeded)
				}
			}
			if ends.Open[4].(*Transport).routes.targets[0].link.Load() == nil {
				t.Error("the last one that has connected was asked")
			}
		})
	}
}
