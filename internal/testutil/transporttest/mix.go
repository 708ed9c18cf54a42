// SPDX-License-Identifier: BSD-3-Clause

// A random mixture of operations by several threads of all ranks at the same time, with pauses, for
// transports whose connections are released and made again. Each thread keeps a copy of what it has
// stored at each rank, and compares. Messages are numbered.
package transporttest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

const (
	mixBytes   = 96 << 10 // memory of a thread at each rank
	mixThreads = 2
	mixMost    = 40000 // most bytes of a transfer
)

// Kinds of the messages of Mix.
const (
	mixOrdered = 1 + iota
	mixUnordered
	mixNotice
)

// mixer is a thread of a rank.
type mixer struct {
	ends         *Ends
	transport    transport.Transport
	rank, thread int
	others       []int           // ranks of other nodes
	local        uintptr         // as much as at a rank
	remote       map[int]uintptr // its memory at a rank
	expected     map[int][]byte  // what that holds
	words        map[int]uintptr // a word of each rank that all add to
	added        map[int]int64   // what this thread has
	sent         map[[2]int]int  // messages, by rank and kind
	notified     map[int]uint32  // notifications
	rnd          *rand.Rand
}

// Mix has each thread of each rank do `steps` random operations, and checks their effects. Then it
// closes the transports, and checks that no loss was reported.
func (e *Ends) Mix(t *testing.T, seed uint64, steps int) {
	t.Helper()
	e.ConnectAll(t)
	words := map[int]uintptr{}
	for r := range e.Open {
		words[r] = e.Alloc(t, r, 8)
	}
	var all []*mixer
	for r := range e.Open {
		for th := range mixThreads {
			all = append(all, e.newMixer(t, r, th, seed, words))
		}
	}
	var running sync.WaitGroup
	for _, m := range all {
		running.Go(func() {
			for i := range steps {
				if err := m.randomStep(); err != nil {
					t.Errorf("rank %d, thread %d, step %d: %v", m.rank,
						m.thread,
						i, err)
					return
				}
			}
			if err := m.fenceAndCheck(m.others...); err != nil {
				t.Errorf("rank %d, thread %d, at the end: %v", m.rank, m.thread,
					err)
			}
		})
	}
	Returns(t, "operations", running.Wait)
	if !t.Failed() {
		e.checkMix(t, all)
	}
	e.CloseAll()
	for _, l := range e.Losses() {
		t.Errorf("nobody was lost, but %s", l)
	}
}

// newMixer makes a thread, with memory for it at all ranks of other nodes.
func (e *Ends) newMixer(t *testing.T, rank, thread int, seed uint64, words map[int]uintptr) *mixer {
	m := &mixer{ends: e, transport: e.Open[rank], rank: rank, thread: thread,
		local: e.Alloc(t, rank, mixBytes), words: words, remote: map[int]uintptr{},
		expected: map[int][]byte{}, added: map[int]int64{}, sent: map[[2]int]int{},
		notified: map[int]uint32{},
		rnd:      rand.New(rand.NewPCG(seed, uint64(rank*mixThreads+thread)))}
	node := e.nodeOf[rank]
	for r := range e.Open {
		if e.nodeOf[r] != node {
			m.others = append(m.others, r)
			m.remote[r], m.expected[r] = e.Alloc(t, r, mixBytes), make([]byte, mixBytes)
		}
	}
	return m
}

// randomStep does one random operation at a random rank of another node.
func (m *mixer) randomStep() error {
	to := m.others[m.rnd.IntN(len(m.others))]
	p := transport.Peer(to)
	switch m.rnd.IntN(12) {
	case 0, 1:
		return m.putRandom(to)
	case 2, 3:
		return m.getRandom(to)
	case 4:
		return m.accumulateRandom(to)
	case 5:
		x := &transport.RMW{Bytes: 8, Addr: m.words[to], Operand: int64(m.rnd.IntN(100)),
			Posted: m.rnd.IntN(2) == 0}
		m.added[to] += x.Operand
		return m.transport.RMW(p, x)
	case 6:
		body := memoryBytes(m.local, m.rnd.IntN(3000))
		if reply, err := m.transport.Call(p, transport.Msg{Body: body}); err != nil ||
			!bytes.Equal(reply, body) {
			return fmt.Errorf("a call of %d bytes brought %d: %v", len(body),
				len(reply), err)
		}
	case 7, 8:
		return m.sendRandom(to, mixOrdered+m.rnd.IntN(2))
	case 9:
		return m.fenceAndCheck(to)
	case 10:
		return m.watchRank(to)
	case 11:
		time.Sleep(time.Duration(m.rnd.IntN(1500)) * time.Microsecond)
	}
	return nil
}

