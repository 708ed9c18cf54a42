// SPDX-License-Identifier: BSD-3-Clause

// A queue pair over a reliable endpoint. Requests go to the provider as soon as it has room and the
// order allows it; until then they wait here. A list is complete when the provider has completed
// all its requests and those of all lists before it.
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

	"libarmci/internal/ofi/fast"
	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
)

// link is what the other end must know: the queue pair, what its messages prove themselves by, and
// the endpoint.
type link struct {
	pair            uint32
	token           uint64
	modes, keyBytes uint8
	name            string
}

type pair struct {
	q     *queue
	mine  link
	its   link
	to    libfabric.Address
	limit time.Duration
	news  atomic.Uint32 // grows when something has come, or was completed
	// of Alive: news when it was called last, and since when that has not changed
	heard uint32
	since time.Time

	// number of the message that comes next; under q.mu, as is early
	next  uint32
	early map[uint32]qp.Completion // messages behind it, by number

	mu         sync.Mutex
	waiting    []work
	lists      []list // of lists that are open: number modulo the length
	head, tail uint64
	flying     int    // requests that the provider has
	writes     int    // of them: those that change memory
	writing    uint64 // the list of these
	stalled    bool   // in q.stalled
	closed     bool
	failed     error
	places     map[uint64]place // by key
	sent       uint32           // number of the next message
	r          *libfabric.Request
	fast       *fast.Pair
}

// list is requests that were posted together.
type list struct {
	id   uint64
	left int
}

// work is a request that waits.
type work struct {
	r      qp.Request
	data   []qp.Data
	copied []byte // of one that is inline
	list   uint64
}

var numbers atomic.Uint32

// NewPair makes a queue pair for so many requests.
func (q *queue) NewPair(requests, _, _ int) (qp.Pair, error) {
	p := &pair{q: q, lists: make([]list, requests+1), places: map[uint64]place{},
		early: map[uint32]qp.Completion{},
		r:     new(libfabric.Request)}
	p.mine = link{pair: numbers.Add(1), token: rand.Uint64(), modes: uint8(q.d.Info.Modes),
		keyBytes: uint8(q.d.Info.KeyBytes),
		name:     string(q.name)}
	if len(q.name) > qp.LinkBytes-linkHead {
		return nil, fmt.Errorf("%s has names of %d bytes, more than expected", q.d.Name(),
			len(q.name))
	}
	p.fast = fast.NewPair(q.fast, p.mine.pair)
	q.mu.Lock()
	q.pairs[p.mine.pair] = p
	q.mu.Unlock()
	return p, nil
}

// Number is the queue pair's.
func (p *pair) Number() uint32 { return p.mine.pair }

// Peer is the number of the other end's queue pair.
func (p *pair) Peer() uint32 { return p.its.pair }

// Inline is how many bytes are copied when they are posted.
func (p *pair) Inline() int { return mostCopied }

// Handle is the pair as C knows it.
func (p *pair) Handle() unsafe.Pointer { return unsafe.Pointer(p.fast) }

// Place is a key's memory as C names it.
func (p *pair) Place(key uint64) (base uintptr, rkey uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.place(key)
	return uintptr(at.base), at.key
}

// tellFast tells C what it has to know. The caller has the lock.
func (p *pair) tellFast() {
	p.fast.Tell(p.to, len(p.waiting) > 0 || p.closed || p.failed != nil, p.writes)
}

const linkHead = 15 // pair, token, modes, bytes of a key, length of the name

// Link is what the other end needs to connect.
func (p *pair) Link() (l qp.Link) {
	le := binary.LittleEndian
	le.PutUint32(l[:], p.mine.pair)
	le.PutUint64(l[4:], p.mine.token)
	l[12], l[13], l[14] = p.mine.modes, p.mine.keyBytes, uint8(len(p.mine.name))
	copy(l[linkHead:], p.mine.name)
	return l
}

// Connect connects it with the other end's.
func (p *pair) Connect(other *qp.Link, limit time.Duration) (err error) {
	le := binary.LittleEndian
	n := int(other[14])
	if n == 0 || n > qp.LinkBytes-linkHead {
		return errors.New("the other end has no name")
	}
	if err = p.q.d.sameModes(other[12], other[13]); err != nil {
		return err
	}
	its := link{pair: le.Uint32(other[:]), token: le.Uint64(other[4:]),
		name: string(other[linkHead:][:n])}
	if p.to, err = p.q.meet(its.name); err != nil {
		return err
	}
	p.mu.Lock()
	p.its, p.limit = its, limit
	p.tellFast()
	p.mu.Unlock()
	return nil
}

