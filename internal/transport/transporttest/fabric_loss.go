// SPDX-License-Identifier: BSD-3-Clause

// The end of connections: broken at either end, closed, refused by a receiver. Both ends learn of
// it once, what was sent before a patient Close arrives, and nobody stays blocked.
package transporttest

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// gone waits until Lost has been called.
func (e *fabricEnd) gone() error {
	e.t.Helper()
	e.wait("Lost is called", func() bool { return len(e.lost) > 0 })
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lost[0]
}

// useless checks an origin's end that is lost: nothing blocks, and Send tells so.
func (e *fabricEnd) useless() {
	e.t.Helper()
	e.posting.Lock()
	defer e.posting.Unlock()
	c := cursorOf(noise(1, 500))
	if _, err := e.e.Send([]byte{headKeep}, &c, c.Left(), transport.Now); err == nil {
		e.t.Error("Send over a lost connection succeeds")
	}
	e.origin().Flush()
	e.e.Pulse()
	e.e.Break()
}

func fabricBroken(t *testing.T, d transport.Driver) {
	for i := range 6 {
		j := openFabrics(t, d, 2)
		o, target := j.pair()
		if i%2 == 0 {
			o.sendBytes([]byte{headEcho, 1}, noise(1, 900), transport.Now)
			o.frames(1)
		}
		switch i % 3 {
		case 0:
			o.e.Break()
		case 1:
			target.e.Break()
		default:
			o.e.Break()
			target.e.Break()
		}
		o.gone()
		target.gone()
		o.useless()
		target.post([]byte{headPosted}, nil)
		again := j.procs[0].dial(1) // the fabrics are not affected
		again.sendBytes([]byte{headEcho, 2}, noise(2, 100), transport.Now)
		same(t, again.frames(1)[0], []byte{headReply, 2}, noise(2, 100))
	}
}