// randomTransfer makes a contiguous or strided transfer with a rank, of multiples of grain.
func (m *mixer) randomTransfer(to, grain int) *transport.Xfer {
	n := []int{8, 100, 3000, mixMost}[m.rnd.IntN(4)]
	off := m.rnd.IntN(mixBytes-2*n) / grain * grain
	x := &transport.Xfer{Count: []int32{int32(max(m.rnd.IntN(n)/grain, 1) * grain)},
		Local:  transport.Section{Base: m.local + uintptr(off)},
		Remote: transport.Section{Base: m.remote[to] + uintptr(off)}}
	if n > 1000 && m.rnd.IntN(3) == 0 {
		row := n / 10 / grain * grain
		x.Count = []int32{int32(row), 8}
		x.Local.Stride, x.Remote.Stride = []int32{int32(row + 16)}, []int32{int32(row + 16)}
	}
	return x
}

// eachRow calls do for each row of a transfer, with its offset in the thread's memory.
func (m *mixer) eachRow(x *transport.Xfer, do func(off, n int)) {
	rows, step := 1, 0
	if len(x.Count) > 1 {
		rows, step = int(x.Count[1]), int(x.Local.Stride[0])
	}
	for i := range rows {
		do(int(x.Local.Base-m.local)+i*step, int(x.Count[0]))
	}
}

// runTransfer starts a transfer and waits for its local completion.
func (m *mixer) runTransfer(x *transport.Xfer, begin func(*transport.Xfer) error) error {
	done := make(chan error, 1)
	x.Done = func(err error) { done <- err }
	if err := begin(x); err != nil {
		return err
	}
	return <-done
}

// putRandom puts random bytes, and records them in m.expected.
func (m *mixer) putRandom(to int) error {
	x := m.randomTransfer(to, 1)
	m.eachRow(x, func(off, n int) {
		fill(memoryBytes(m.local+uintptr(off), n), m.rnd.Uint64())
		copy(m.expected[to][off:][:n], memoryBytes(m.local+uintptr(off), n))
	})
	x.Later = m.rnd.IntN(3) == 0
	return m.runTransfer(x,
		func(x *transport.Xfer) error { return m.transport.Put(transport.Peer(to), x) })
}

// getRandom gets bytes, and compares them with m.expected.
func (m *mixer) getRandom(to int) error {
	x := m.randomTransfer(to, 1)
	m.eachRow(x, func(off, n int) { fill(memoryBytes(m.local+uintptr(off), n), 1) })
	x.Later = m.rnd.IntN(3) == 0
	err := m.runTransfer(x,
		func(x *transport.Xfer) error { return m.transport.Get(transport.Peer(to), x) })
	m.eachRow(x, func(off, n int) {
		if err == nil && !bytes.Equal(memoryBytes(m.local+uintptr(off), n),
			m.expected[to][off:][:n]) {
			err = fmt.Errorf("a get of %d bytes at %d from rank %d brings something "+
				"else", n, off, to)
		}
	})
	return err
}

// accumulateRandom adds random integers, and adds them to m.expected.
func (m *mixer) accumulateRandom(to int) error {
	x := m.randomTransfer(to, 8)
	ne := binary.NativeEndian
	m.eachRow(x, func(off, n int) {
		fill(memoryBytes(m.local+uintptr(off), n), m.rnd.Uint64())
		for i := off; i < off+n; i += 8 {
			b := m.expected[to][i:]
			ne.PutUint64(b, ne.Uint64(b)+ne.Uint64(memoryBytes(m.local+uintptr(i), 8)))
		}
	})
	one := int64(1)
	return m.runTransfer(x, func(x *transport.Xfer) error {
		return m.transport.Acc(transport.Peer(to), x,
			transport.Scale{Type: int(kernel.Long),
				Value: unsafe.Pointer(&one)})
	})
}

// writeWord has a device write the last word of the memory at a rank, which no transfer reaches.
func (m *mixer) writeWord(n transport.Notifier, to int) error {
	last, value := mixBytes-4, m.rnd.Uint32()
	written, err := n.WriteWord(transport.Peer(to), m.remote[to]+uintptr(last), value,
		transport.Msg{Kind: mixNotice})
	if written {
		binary.NativeEndian.PutUint32(m.expected[to][last:], value)
	}
	return err
}

