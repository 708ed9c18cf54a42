// SPDX-License-Identifier: BSD-3-Clause

// Connections that go on after their queue pair has failed, since the peer could not be reached,
// while both processes live. Either end notices. Both halt their queue pairs, tell each other by
// datagrams what has been received, connect the same queue pairs again, and post again what the
// peer has not executed (qp.Resumer). All else sees a delay. If the peer does not answer within the
// timeout, or does not know the connection any more, it is lost (loss.go).
//
// An outage has a number, the same at both ends. A datagram that names another connection, or an
// earlier outage, is ignored, so a recorded one is of no use.
package rdma

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

const (
	noRank = transport.Rank(-1)
	// times between datagrams of an outage: the first, and the longest one
	firstResumePause = 2 * time.Millisecond
	maxResumePause   = 100 * time.Millisecond
	haltTimeout      = 5 * time.Second // for the completions of what was in flight
	haltLook         = 200 * time.Microsecond
)

// resumeState is what a fabric has for outages.
type resumeState struct {
	reconnects transport.Reconnects
	outages    sync.WaitGroup // threads that end outages
	// queue pairs that had failed when findBroken last looked; of the progress thread
	breaksSeen uint32
}

// keepsRequests reports whether the queue's queue pairs go on after a failure.
func (q *queue) keepsRequests() bool {
	_, ok := q.cq.(qp.ResumingQueue)
	return ok && q.fabric.cfg.Reconnect
}

// resumeNotice is the private data of the hello in a datagram about an outage.
type resumeNotice struct {
	Pair       uint32 // the receiver's queue pair
	From       uint32 // the sender's
	Connection nonce  // of the connect request
	Outage     uint32 // its number
	Received   uint32 // the packet that the sender expected next
	First      uint32 // the sender's first packet of the new connection
	Ready      bool   // the sender has connected again
	Reply      bool   // the sender has gone on; it is not answered again
	// Unknown: the sender does not know the connection any more. Only what names that is valid.
	Unknown bool
	Back    qp.Address // where the sender receives datagrams
}

// resumption is what an endpoint has for outages.
type resumption struct {
	pair       qp.Resumer     // nil: a failure is the end
	to         transport.Rank // of an origin; noRank: of a target, which says nothing
	connection nonce          // of the connect request

	mu sync.Mutex // guards the rest; held while pair is changed

	destroyed bool // so is pair
	number    uint32
	current   *outage      // nil while the connection works
	own       resumeNotice // the last one that was sent, of outage number
}

// outage is the time in which a queue pair does not work. Its fields are guarded by resumption.mu.
type outage struct {
	endpoint  *endpoint
	begin     time.Time
	cause     error
	peer      *resumeNotice // the first one of this outage; nil: none has come
	peerReady bool
	unknown   bool          // the peer does not know the connection any more
	news      chan struct{} // of capacity 1: there may be something new
}

func (o *outage) wake() {
	select {
	case o.news <- struct{}{}:
	default:
	}
}

// findBroken begins the outages of queue pairs that have failed. The progress thread calls it.
func (f *Fabric) findBroken() {
	r, ok := f.originQueue.cq.(qp.ResumingQueue)
	if !ok {
		return
	}
	n := r.Breaks()
	if n == f.resumes.breaksSeen {
		return
	}
	f.resumes.breaksSeen = n
	for _, q := range f.queues {
		for _, e := range q.listEndpoints() {
			e.checkBroken()
		}
	}
}

// checkBroken begins an outage if the queue pair has failed.
func (e *endpoint) checkBroken() {
	r := &e.resume
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pair == nil || r.destroyed || r.current != nil || e.lossReason.Load() != nil {
		return
	}
	if why, tried := r.pair.Broken(); why != nil {
		e.startOutage(why, tried)
	}
}

// startOutage begins an outage, for which the device has tried to reach the peer already. The
// caller holds resume.mu.
func (e *endpoint) startOutage(why error, tried time.Duration) *outage {
	e.resume.number++
	o := &outage{endpoint: e, begin: time.Now().Add(-tried), cause: why,
		news: make(chan struct{}, 1)}
	e.resume.current = o
	e.fabric.resumes.outages.Add(1)
	go o.run()
	return o
}