// fabricBlocked: who is blocked in Send, since the target does not read, returns when the
// connection is broken.
func fabricBlocked(t *testing.T, d transport.Driver) {
	j := openFabrics(t, d, 2)
	o, target := j.pair()
	blocked := make(chan struct{})
	held := make(chan struct{})
	go j.procs[1].server.inside(func() {
		close(held)
		<-blocked
	})
	<-held
	ended := make(chan error, 1)
	go func() {
		o.posting.Lock()
		defer o.posting.Unlock()
		c := cursorOf(noise(3, min(1<<20, o.most(1))))
		for i := 0; i < 60 && (o.credits == nil || i < cap(o.credits)); i++ {
			body := c
			if _, err := o.e.Send([]byte{headKeep}, &body, body.Left(),
				transport.Now); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	time.Sleep(100 * time.Millisecond)
	o.e.Break()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("Send stays blocked")
	}
	close(blocked)
	o.gone()
	target.gone()
	o.useless()
}

// fabricBrokenBusy breaks connections while both ends send.
func fabricBrokenBusy(t *testing.T, d transport.Driver) {
	j := openFabrics(t, d, 2)
	for round := range 8 {
		o := j.procs[0].dial(1)
		target := j.procs[1].last()
		var running sync.WaitGroup
		running.Go(func() {
			for i := range 5000 {
				c := cursorOf(someBody(0, i, o.most(9)))
				if _, err := o.send(numbered(headEcho, 0, i), &c,
					transport.Now); err != nil {
					return
				}
			}
		})
		running.Go(func() {
			for i := range 200 {
				target.post(numbered(headPosted, 1, i), someBody(1, i, o.most(9)))
			}
		})
		time.Sleep(time.Duration(round) * time.Millisecond)
		if round%2 == 0 {
			target.e.Break()
		} else {
			o.e.Break()
		}
		o.gone()
		target.gone()
		running.Wait()
		next := [2]int{}
		for _, f := range append(o.got, target.got...) {
			sender, i := number(f.head)
			if same(t, f, f.head, someBody(sender, i,
				o.most(9))); f.head[0] == headPosted && i != next[sender] {
				t.Fatalf("frame %d comes after %d others", i, next[sender])
			}
			next[sender]++
		}
		o.close(0)
	}
}

// last is the target's end that was accepted last.
func (p *fabricProcess) last() *fabricEnd {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted[len(p.accepted)-1]
}

// fabricClose: what was sent before Close, with time to linger, arrives, also what was put off, or
// posted by the target.
func fabricClose(t *testing.T, d transport.Driver) {
	const n = 120
	for round := range 4 {
		j := openFabrics(t, d, 2)
		o, target := j.pair()
		if round == 3 { // the other way
			for i := range n {
				target.post(numbered(headPosted, 0, i),
					someBody(0, i, target.most(9)))
			}
			j.procs[1].close()
			target.post([]byte{headPosted}, nil) // somebody replies late
			for i, f := range o.frames(n) {
				same(t, f, numbered(headPosted, 0, i), someBody(0, i, o.most(9)))
			}
			o.gone()
			o.useless()
			continue
		}
		for i := range n {
			when := []transport.When{transport.Soon, transport.Now,
				transport.Burst}[(i+round)%3]
			o.sendBytes(numbered(headKeep, 0, i), someBody(0, i, o.most(9)), when)
		}
		o.close(patience)
		for i, f := range target.frames(n) {
			same(t, f, numbered(headKeep, 0, i), someBody(0, i, o.most(9)))
		}
		target.gone()
	}
}

// fabricCloseBoth: where both ends close at the same time, neither waits for the other until its
// time is over.
func fabricCloseBoth(t *testing.T, d transport.Driver) {
	const rounds, few = 100, 1 // a busy machine may make one slow
	slow := 0
	for range rounds {
		j := openFabrics(t, d, 2)
		o, _ := j.pair()
		began := time.Now()
		var both sync.WaitGroup
		both.Go(func() { o.close(patience) })
		both.Go(j.procs[1].close)
		both.Wait()
		if time.Since(began) > 500*time.Millisecond {
			slow++
		}
		j.procs[0].close() // not all of them at the end: a fabric may have much memory
	}
	if slow > few {
		t.Errorf("%d of %d closes take long", slow, rounds)
	}
}

var errRefused = errors.New("this frame is refused")

// refuser makes an end refuse the frame of a number, in Head, Data or End.
func (e *fabricEnd) refuser(method string) {
	e.refusal = func(now string, f *frame) error {
		if len(f.head) > 0 && f.head[0] == 'x' && now == method {
			return errRefused
		}
		return nil
	}
}

// fabricRefusedFrame: an error of a receiver ends the connection and is what Lost is told. Lost may
// still post.
func fabricRefusedFrame(t *testing.T, d transport.Driver) {
	for _, method := range []string{"Head", "Data", "End"} {
		for _, atOrigin := range []bool{false, true} {
			j := newFabricJob(t, d, 2)
			j.accept = func(e *fabricEnd) error {
				e.lastWords = true
				e.refuser(method)
				return nil
			}
			j.open()
			o, target := j.pair()
			o.change(func() { o.refuser(method) })
			if atOrigin {
				target.post([]byte{headPosted}, noise(1, 10))
				target.post([]byte{'x'}, noise(1, 1000))
				target.post([]byte{headPosted}, noise(1, 10))
				if o.frames(1); !errors.Is(o.gone(), errRefused) {
					t.Errorf("%s fails at the origin, Lost says: %v", method,
						o.lost)
				}
				target.gone()
			} else {
				c := cursorOf(noise(1, 1000))
				o.sendBytes([]byte{headKeep}, noise(1, 10), transport.Now)
				if o.credits == nil || cap(o.credits) > 2 {
					o.send([]byte{'x'}, &c, transport.Now)
					o.send([]byte{headKeep}, &c, transport.Now) // may fail
				} else {
					o.send([]byte{'x'}, &c, transport.Now)
				}
				if target.frames(1); !errors.Is(target.gone(), errRefused) {
					t.Errorf("%s fails at the target, Lost says: %v", method,
						target.lost)
				}
				same(t, o.frames(1)[0], []byte{headPosted, 'z'}, []byte("goodbye"))
				o.gone()
			}
			o.useless()
		}
	}
}

// fabricRefusedOrigin: who does not know the secret, is not of the job, asks for another rank, or
// is not accepted.
func fabricRefusedOrigin(t *testing.T, d transport.Driver) {
	j := newFabricJob(t, d, 5)
	j.config = func(cfg *transport.FabricConfig) {
		switch cfg.Me {
		case 1:
			// rank 4 is not of the job
			cfg.Nodes, cfg.Hosts, cfg.Hints = cfg.Nodes[:4], cfg.Hosts[:4],
				cfg.Hints[:4]
		case 2:
			cfg.Secret = []byte("another secret, of the same len")
		}
	}
	j.accept = func(e *fabricEnd) error {
		if e.peer == 3 {
			return errors.New("rank 3 is not liked")
		}
		return nil
	}
	j.open()
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
			j.procs[c.from].use(end, e)
			end.close(0)
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
	o := j.procs[0].dial(1)
	o.sendBytes([]byte{headEcho, 7}, noise(7, 70), transport.Now)
	same(t, o.frames(1)[0], []byte{headReply, 7}, noise(7, 70))
}

// fabricAbsent: the other process has gone before it is dialled, or goes while it is connected.
func fabricAbsent(t *testing.T, d transport.Driver) {
	j := openFabrics(t, d, 3)
	o := j.procs[0].dial(1)
	j.procs[1].from(0)
	addr := j.procs[1].fabric.Info().Addr
	j.procs[1].close()
	o.gone()
	o.useless()
	begin := time.Now()
	if _, err := j.procs[2].fabric.Dial(1, addr, newFabricEnd(j.procs[2], 1)); err == nil {
		t.Error("a process that has gone was connected to")
	}
	if took := time.Since(begin); took > 3*5*time.Second {
		t.Errorf("given up after %v", took)
	}
}