// sendRandom sends a numbered message, or has a device write a word, or, in thread 0, notifies.
func (m *mixer) sendRandom(to, kind int) error {
	if n, may := m.transport.(transport.Notifier); may && n.WritesWords() && m.rnd.IntN(3) ==
		0 {
		return m.writeWord(n, to)
	}
	if n, may := m.transport.(transport.Notifier); may && m.thread == 0 && m.rnd.IntN(3) == 0 {
		m.notified[to]++
		addr, err := n.Notify(transport.Peer(to), mixNotice, m.notified[to])
		if err != nil || addr == 0 {
			return err
		}
		if err = m.transport.Fence(transport.Peer(to)); err == nil &&
			binary.NativeEndian.Uint32(memoryBytes(addr, 4)) != m.notified[to] {
			err = fmt.Errorf("notification %d of rank %d is not there", m.notified[to],
				to)
		}
		return err
	}
	b := binary.LittleEndian.AppendUint32([]byte{byte(m.thread)},
		uint32(m.sent[[2]int{to, kind}]))
	m.sent[[2]int{to, kind}]++
	b = append(b, make([]byte, m.rnd.IntN(5000))...)
	return m.transport.Send(transport.Peer(to), transport.Msg{Kind: uint8(kind), Head: b[:5],
		Body: b[5:], Unordered: kind == mixUnordered})
}

// watchRank polls for messages of a rank for a short time.
func (m *mixer) watchRank(to int) error {
	w, may := m.transport.(transport.Watcher)
	if !may {
		return nil
	}
	inbox, r := m.ends.Inbox[m.rank], transport.Rank(to)
	n := inbox.countFrom(r) + 1
	end := w.Watch(transport.Peer(to), func() bool { return inbox.Has(r, n) },
		m.rnd.IntN(2) == 0)
	time.Sleep(time.Duration(m.rnd.IntN(700)) * time.Microsecond)
	end()
	return nil
}

// fenceAndCheck fences ranks, and compares this thread's memory there with m.expected.
func (m *mixer) fenceAndCheck(ranks ...int) error {
	var peers []transport.Peer
	for _, r := range ranks {
		peers = append(peers, transport.Peer(r))
	}
	if err := m.transport.Fence(peers...); err != nil {
		return err
	}
	for _, r := range ranks {
		if !bytes.Equal(memoryBytes(m.remote[r], mixBytes), m.expected[r]) {
			return fmt.Errorf("memory at rank %d is not as it was stored", r)
		}
	}
	return nil
}

// checkMix checks the words that all threads have added to, and the messages.
func (e *Ends) checkMix(t *testing.T, all []*mixer) {
	for r, inbox := range e.Inbox {
		sum, from := int64(0), map[int]int{}
		for _, m := range all {
			sum += m.added[r]
			from[m.rank] += m.sent[[2]int{r, mixOrdered}] +
				m.sent[[2]int{r, mixUnordered}]
		}
		if got := int64(binary.NativeEndian.Uint64(memoryBytes(all[0].words[r], 8))); got !=
			sum {
			t.Errorf("the word of rank %d is %d, %d were added", r, got, sum)
		}
		for _, m := range all {
			if m.thread == 0 {
				e.awaitMessages(r, m.rank, from[m.rank])
			}
			m.checkMessages(t, r, inbox.messagesFrom(transport.Rank(m.rank)))
		}
	}
}

// awaitMessages waits, for 10 s at most, until a rank has n numbered messages of another one.
func (e *Ends) awaitMessages(rank, from, n int) {
	here := func() bool {
		have := 0
		for _, m := range e.Inbox[rank].messagesFrom(transport.Rank(from)) {
			if m.Kind != mixNotice {
				have++
			}
		}
		return have >= n
	}
	if w, may := e.Open[rank].(transport.Watcher); may && e.nodeOf[rank] != e.nodeOf[from] {
		defer w.Watch(transport.Peer(from), here, false)()
	}
	for end := time.Now().Add(10 * time.Second); !here() &&
		time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
}

// checkMessages checks the numbers of this thread's messages among those that rank at has of
// m.rank.
func (m *mixer) checkMessages(t *testing.T, at int, got []transport.Msg) {
	next, seen := 0, map[uint32]bool{}
	for _, g := range got {
		if len(g.Body) < 5 || int(g.Body[0]) != m.thread {
			continue
		}
		switch i := binary.LittleEndian.Uint32(g.Body[1:]); {
		case g.Kind == mixOrdered && int(i) == next:
			next++
		case g.Kind == mixUnordered && !seen[i]:
			seen[i] = true
		default:
			t.Errorf("message %d of kind %d from rank %d, thread %d to rank %d, "+
				"after %d: twice, or out of order", i, g.Kind, m.rank, m.thread, at,
				next)
			return
		}
	}
	if o, u := m.sent[[2]int{at, mixOrdered}], m.sent[[2]int{at, mixUnordered}]; next != o ||
		len(seen) != u {
		t.Errorf("rank %d has got %d of %d and %d of %d messages of rank %d, thread %d", at,
			next, o, len(seen), u, m.rank, m.thread)
	}
}