// run makes the connection again, or marks it lost.
func (o *outage) run() {
	e := o.endpoint
	defer log.Guard()
	defer e.fabric.resumes.outages.Done()
	err := o.halt()
	if err == nil {
		err = o.exchangeNotices("answer", func() bool { return o.peer != nil })
	}
	log.Infof("outage %d of queue pair %d, %v: halted after %v, %v", e.resume.number,
		e.pair.Number(), o.cause, time.Since(o.begin), err)
	if err == nil {
		err = o.reconnect()
	}
	if err == nil {
		err = o.exchangeNotices("connect again", func() bool { return o.peerReady })
	}
	if err == nil {
		err = o.goOn()
	}
	if err == nil {
		return
	}
	e.resume.use(func() error { e.resume.pair.GiveUp(); return nil })
	e.pairFailed.Store(true) // there is no disconnect message
	if err == errPeerClosed {
		e.markLost(err)
		return
	}
	e.markLost(fmt.Errorf("%w, and was not made again within %v: %w", o.cause,
		time.Since(o.begin).Round(time.Millisecond), err))
}

// use calls do, which changes the queue pair, unless that is destroyed. It locks mu.
func (r *resumption) use(do func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.destroyed {
		return errClosed
	}
	return do()
}

// markDestroyed says that the queue pair is going to be destroyed. It locks mu.
func (r *resumption) markDestroyed() {
	r.mu.Lock()
	r.destroyed = true
	if r.current != nil {
		r.current.wake()
	}
	r.mu.Unlock()
}

// useAlone is use while nothing is posted.
func (e *endpoint) useAlone(do func() error) error {
	e.queue.fast.AcquireQueues()
	defer e.queue.fast.ReleaseQueues()
	e.send.mu.Lock()
	defer e.send.mu.Unlock()
	return e.resume.use(do)
}

// failed returns why the outage has to end: the connection is lost or being closed.
func (e *endpoint) failed() error {
	if why := e.lossReason.Load(); why != nil {
		return *why
	}
	return nil
}

// halt halts the queue pair, and waits until all completions have been handled. Then it knows what
// has been received.
func (o *outage) halt() error {
	e := o.endpoint
	if !e.queue.awaitEntry(haltTimeout) {
		return fmt.Errorf("the completion queue is full")
	}
	defer e.queue.requestsLeft.Add(1)
	r := &e.resume
	if err := e.useAlone(r.pair.Halt); err != nil {
		return err
	}
	until := time.Now().Add(haltTimeout)
	for halted := false; !halted; {
		if err := e.failed(); err != nil {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("the device does not end its requests")
		}
		e.wakePollers()
		time.Sleep(haltLook)
		if err := r.use(func() error { halted = r.pair.Halted(); return nil }); err != nil {
			return err
		}
	}
	return r.use(func() (err error) {
		r.own = resumeNotice{Pair: e.pair.Peer(), From: e.pair.Number(),
			Connection: r.connection, Outage: r.number,
			First: rand.Uint32() & 0xffffff, Back: e.fabric.connManager.address}
		r.own.Received, err = r.pair.Received()
		return err
	})
}

// wakePollers has a thread poll the queue.
func (e *endpoint) wakePollers() {
	e.queue.callFromPoller(func() {})
	e.fabric.Attend(e.fabric.originQueue)
	e.fabric.Wake()
}

// awaitEntry reserves an entry of the completion queue. It waits for one for up to a time.
func (q *queue) awaitEntry(limit time.Duration) bool {
	for until := time.Now().Add(limit); !q.reserveRequests(1); time.Sleep(haltLook) {
		if time.Now().After(until) {
			return false
		}
	}
	return true
}

