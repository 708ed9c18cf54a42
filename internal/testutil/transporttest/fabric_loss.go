// SPDX-License-Identifier: BSD-3-Clause

// The end of connections in the fabric suite: broken at either end, closed, refused by a receiver.
// Both ends are told once, frames that were sent before a Close with time to linger arrive, and no
// thread stays blocked.
package transporttest

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// waitLost waits until Lost has been called, and returns its argument.
func (e *fabricEnd) waitLost() error {
	e.t.Helper()
	e.waitUntil("Lost is called", func() bool { return len(e.lostErrors) > 0 })
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lostErrors[0]
}

// checkUnusable checks that Send of a lost origin's end fails, and that no method blocks.
func (e *fabricEnd) checkUnusable() {
	e.t.Helper()
	e.posting.Lock()
	defer e.posting.Unlock()
	c := cursorOf(noise(1, 500))
	if _, err := e.ep.Send([]byte{headKeep}, &c, c.Left(), transport.Now); err == nil {
		e.t.Error("Send over a lost connection succeeds")
	}
	e.originEndpoint().Flush()
	e.ep.Pulse()
	e.ep.Break()
}

// fabricBroken shows that Break at either end is reported at both, and that other connections can
// be made after it.
func fabricBroken(t *testing.T, d transport.Driver) {
	for i := range 6 {
		j := openFabrics(t, d, 2)
		o, target := j.connectPair()
		if i%2 == 0 {
			o.sendBytes([]byte{headEcho, 1}, noise(1, 900), transport.Now)
			o.takeFrames(1)
		}
		switch i % 3 {
		case 0:
			o.ep.Break()
		case 1:
			target.ep.Break()
		default:
			o.ep.Break()
			target.ep.Break()
		}
		o.waitLost()
		target.waitLost()
		o.checkUnusable()
		target.postFrame([]byte{headPosted}, nil)
		again := j.procs[0].dialRank(1) // the fabrics are not affected
		again.sendBytes([]byte{headEcho, 2}, noise(2, 100), transport.Now)
		checkFrame(t, again.takeFrames(1)[0], []byte{headReply, 2}, noise(2, 100))
	}
}

