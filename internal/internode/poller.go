// SPDX-License-Identifier: BSD-3-Clause

// Who makes progress at the origin: whoever waits for something polls the source it comes from
// himself, because to be told by another thread takes longer than the whole answer. One thread at a
// time owns a poller and polls its source. Who finds it owned sleeps until the owner has found
// something or releases it; when nobody waits, the progress thread acquires it (thread.go).
package internode

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// poller is a source, and the right to poll it.
type poller struct {
	t   *Transport
	src transport.Source

	mu      sync.Mutex
	turn    sync.Cond // the owner has found something, or has released it
	owned   bool
	closed  bool
	waiting atomic.Int32 // who sleeps until turn

	later  atomic.Int32 // open requests that nobody waits for
	asleep atomic.Int32 // who waits for a message and has stopped looking (progress.go)
	driven atomic.Bool  // a caller has lately polled or sent: the progress thread need not
	afloat atomic.Int64 // bytes sent since something came
	listed bool         // with the progress thread: its lock
	links  int          // connections that it is for; the transport's lock linking

	attended bool // the fabric tells the progress thread what comes (part.go); of that

	// Of the owner.
	patience wait.Patience
	crowd    wait.Crowd
	run      time.Time // when it last let Go's scheduler run
	drives   uint32
}

// Go's monitor takes the processor from a thread that has not been scheduled for 10 ms in each of
// its system calls, and looks for such threads 50,000 times a second. So who polls lets itself be
// scheduled before.
const scheduleEvery = 4 * time.Millisecond

// rareDrives is how many waits that find at once what they wait for go by before one looks at the
// clock.
const rareDrives = 16

// longSleep is how long an owner sleeps before it looks whether what it waits for came by other
// means.
const longSleep = 50 * time.Millisecond

// pollerOf is the poller of a source, which is made when it is first asked for.
func (t *Transport) pollerOf(src transport.Source) *poller {
	if p, ok := t.pollers.Load(src); ok {
		return p.(*poller)
	}
	p := &poller{t: t, src: src}
	p.patience.Init(t.info.Patience)
	p.turn.L = &p.mu
	made, _ := t.pollers.LoadOrStore(src, p)
	return made.(*poller)
}

// expects tells whether something is to come that nobody reads who waits for it.
func (p *poller) expects() bool { return p.later.Load() > 0 || p.asleep.Load() > 0 }

// attendLater has the progress thread collect answers for which no caller waits, if any are to
// come.
func (p *poller) attendLater() {
	if p.expects() {
		p.driven.Store(true)
		p.t.thread.attend(p)
	}
}

// await blocks until done; it polls meanwhile, if nobody else does.
func (p *poller) await(done func() bool) {
	if done() {
		return
	}
	p.mu.Lock()
	for {
		if !p.owned {
			p.owned = true
			p.mu.Unlock()
			p.drive(done)
			p.release()
			return
		}
		// before another look: who changes what it waits for looks here afterwards
		p.waiting.Add(1)
		if !done() {
			p.turn.Wait()
		}
		p.waiting.Add(-1)
		if done() {
			free := !p.owned
			if free { // the signal may have been about the poller: pass it on
				p.turn.Signal()
			}
			p.mu.Unlock()
			if free {
				p.leaveToThread()
			}
			return
		}
	}
}

// tryAcquire makes the caller the owner if there is none.
func (p *poller) tryAcquire() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owned || p.closed {
		return false
	}
	p.owned = true
	return true
}

// release passes the poller on: to a caller that waits, else to the progress thread if something is
// to come.
func (p *poller) release() {
	if !p.handOver() {
		p.leaveToThread()
	}
}

// leaveToThread has the progress thread poll, if something is to come.
func (p *poller) leaveToThread() {
	if p.expects() {
		p.t.thread.attend(p)
	}
}

// handOver ends the ownership and wakes a caller that waits; false if none does. The callers are
// counted under mu: one that still waits then finds the poller free and sees to it, even if it does
// not need it. One that was counted before may have left by now, because the poller was still
// owned. The progress thread calls handOver alone, since it has asked the fabric for attention.
func (p *poller) handOver() (passed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owned = false
	p.turn.Signal()
	return p.waiting.Load() > 0
}

// tell wakes those who wait for what may have been found.
func (p *poller) tell() {
	if p.waiting.Load() > 0 {
		p.mu.Lock()
		p.turn.Broadcast()
		p.mu.Unlock()
	}
}

// poll looks, and tells others if something has come. For the owner.
func (p *poller) poll(looks int) int {
	n := p.src.Poll(looks)
	if n > 0 {
		p.tell()
	}
	return n
}

// pollOnce polls unless somebody else does: true if something has come.
func (p *poller) pollOnce() bool {
	if !p.tryAcquire() {
		return false
	}
	n := p.poll(1)
	p.release()
	return n > 0
}

// drive polls until done. For the owner.
func (p *poller) drive(done func() bool) {
	p.driven.Store(true)
	if p.drives++; p.drives%rareDrives == 0 {
		p.letRun(time.Now())
	}
	vain := false
	for !done() {
		if !vain {
			vain = p.look(p.longer(), done) == 0
			continue
		}
		begin := time.Now()
		p.letRun(begin)
		p.src.Sleep(longSleep)
		p.patience.Slept(time.Since(begin))
		vain = p.poll(1) == 0
	}
	if !vain {
		p.patience.Paid()
	}
}

// receiveAfter is how many looks an answer usually takes at most that depends on nothing here.
const receiveAfter = 16

// look polls while that is expected to pay, and some time more. If it takes longer than usual, it
// receives between looks what comes to this process's data server, on which the answer may depend:
// 0 if nothing has come from the source.
func (p *poller) look(more time.Duration, done func() bool) (n int) {
	if look := p.t.info.Look; look > 0 {
		return p.poll(int((p.patience.Now() + more) / look))
	}
	var v transport.Visit
	defer func() { p.t.LeaveIncoming(&v, n > 0) }()
	looks := p.patience.Begin(more)
	for i := range maxRounds {
		if n = p.poll(1); n > 0 || done() {
			return 1
		}
		if (i < receiveAfter || p.t.PollIncoming(&v) == 0) && !looks.Yield(&p.crowd) {
			break
		}
	}
	return 0
}

// letRun lets Go's scheduler run, if it is time.
func (p *poller) letRun(now time.Time) {
	if now.Sub(p.run) > scheduleEvery {
		runtime.Gosched()
		p.run = now
	}
}

const (
	leastAfloat  = 4 << 10 // less data that was sent is not counted
	bytesPerNano = 4       // how fast it travels, about
)

// longer is how much longer than usual to look because of the data that was sent: it takes its
// time, and to sleep would make it longer.
func (p *poller) longer() time.Duration {
	const most = 4 << 20
	if p.patience.Least() {
		return 0
	}
	return time.Duration(min(p.afloat.Load(), most) / bytesPerNano)
}

// close returns when nobody waits or polls any more. All targets have failed, so nobody begins to.
func (p *poller) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for p.owned || p.waiting.Load() > 0 {
		p.turn.Broadcast()
		p.mu.Unlock()
		p.src.Interrupt()
		time.Sleep(50 * time.Microsecond)
		p.mu.Lock()
	}
}
