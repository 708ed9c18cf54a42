// SPDX-License-Identifier: BSD-3-Clause

// A queue pair over a reliable endpoint. Requests are posted to the provider as soon as it has room
// and the order allows it; until then they wait here. A list is complete when the provider has
// completed all its requests and those of all lists before it.
package ofi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/ofi/fast"
	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
)

// linkInfo is the information that the other end needs: the queue pair, the token that its messages
// must carry, and the endpoint.
type linkInfo struct {
	pair            uint32
	token           uint64
	modes, keyBytes uint8
	name            string
}

// pair implements qp.Pair. Any thread may post; one thread polls its queue.
type pair struct {
	queue      *queue
	local      linkInfo
	eventCount atomic.Uint32 // grows with each message that arrives and each completion
	messageOrder

	mu sync.Mutex // guards connection and posting
	connection
	posting
}

// connection is what Connect has set, and what Alive remembers. Guarded by pair.mu.
type connection struct {
	remote       linkInfo
	remoteAddr   libfabric.Address
	silenceLimit time.Duration
	aliveCount   uint32    // eventCount, with that of C, at the last call of Alive
	aliveSince   time.Time // of the first call of Alive that has found aliveCount
}

// posting is the requests of a queue pair. Guarded by pair.mu.
type posting struct {
	waitingRequests []waitingRequest
	openLists       []requestList // by number of the list, modulo the length
	head, tail      uint64        // numbers of the first open list and of the next one
	postedRequests  int           // requests that the provider has
	postedWrites    int           // of them: those that change memory
	writesOfList    uint64        // number of the list of the latest such write
	isStalled       bool          // in queue.stalledPairs
	closed          bool
	failure         error                   // why no request can be posted any more
	remoteMemories  map[uint64]remoteRegion // by key
	nextSent        uint32                  // number of the next message
	scratch         *libfabric.Request      // built and posted under mu
	fast            *fast.Pair              // set by NewPair, freed under mu
}

// requestList is requests that were posted together.
type requestList struct {
	id           uint64
	requestsOpen int
}

// waitingRequest is a request that has not been posted to the provider.
type waitingRequest struct {
	request    qp.Request
	data       []qp.Data
	copied     []byte // the data of an inline request
	listNumber uint64
}

var pairNumbers atomic.Uint32

// NewPair makes a queue pair for so many requests. It locks q.mu.
func (q *queue) NewPair(requests, _, _ int) (qp.Pair, error) {
	p := &pair{queue: q}
	p.openLists = make([]requestList, requests+1)
	p.remoteMemories, p.earlyMessages = map[uint64]remoteRegion{}, map[uint32]qp.Completion{}
	p.scratch = new(libfabric.Request)
	p.local = linkInfo{pair: pairNumbers.Add(1), token: rand.Uint64(),
		modes:    uint8(q.device.Info.Modes),
		keyBytes: uint8(q.device.Info.KeyBytes),
		name:     string(q.name)}
	if len(q.name) > qp.LinkBytes-linkHead {
		return nil, fmt.Errorf("%s has names of %d bytes, more than expected",
			q.device.Name(), len(q.name))
	}
	if p.fast = fast.NewPair(q.fast, p.local.pair); p.fast == nil {
		return nil, unix.ENOMEM
	}
	q.mu.Lock()
	q.pairs[p.local.pair] = p
	q.mu.Unlock()
	return p, nil
}

// Number is the number of the queue pair.
func (p *pair) Number() uint32 { return p.local.pair }

// Peer is the number of the other end's queue pair.
func (p *pair) Peer() uint32 { return p.remote.pair }

// Inline is how many bytes of data an inline request may have.
func (p *pair) Inline() int { return maxCopied }

// Handle is the pair of the fast path in C.
func (p *pair) Handle() unsafe.Pointer { return unsafe.Pointer(p.fast) }

// RemoteKey is the remote memory of a key, as requests of C name it. It locks mu.
func (p *pair) RemoteKey(key uint64) (base uintptr, rkey uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.remoteMemory(key)
	return uintptr(at.base), at.key
}

