// SPDX-License-Identifier: BSD-3-Clause

// Progress at the origin. A thread that waits polls the source of its answer itself, because a
// wake-up by another thread takes longer than the whole answer. One thread at a time owns a poller
// and polls its source. Another thread that waits there sleeps until the owner has received a frame
// or releases the poller. When no thread waits, the progress thread takes over (thread.go).
package internode

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// poller is a source of frames, and the right to poll it, which one thread has at a time. Its flags
// are no states of one machine: each changes without regard to the others, under a guard of its
// own, which is named here.
type poller struct {
	t     *Transport
	src   transport.Source
	owner pollerOwner // guarded by its mu
	spin  spinState   // of the thread that owns the poller

	// Changed by any thread without a lock.
	waiting       atomic.Int32 // threads in pollUntil that do not own the poller
	unattended    atomic.Int32 // open requests that no caller waits for
	sleepers      atomic.Int32 // threads that wait for a message and have stopped polling
	callerActive  atomic.Bool  // a caller has polled or sent since the thread last looked
	bytesInFlight atomic.Int64 // bytes that were sent since a frame came

	attention attention // of the progress thread; guarded by progressThread.mu
	armed     bool      // a frame wakes the progress thread; of that thread alone
	links     int       // connections that have this source; guarded by pollerSet.mu
}

// pollerOwner is the ownership of a poller. A poller may be both held and closed: close then waits
// until the owner, and each thread that waits, has found that its target is lost.
type pollerOwner struct {
	mu      sync.Mutex // guards the rest
	changed sync.Cond  // the owner has received a frame, or has released the poller
	held    bool       // a thread owns the poller
	closed  bool       // close was called: tryAcquire gives the poller to no thread any more
}

// spinState adapts how long a thread polls before it sleeps.
type spinState struct {
	patience wait.Patience
	crowd    wait.Crowd
	yielded  time.Time // when the owner last let Go's scheduler run
	waits    uint32    // calls of pollOwned
}

// scheduleEvery is how long a thread polls before it lets Go's scheduler run. Go's monitor takes
// the processor, in a system call, from a thread that has not been scheduled for 10 ms, and looks
// for such threads 50,000 times a second.
const scheduleEvery = 4 * time.Millisecond

// waitsPerClock is how many waits that are over at once go by before one reads the clock.
const waitsPerClock = 16

// longSleep bounds how long an owner sleeps: what it waits for may also come by other means.
const longSleep = 50 * time.Millisecond

// pollerOf returns the poller of a source, and makes it on first use.
func (s *pollerSet) pollerOf(src transport.Source) *poller {
	if p, ok := s.bySource.Load(src); ok {
		return p.(*poller)
	}
	p := &poller{t: s.t, src: src}
	p.spin.patience.Init(s.t.info.Patience)
	p.owner.changed.L = &p.owner.mu
	made, _ := s.bySource.LoadOrStore(src, p)
	return made.(*poller)
}

// hasUnattended reports whether an answer or a message is due that no waiting thread polls for.
func (p *poller) hasUnattended() bool { return p.unattended.Load() > 0 || p.sleepers.Load() > 0 }

// requestUnattended has the progress thread collect answers that no caller waits for, if any are
// due. It marks the caller as active: the thread gives it a tick's time first.
func (p *poller) requestUnattended() {
	if p.hasUnattended() {
		p.callerActive.Store(true)
		p.t.thread.requestAttention(p)
	}
}

// pollUntil blocks until done. It polls if no other thread owns the poller, else it sleeps. done is
// called under owner.mu too, so it must not block.
func (p *poller) pollUntil(done func() bool) {
	if done() {
		return
	}
	p.owner.mu.Lock()
	for {
		if !p.owner.held {
			p.owner.held = true
			p.owner.mu.Unlock()
			p.pollOwned(done)
			p.release()
			return
		}
		// before done: the thread that makes it true reads waiting afterwards
		p.waiting.Add(1)
		if !done() {
			p.owner.changed.Wait()
		}
		p.waiting.Add(-1)
		if done() {
			free := !p.owner.held
			if free { // the signal may have been for the next owner: pass it on
				p.owner.changed.Signal()
			}
			p.owner.mu.Unlock()
			if free {
				p.leaveToThread()
			}
			return
		}
	}
}

// tryAcquire makes the caller the owner, unless there is one. The owner calls release, or handOver
// if it is the progress thread.
func (p *poller) tryAcquire() bool {
	p.owner.mu.Lock()
	defer p.owner.mu.Unlock()
	if p.owner.held || p.owner.closed {
		return false
	}
	p.owner.held = true
	return true
}