// fabricBlocked shows that Break ends a Send that is blocked because the target does not read.
func fabricBlocked(t *testing.T, d transport.Driver) {
	j := openFabrics(t, d, 2)
	o, target := j.connectPair()
	blocked := make(chan struct{})
	held := make(chan struct{})
	go j.procs[1].server.withoutPolling(func() {
		close(held)
		<-blocked
	})
	<-held
	ended := make(chan error, 1)
	go func() {
		o.posting.Lock()
		defer o.posting.Unlock()
		c := cursorOf(noise(3, min(1<<20, o.maxBody(1))))
		for i := 0; i < 60 && (o.credits == nil || i < cap(o.credits)); i++ {
			body := c
			if _, err := o.ep.Send([]byte{headKeep}, &body, body.Left(),
				transport.Now); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	time.Sleep(100 * time.Millisecond)
	o.ep.Break()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("Send stays blocked")
	}
	close(blocked)
	o.waitLost()
	target.waitLost()
	o.checkUnusable()
}

// fabricBrokenBusy shows that frames are whole and in order up to a Break while both ends send.
func fabricBrokenBusy(t *testing.T, d transport.Driver) {
	j := openFabrics(t, d, 2)
	for round := range 8 {
		o := j.procs[0].dialRank(1)
		target := j.procs[1].lastAccepted()
		var running sync.WaitGroup
		running.Go(func() {
			for i := range 5000 {
				c := cursorOf(frameBody(0, i, o.maxBody(9)))
				if _, err := o.sendFrame(numberedHead(headEcho, 0, i), &c,
					transport.Now); err != nil {
					return
				}
			}
		})
		running.Go(func() {
			for i := range 200 {
				target.postFrame(numberedHead(headPosted, 1, i), frameBody(1, i,
					o.maxBody(9)))
			}
		})
		time.Sleep(time.Duration(round) * time.Millisecond)
		if round%2 == 0 {
			target.ep.Break()
		} else {
			o.ep.Break()
		}
		o.waitLost()
		target.waitLost()
		running.Wait()
		next := [2]int{}
		for _, f := range append(o.frames, target.frames...) {
			sender, i := headNumber(f.head)
			if checkFrame(t, f, f.head, frameBody(sender, i,
				o.maxBody(9))); f.head[0] == headPosted && i != next[sender] {
				t.Fatalf("frame %d comes after %d others", i, next[sender])
			}
			next[sender]++
		}
		o.closeOrigin(0)
	}
}

// lastAccepted is the target's end that was accepted last.
func (p *fabricProcess) lastAccepted() *fabricEnd {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted[len(p.accepted)-1]
}

// fabricClose shows that frames sent before a Close with time to linger arrive, also deferred ones
// and those posted by the target.
func fabricClose(t *testing.T, d transport.Driver) {
	const n = 120
	for round := range 4 {
		j := openFabrics(t, d, 2)
		o, target := j.connectPair()
		if round == 3 { // the other way
			for i := range n {
				target.postFrame(numberedHead(headPosted, 0, i),
					frameBody(0, i, target.maxBody(9)))
			}
			j.procs[1].closeProcess()
			target.postFrame([]byte{headPosted}, nil) // a late reply: it has no effect
			for i, f := range o.takeFrames(n) {
				checkFrame(t, f, numberedHead(headPosted, 0, i), frameBody(0, i,
					o.maxBody(9)))
			}
			o.waitLost()
			o.checkUnusable()
			continue
		}
		for i := range n {
			when := []transport.When{transport.Soon, transport.Now,
				transport.Burst}[(i+round)%3]
			o.sendBytes(numberedHead(headKeep, 0, i), frameBody(0, i, o.maxBody(9)),
				when)
		}
		o.closeOrigin(patience)
		for i, f := range target.takeFrames(n) {
			checkFrame(t, f, numberedHead(headKeep, 0, i), frameBody(0, i,
				o.maxBody(9)))
		}
		target.waitLost()
	}
}

// fabricCloseBoth shows that, if both ends close at the same time, neither waits until its time is
// over.
func fabricCloseBoth(t *testing.T, d transport.Driver) {
	const rounds, few = 100, 1 // a busy machine may make one slow
	slow := 0
	for range rounds {
		j := openFabrics(t, d, 2)
		o, _ := j.connectPair()
		began := time.Now()
		var both sync.WaitGroup
		both.Go(func() { o.closeOrigin(patience) })
		both.Go(j.procs[1].closeProcess)
		both.Wait()
		if time.Since(began) > 500*time.Millisecond {
			slow++
		}
		// Closed here and not at the end of the test, because a fabric may have much
		// memory.
		j.procs[0].closeProcess()
	}
	if slow > few {
		t.Errorf("%d of %d closes take long", slow, rounds)
	}
}

var errRefused = errors.New("this frame is refused")

// refuseFramesIn makes a method of an end refuse frames whose head begins with x.
func (e *fabricEnd) refuseFramesIn(method string) {
	e.errorFor = func(now string, f *frame) error {
		if len(f.head) > 0 && f.head[0] == 'x' && now == method {
			return errRefused
		}
		return nil
	}
}

// fabricRefusedFrame shows that an error of a receiver ends the connection and is the argument of
// Lost, which may still post.
func fabricRefusedFrame(t *testing.T, d transport.Driver) {
	for _, method := range []string{"BeginFrame", "Data", "EndFrame"} {
		for _, atOrigin := range []bool{false, true} {
			j := newFabricJob(t, d, 2)
			j.onAccept = func(e *fabricEnd) error {
				e.postsInLost = true
				e.refuseFramesIn(method)
				return nil
			}
			j.openAll()
			o, target := j.connectPair()
			o.configure(func() { o.refuseFramesIn(method) })
			if atOrigin {
				target.postFrame([]byte{headPosted}, noise(1, 10))
				target.postFrame([]byte{'x'}, noise(1, 1000))
				target.postFrame([]byte{headPosted}, noise(1, 10))
				if o.takeFrames(1); !errors.Is(o.waitLost(), errRefused) {
					t.Errorf("%s fails at the origin, Lost says: %v", method,
						o.lostErrors)
				}
				target.waitLost()
			} else {
				c := cursorOf(noise(1, 1000))
				o.sendBytes([]byte{headKeep}, noise(1, 10), transport.Now)
				if o.credits == nil || cap(o.credits) > 2 {
					o.sendFrame([]byte{'x'}, &c, transport.Now)
					o.sendFrame([]byte{headKeep}, &c, transport.Now) // may fail
				} else {
					o.sendFrame([]byte{'x'}, &c, transport.Now)
				}
				if target.takeFrames(1); !errors.Is(target.waitLost(), errRefused) {
					t.Errorf("%s fails at the target, Lost says: %v", method,
						target.lostErrors)
				}
				checkFrame(t, o.takeFrames(1)[0], []byte{headPosted, 'z'},
					[]byte("goodbye"))
				o.waitLost()
			}
			o.checkUnusable()
		}
	}
}

// fabricRefusedOrigin shows that Dial fails if the origin does not know the secret, does not belong
// to the job, asks for another rank, or is refused by accept.
func fabricRefusedOrigin(t *testing.T, d transport.Driver) {
	j := newFabricJob(t, d, 5)
	j.changeConfig = func(cfg *transport.FabricConfig) {
		switch cfg.Me {
		case 1:
			// rank 4 is not of the job
			cfg.Nodes, cfg.Hosts, cfg.Hints = cfg.Nodes[:4], cfg.Hosts[:4],
				cfg.Hints[:4]
		case 2:
			cfg.Secret = []byte("another secret, of the same len")
		}
	}
	j.onAccept = func(e *fabricEnd) error {
		if e.peer == 3 {
			return errors.New("rank 3 is not liked")
		}
		return nil
	}
	j.openAll()
	addr := j.procs[1].fabric.Info().Addr
	for _, c := range []struct {
		what     string
		from, to int
		addr     []byte
	}{
		{"another secret", 2, 1, addr},
		{"a rank that is not of the job", 4, 1, addr},
		{"a rank that accept refuses", 3, 1, addr},
		{"the address of another rank", 0, 3, addr},
		{"an address that is none", 0, 1, []byte("nowhere")},
		{"no address", 0, 1, nil},
	} {
		end := newFabricEnd(j.procs[c.from], transport.Rank(c.to))
		begin := time.Now()
		e, err := j.procs[c.from].fabric.Dial(transport.Rank(c.to), c.addr, end)
		if err == nil {
			t.Errorf("%s: connected", c.what)
			j.procs[c.from].startPolling(end, e)
			end.closeOrigin(0)
		} else if strings.Contains(err.Error(), "another secret, of the same len") {
			t.Errorf("%s: the error tells the secret", c.what)
		}
		if took := time.Since(begin); took > 3*5*time.Second {
			t.Errorf("%s: refused after %v", c.what, took)
		}
	}
	j.procs[1].mu.Lock()
	if n := len(j.procs[1].accepted); n > 0 {
		t.Errorf("%d of them were accepted", n)
	}
	j.procs[1].mu.Unlock()
	o := j.procs[0].dialRank(1)
	o.sendBytes([]byte{headEcho, 7}, noise(7, 70), transport.Now)
	checkFrame(t, o.takeFrames(1)[0], []byte{headReply, 7}, noise(7, 70))
}

// fabricAbsent shows that a process that closes is lost to its peers, and that dialling it fails.
func fabricAbsent(t *testing.T, d transport.Driver) {
	j := openFabrics(t, d, 3)
	o := j.procs[0].dialRank(1)
	j.procs[1].acceptedFrom(0)
	addr := j.procs[1].fabric.Info().Addr
	j.procs[1].closeProcess()
	o.waitLost()
	o.checkUnusable()
	begin := time.Now()
	if _, err := j.procs[2].fabric.Dial(1, addr, newFabricEnd(j.procs[2], 1)); err == nil {
		t.Error("a process that has gone was connected to")
	}
	if took := time.Since(begin); took > 3*5*time.Second {
		t.Errorf("given up after %v", took)
	}
}