// exchangeNotices sends this end's notice until done returns true, which is called with resume.mu
// held. what is what the peer does not do otherwise.
func (o *outage) exchangeNotices(what string, done func() bool) error {
	e, r := o.endpoint, &o.endpoint.resume
	until := o.begin.Add(e.fabric.cfg.Timeout)
	// A process that was stopped, or gets no processor, has some time all the same.
	if least := time.Now().Add(e.fabric.cfg.Timeout / 4); until.Before(least) {
		until = least
	}
	for pause := firstResumePause; ; pause = min(2*pause, maxResumePause) {
		r.mu.Lock()
		ok, own, ended, unknown := done(), r.own, r.destroyed, o.unknown
		r.mu.Unlock()
		if ended || e.failed() != nil {
			return errClosed
		}
		if unknown {
			return errPeerClosed
		}
		e.fabric.connManager.sendResumeNotice(&own, &e.peer.manager)
		if ok {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("outage %d: it does not %s", own.Outage, what)
		}
		select {
		case <-o.news:
		case <-time.After(pause):
		}
	}
}

// reconnect connects the queue pair again, and has notices say so.
func (o *outage) reconnect() error {
	r := &o.endpoint.resume
	return o.endpoint.useAlone(func() error {
		if err := r.pair.Reconnect(r.own.First, o.peer.First); err != nil {
			return err
		}
		r.own.Ready = true
		return nil
	})
}

// goOn posts what has to be posted again, and ends the outage.
func (o *outage) goOn() error {
	e, r := o.endpoint, &o.endpoint.resume
	err := e.useAlone(func() error {
		if err := r.pair.GoOn(o.peer.Received); err != nil {
			return err
		}
		r.current = nil
		return nil
	})
	if err != nil {
		return err
	}
	e.wakePollers() // failed requests have ended waits, and completed nothing
	if r.to != noRank {
		e.fabric.resumes.reconnects.Note(r.to, e.fabric.cfg.HostName(r.to), o.cause,
			time.Since(o.begin))
	}
	e.checkBroken() // perhaps it has failed again
	return nil
}

// sendResumeNotice sends a notice.
func (m *connManager) sendResumeNotice(n *resumeNotice, to *qp.Address) {
	h := transport.Hello{From: m.fabric.cfg.Me, Nonce: transport.NewNonce(), Extra: encode(n)}
	m.sendDatagram(goingOn, h.Nonce, h.Seal(m.fabric.cfg.Secret, "goes on", nil), to)
}

// handleResumeNotice handles a peer's notice. The caller is the manager's thread.
func (f *Fabric) handleResumeNotice(sealed []byte) {
	var h transport.Hello
	var n resumeNotice
	if h.Unseal(sealed, f.cfg.Secret, "goes on", nil) != nil || decode(h.Extra, &n) != nil {
		return
	}
	for _, q := range f.queues {
		e := q.endpointOf(n.Pair)
		if e != nil && e.peer.pair.Load() == n.From && e.resume.connection == n.Connection {
			e.handleResumeNotice(&n)
			return
		}
	}
	f.answerUnknown(&n)
}

// answerUnknown tells a peer that its connection is not known here, or not any more.
func (f *Fabric) answerUnknown(n *resumeNotice) {
	if !n.Unknown {
		f.connManager.sendResumeNotice(&resumeNotice{Pair: n.From, From: n.Pair,
			Connection: n.Connection, Unknown: true}, &n.Back)
	}
}

// handleResumeNotice begins an outage that the peer has noticed first, tells the thread that ends
// one of what has come, or answers a peer that has yet to hear that this end is ready.
func (e *endpoint) handleResumeNotice(n *resumeNotice) {
	r := &e.resume
	lost := e.lossReason.Load() != nil
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.current
	switch {
	case n.Unknown:
		if o != nil {
			o.unknown = true
			o.wake()
		}
	case r.pair == nil || r.destroyed || lost:
		e.fabric.answerUnknown(n)
	case n.Outage == r.number+1 && o != nil:
		o.peerReady = o.peerReady || r.own.Ready // the peer has gone on, and failed again
		o.wake()
	case n.Outage == r.number && o != nil, n.Outage == r.number+1:
		if o == nil {
			o = e.startOutage(errPeerHalted, 0)
		}
		if o.peer == nil {
			o.peer = n
		}
		o.peerReady = o.peerReady || n.Ready
		o.wake()
	case n.Outage == r.number && !n.Reply:
		answer := r.own
		answer.Reply = true
		e.fabric.connManager.sendResumeNotice(&answer, &e.peer.manager)
	}
}