// Post posts a list of requests, or keeps those that cannot be posted yet.
func (p *pair) Post(requests []qp.Request, data []qp.Data) error {
	if p.fast.Writes() > 0 && p.q.d.modes&libfabric.Kept != libfabric.Kept {
		p.q.reap() // a write of C's, which may be complete, would keep these back
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.tellFast()
	if p.failed != nil {
		return p.failed
	}
	number := p.tail
	p.tail++
	*p.at(number) = list{requests[len(requests)-1].ID, len(requests)}
	for i := range requests {
		r := &requests[i]
		d := data[:r.Pieces]
		data = data[r.Pieces:]
		if len(p.waiting) == 0 {
			posted, err := p.post(r, d, nil, number)
			if err != nil {
				return p.fail(err)
			}
			if posted {
				continue
			}
		}
		p.wait(r, d, number)
	}
	p.q.d.progress.Need()
	return nil
}

func (p *pair) at(number uint64) *list { return &p.lists[number%uint64(len(p.lists))] }

// wait keeps a request. The caller has the lock.
func (p *pair) wait(r *qp.Request, d []qp.Data, number uint64) {
	w := work{r: *r, data: append([]qp.Data(nil), d...), list: number}
	if r.Flags&qp.Inline != 0 {
		w.copied = copyOf(d)
	}
	p.waiting = append(p.waiting, w)
}

// copyOf is the data of an inline request.
func copyOf(d []qp.Data) (b []byte) {
	for _, x := range d {
		b = append(b, unsafe.Slice((*byte)(pointerTo(uintptr(x.Addr))), x.Bytes)...)
	}
	return b
}

// completed handles the completion of a request, and posts what has waited for it.
func (p *pair) completed(r *request, why libfabric.Error) {
	p.news.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.tellFast()
	p.flying--
	if r.write {
		p.writes--
	}
	if p.closed || p.failed != nil {
		return
	}
	if why != 0 {
		p.failed = why
		p.q.tell(qp.Completion{ID: p.at(p.head).id, Status: int32(why), Pair: p.mine.pair})
		return
	}
	p.at(r.list).left--
	last, some := uint64(0), false
	for p.head < p.tail && p.at(p.head).left == 0 {
		last, some = p.at(p.head).id, true
		p.head++
	}
	if some {
		p.q.tell(qp.Completion{ID: last, Pair: p.mine.pair})
	}
	p.push()
}

// again posts what the provider had no room for.
func (p *pair) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = false
	p.push()
	p.tellFast()
}

// push posts what waits, as far as possible. The caller has the lock.
func (p *pair) push() {
	for len(p.waiting) > 0 && !p.closed && p.failed == nil {
		w := &p.waiting[0]
		posted, err := p.post(&w.r, w.data, w.copied, w.list)
		if err != nil {
			p.fail(err)
			p.q.tell(qp.Completion{ID: p.at(p.head).id, Status: statusOf(err),
				Pair: p.mine.pair})
			return
		}
		if !posted {
			return
		}
		*w = work{}
		p.waiting = p.waiting[1:]
	}
	if len(p.waiting) == 0 {
		p.waiting = nil
	}
}

// fail ends the queue pair. The caller has the lock.
func (p *pair) fail(err error) error {
	p.failed, p.waiting = err, nil
	return err
}

// statusIO is the number of an error that libfabric gives none: EIO.
const statusIO = int32(syscall.EIO)

// statusOf is the number of an error.
func statusOf(err error) int32 {
	var e libfabric.Error
	if errors.As(err, &e) {
		return int32(e)
	}
	return statusIO
}

// Alive is an error if nothing has come from the other end, and nothing was completed, for the time
// limit.
func (p *pair) Alive() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.news.Load() + p.fast.News(); now != p.heard || p.since.IsZero() {
		p.heard, p.since = now, time.Now()
		return nil
	}
	if time.Since(p.since) < p.limit || p.failed != nil || p.head == p.tail {
		return nil
	}
	defer p.tellFast()
	return p.fail(errSilent)
}

// closingTime is how long Close waits for what the provider still has.
const closingTime = 200 * time.Millisecond

// Close ends the queue pair. Poller only. An error means that the provider may still use the memory
// of its requests.
func (p *pair) Close() error {
	var done [burst]libfabric.Done
	for end := time.Now().Add(closingTime); p.stop() > 0 && time.Now().Before(end); {
		n, err := p.q.ep.Look(done[:], 10, 10)
		p.q.completed(done[:n])
		p.q.completeLeft()
		if err != nil {
			break
		}
	}
	p.q.forget(p)
	if n := p.stop(); n > 0 {
		return fmt.Errorf("%s still has %d requests of a connection that is closed",
			p.q.d.Name(), n)
	}
	p.freeFast()
	if p.its.name != "" {
		p.q.part(p.its.name)
	}
	return nil
}

// freeFast ends C's use. Another thread may be about to tell it something.
func (p *pair) freeFast() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fast.Free()
	p.fast = nil
}

// stop ends posting, and tells how many requests the provider has.
func (p *pair) stop() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.waiting = true, nil
	p.tellFast()
	return p.flying + p.fast.Requests()
}