// updateFast updates the state of the pair that C reads. The caller holds mu.
func (p *pair) updateFast() {
	blocked := len(p.waitingRequests) > 0 || p.closed || p.failure != nil
	p.fast.Tell(p.remoteAddr, blocked, p.postedWrites)
}

const linkHead = 15 // pair, token, modes, bytes of a key, length of the name

// Link is the encoded linkInfo, with which the other end connects.
func (p *pair) Link() (l qp.Link) {
	le := binary.LittleEndian
	le.PutUint32(l[:], p.local.pair)
	le.PutUint64(l[4:], p.local.token)
	l[12], l[13], l[14] = p.local.modes, p.local.keyBytes, uint8(len(p.local.name))
	copy(l[linkHead:], p.local.name)
	return l
}

// Connect connects the queue pair with the one of the other end's Link. Alive returns an error
// after limit without an event. It locks mu, then queue.mu.
func (p *pair) Connect(other *qp.Link, limit time.Duration) (err error) {
	le := binary.LittleEndian
	n := int(other[14])
	if n == 0 || n > qp.LinkBytes-linkHead {
		return errors.New("the other end has no name")
	}
	if err = p.queue.device.checkModes(other[12], other[13]); err != nil {
		return err
	}
	its := linkInfo{pair: le.Uint32(other[:]), token: le.Uint64(other[4:]),
		name: string(other[linkHead:][:n])}
	if p.remoteAddr, err = p.queue.connectPeer(its.name); err != nil {
		return err
	}
	p.mu.Lock()
	p.remote, p.silenceLimit = its, limit
	p.updateFast()
	p.mu.Unlock()
	p.queue.mu.Lock()
	p.lossLimit = limit / 2
	p.queue.mu.Unlock()
	return nil
}

// Post posts a list of requests, and keeps those that cannot be posted yet. It locks mu. Errors are
// final.
func (p *pair) Post(requests []qp.Request, data []qp.Data) error {
	if p.fast.Writes() > 0 && p.queue.device.modes&libfabric.Kept != libfabric.Kept {
		// A write of C's may be complete, and would delay these requests.
		p.queue.pollCompletions()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.updateFast()
	if p.failure != nil {
		return p.failure
	}
	number := p.tail
	p.tail++
	*p.listAt(number) = requestList{requests[len(requests)-1].ID, len(requests)}
	for i := range requests {
		r := &requests[i]
		d := data[:r.Pieces]
		data = data[r.Pieces:]
		if len(p.waitingRequests) == 0 {
			posted, err := p.postRequest(r, d, nil, number)
			if err != nil {
				return p.failPair(err)
			}
			if posted {
				continue
			}
		}
		p.keepRequest(r, d, number)
	}
	p.queue.device.progress.Need()
	return nil
}

// listAt is the open list of a number. The caller holds mu.
func (p *pair) listAt(number uint64) *requestList {
	return &p.openLists[number%uint64(len(p.openLists))]
}

// keepRequest adds a request to waitingRequests. The caller holds mu.
func (p *pair) keepRequest(r *qp.Request, d []qp.Data, number uint64) {
	w := waitingRequest{request: *r, data: append([]qp.Data(nil), d...), listNumber: number}
	if r.Flags&qp.Inline != 0 {
		w.copied = copyOf(d)
	}
	p.waitingRequests = append(p.waitingRequests, w)
}

// copyOf is the data of an inline request.
func copyOf(d []qp.Data) (b []byte) {
	for _, x := range d {
		b = append(b, unsafe.Slice((*byte)(pointerTo(uintptr(x.Addr))), x.Bytes)...)
	}
	return b
}

// requestCompleted handles the completion of a request, and posts requests that have waited for it.
// It locks mu.
func (p *pair) requestCompleted(r *slotUser, why libfabric.Error) {
	p.eventCount.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.updateFast()
	p.postedRequests--
	if r.write {
		p.postedWrites--
	}
	if p.closed || p.failure != nil {
		return
	}
	if why != 0 {
		p.failure = why
		p.queue.addCompletion(qp.Completion{ID: p.listAt(p.head).id, Status: int32(why),
			Pair: p.local.pair})
		return
	}
	p.listAt(r.listNumber).requestsOpen--
	last, some := uint64(0), false
	for p.head < p.tail && p.listAt(p.head).requestsOpen == 0 {
		last, some = p.listAt(p.head).id, true
		p.head++
	}
	if some {
		p.queue.addCompletion(qp.Completion{ID: last, Pair: p.local.pair})
	}
	p.postWaiting()
}

// retryPosting posts requests for which the provider had no room. It locks mu.
func (p *pair) retryPosting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isStalled = false
	p.postWaiting()
	p.updateFast()
}