// release ends the ownership. It passes the poller to a thread that waits, else to the progress
// thread if answers are due.
func (p *poller) release() {
	if !p.handOver() {
		p.leaveToThread()
	}
}

// leaveToThread has the progress thread poll, if answers are due.
func (p *poller) leaveToThread() {
	if p.hasUnattended() {
		p.t.thread.requestAttention(p)
	}
}

// handOver ends the ownership and wakes a waiting thread; it returns false if there is none.
// Waiting threads are counted under owner.mu. One that is counted then finds the poller free and
// passes it on, even if it does not need it. The progress thread calls handOver alone, since it has
// armed the fabric's wake-up.
func (p *poller) handOver() (passed bool) {
	p.owner.mu.Lock()
	defer p.owner.mu.Unlock()
	p.owner.held = false
	p.owner.changed.Signal()
	return p.waiting.Load() > 0
}

// wakeWaiters wakes the threads in pollUntil, so that they look for what they wait for. It locks
// owner.mu if there are any.
func (p *poller) wakeWaiters() {
	if p.waiting.Load() > 0 {
		p.owner.mu.Lock()
		p.owner.changed.Broadcast()
		p.owner.mu.Unlock()
	}
}

// poll polls the source and wakes waiting threads if a frame has come. The caller owns the poller.
func (p *poller) poll(looks int) int {
	n := p.src.Poll(looks)
	if n > 0 {
		p.wakeWaiters()
	}
	return n
}

// pollOnce polls unless another thread does. It reports whether a frame has come.
func (p *poller) pollOnce() bool {
	if !p.tryAcquire() {
		return false
	}
	n := p.poll(1)
	p.release()
	return n > 0
}

// pollOwned polls until done, and sleeps when that takes long. The caller owns the poller.
func (p *poller) pollOwned(done func() bool) {
	p.callerActive.Store(true)
	if p.spin.waits++; p.spin.waits%waitsPerClock == 0 {
		p.yieldIfDue(time.Now())
	}
	vain := false
	for !done() {
		if !vain {
			vain = p.spinPoll(p.extraSpin(), done) == 0
			continue
		}
		begin := time.Now()
		p.yieldIfDue(begin)
		p.src.Sleep(longSleep)
		p.spin.patience.Slept(time.Since(begin))
		vain = p.poll(1) == 0
	}
	if !vain {
		p.spin.patience.Paid()
	}
}

// roundsBeforeReceive is how many polls an answer usually takes at most if it depends on nothing in
// this process.
const roundsBeforeReceive = 16

// spinPoll polls for as long as that is expected to pay, and for the time more. After
// roundsBeforeReceive it polls the listener of this process's data server, too, on which the answer
// may depend. It returns 0 if no frame has come from the source. The caller owns the poller.
func (p *poller) spinPoll(more time.Duration, done func() bool) (n int) {
	if look := p.t.info.Look; look > 0 {
		return p.poll(int((p.spin.patience.Now() + more) / look))
	}
	var v transport.Visit
	defer func() { p.t.LeaveIncoming(&v, n > 0) }()
	looks := p.spin.patience.Begin(more)
	for i := range maxRounds {
		if n = p.poll(1); n > 0 || done() {
			return 1
		}
		if (i < roundsBeforeReceive || p.t.PollIncoming(&v) == 0) &&
			!looks.Yield(&p.spin.crowd) {
			break
		}
	}
	return 0
}

// yieldIfDue lets Go's scheduler run if scheduleEvery is over.
func (p *poller) yieldIfDue(now time.Time) {
	if now.Sub(p.spin.yielded) > scheduleEvery {
		runtime.Gosched()
		p.spin.yielded = now
	}
}

const (
	minInFlight  = 4 << 10 // shorter bodies are not counted
	bytesPerNano = 4       // assumed bandwidth
)

// extraSpin returns how much longer than usual to poll because of data in flight, which takes its
// time to arrive. To sleep would make it longer.
func (p *poller) extraSpin() time.Duration {
	const most = 4 << 20
	if p.spin.patience.Least() {
		return 0
	}
	return time.Duration(min(p.bytesInFlight.Load(), most) / bytesPerNano)
}

// close returns when no thread waits or polls any more. All targets of the poller have failed or
// gone, so no thread begins to.
func (p *poller) close() {
	p.owner.mu.Lock()
	defer p.owner.mu.Unlock()
	p.owner.closed = true
	for p.owner.held || p.waiting.Load() > 0 {
		// Another thread finds that its target is lost, and leaves; the last one signals.
		p.owner.changed.Broadcast()
		p.src.Interrupt()
		p.owner.changed.Wait()
	}
}