// postWaiting posts waiting requests, as far as possible. The caller holds mu.
func (p *pair) postWaiting() {
	for len(p.waitingRequests) > 0 && !p.closed && p.failure == nil {
		w := &p.waitingRequests[0]
		posted, err := p.postRequest(&w.request, w.data, w.copied, w.listNumber)
		if err != nil {
			p.failPair(err)
			p.queue.addCompletion(qp.Completion{ID: p.listAt(p.head).id,
				Status: statusOf(err), Pair: p.local.pair})
			return
		}
		if !posted {
			return
		}
		*w = waitingRequest{}
		p.waitingRequests = p.waitingRequests[1:]
	}
	if len(p.waitingRequests) == 0 {
		p.waitingRequests = nil
	}
}

// failPair ends the queue pair with err, which it returns. The caller holds mu.
func (p *pair) failPair(err error) error {
	p.failure, p.waitingRequests = err, nil
	return err
}

// statusIO is the number of an error for which libfabric has none: EIO.
const statusIO = int32(syscall.EIO)

// statusOf is the number of an error.
func statusOf(err error) int32 {
	var e libfabric.Error
	if errors.As(err, &e) {
		return int32(e)
	}
	return statusIO
}

// Alive returns an error if requests are open and, for silenceLimit, no message has arrived and no
// request was completed; or if a message was lost. It locks mu.
func (p *pair) Alive() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.messageLost.Load() && p.failure == nil {
		defer p.updateFast()
		return p.failPair(errMessageLost)
	}
	now := p.eventCount.Load() + p.fast.News()
	if now != p.aliveCount || p.aliveSince.IsZero() {
		p.aliveCount, p.aliveSince = now, time.Now()
		return nil
	}
	if time.Since(p.aliveSince) < p.silenceLimit || p.failure != nil || p.head == p.tail {
		return nil
	}
	defer p.updateFast()
	return p.failPair(errSilent)
}

// closeTimeout is how long Close waits for requests that the provider still has.
const closeTimeout = 200 * time.Millisecond

// Close ends the queue pair. Only the thread that polls calls it. An error means that the provider
// may still use the memory of its requests.
func (p *pair) Close() error {
	var done [pollBatch]libfabric.Done
	for end := time.Now().Add(closeTimeout); p.stopPosting() > 0 && time.Now().Before(end); {
		n, err := p.queue.endpoint.Look(done[:], 10, 10)
		p.queue.handleCompletions(done[:n])
		p.queue.handleFoundByC()
		if err != nil {
			break
		}
	}
	p.queue.removePair(p)
	if n := p.stopPosting(); n > 0 {
		return fmt.Errorf("%s still has %d requests of a connection that is closed",
			p.queue.device.Name(), n)
	}
	p.freeFast()
	if p.remote.name != "" {
		p.queue.releasePeer(p.remote.name)
	}
	return nil
}

// freeFast ends the use by C. It locks mu, since another thread may be in updateFast.
func (p *pair) freeFast() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fast.Free()
	p.fast = nil
}

// stopPosting drops waiting requests and refuses others. It returns how many requests the provider
// has. It locks mu.
func (p *pair) stopPosting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.waitingRequests = true, nil
	p.updateFast()
	return p.postedRequests + p.fast.Requests()
}
