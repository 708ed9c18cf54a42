// SPDX-License-Identifier: BSD-3-Clause

// The places of the conformance suite. The End at place 0 runs the tests (Run). The others execute
// the commands that it sends over a Control, which is not the transport under test (Serve).
package transporttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Control carries the suite's commands between places. A transport.Node is one.
type Control interface {
	Send(to int, tag int64, body []byte)
	Recv(from transport.Rank, tag int64, body []byte) (transport.Received, error)
}

// The memory of an End: dataBytes and words that others reach, then scratch memory of its own.
const (
	dataBytes  = 64 << 10
	wordsAt    = dataBytes // 4 KiB of words for read-modify-write
	reachBytes = dataBytes + 4096
	scratchAt  = 128 << 10
	MemBytes   = scratchAt + dataBytes
)

// End is one place of a job whose transport is tested. Peer i is the place i.
type End struct {
	Transport transport.Transport // open, not connected
	Control   Control
	Ranks     []transport.Rank // of all places
	Self      int
	Mem       uintptr  // MemBytes, of which the others may reach the first half
	Inbox     *Inbox   // its Handle is the transport's handler
	Addrs     [][]byte // by place: Info().Addr; nil if the transport needs none
	Guarded   bool     // the targets check addresses
	// Private says that Mem is private memory, where read-modify-writes are refused.
	Private bool
	// BeforeClose is called before the suite closes Transport; may be nil.
	BeforeClose func()
}

// Inbox keeps messages by sender.
type Inbox struct {
	mu       sync.Mutex
	bySender map[transport.Rank][]transport.Msg
}

// Handle records a message, and answers a call with its body.
func (in *Inbox) Handle(from, _ transport.Rank, m transport.Msg, reply func([]byte)) {
	if reply != nil {
		reply(m.Body) // an echo
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.bySender == nil {
		in.bySender = map[transport.Rank][]transport.Msg{}
	}
	m.Body, m.Lent = m.OwnedBody(), false
	in.bySender[from] = append(in.bySender[from], m)
}

// receive waits for n messages of a rank, and removes them.
func (in *Inbox) receive(from transport.Rank, n int) ([]transport.Msg, error) {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(
		time.Millisecond) {
		in.mu.Lock()
		if got := in.bySender[from]; len(got) >= n {
			in.bySender[from] = got[n:]
			in.mu.Unlock()
			return got[:n], nil
		}
		in.mu.Unlock()
	}
	return nil, fmt.Errorf("%d messages from rank %d did not come", n, from)
}

// messagesFrom lists the messages of a rank that are there.
func (in *Inbox) messagesFrom(from transport.Rank) []transport.Msg {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.bySender[from])
}

// countFrom counts the messages of a rank that are there.
func (in *Inbox) countFrom(from transport.Rank) int { return len(in.messagesFrom(from)) }

// Has tells whether at least n messages of a rank are there.
func (in *Inbox) Has(from transport.Rank, n int) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.bySender[from]) >= n
}

// memory is n bytes of Mem from at on.
func (e *End) memory(at, n int) []byte {
	return unsafe.Slice((*byte)(kernel.Ptr(e.Mem+uintptr(at))), n)
}

// putTo starts a put to a place.
func (e *End) putTo(place int) func(*transport.Xfer) error {
	return func(x *transport.Xfer) error { return e.Transport.Put(transport.Peer(place), x) }
}

// getFrom starts a get from a place.
func (e *End) getFrom(place int) func(*transport.Xfer) error {
	return func(x *transport.Xfer) error { return e.Transport.Get(transport.Peer(place), x) }
}

func (e *End) peerAddrs() []transport.PeerAddr {
	all := make([]transport.PeerAddr, len(e.Ranks))
	for i, r := range e.Ranks {
		all[i] = transport.PeerAddr{Rank: r}
		if e.Addrs != nil {
			all[i].Addr = e.Addrs[i]
		}
	}
	return all
}

// command is a request of place 0 to another place.
type command struct {
	Do        string // see End.execute
	Place     int    // the target of the command
	Addr      uintptr
	N         int
	Seed      uint64
	Op        transport.RMWOp
	Bytes     int
	Unordered bool
}

// result is the answer to a command.
type result struct {
	Err  string
	Addr uintptr
	Vals []int64
	Body []byte
}

const (
	tagCommand = 7001
	tagAnswer  = 7002
	maxAnswer  = 1 << 20
)

// Serve executes the commands of place 0 until the command "stop".
func Serve(e *End) error {
	if err := e.Transport.Connect(e.peerAddrs()); err != nil {
		return err
	}
	for {
		var c command
		if err := receiveJSON(e.Control, e.Ranks[0], tagCommand, &c); err != nil {
			return err
		}
		a, err := e.execute(c)
		if err != nil {
			a.Err = err.Error()
		}
		sendJSON(e.Control, 0, tagAnswer, a)
		if c.Do == "stop" {
			return nil
		}
	}
}

func sendJSON(c Control, to int, tag int64, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	c.Send(to, tag, body)
}

func receiveJSON(c Control, from transport.Rank, tag int64, v any) error {
	body := make([]byte, maxAnswer)
	l, err := c.Recv(from, tag, body)
	if err != nil {
		return err
	}
	return json.Unmarshal(body[:l.Bytes], v)
}

// execute carries out one command at this place.
func (e *End) execute(c command) (a result, err error) {
	switch c.Do {
	case "mem":
		a.Addr = e.Mem
	case "fill":
		fill(e.memory(0, reachBytes), c.Seed)
	case "clear":
		clear(e.memory(0, reachBytes))
	case "read":
		a.Body = append(a.Body, e.memory(0, reachBytes)...)
	case "rmw":
		a.Vals, err = e.repeatRMW(c)
	case "acc":
		err = e.addOnes(c)
	case "put":
		err = e.putAndFence(c)
	case "send":
		err = e.sendNumbered(c)
	case "got":
		err = e.checkMessages(c)
	case "has":
		if !e.Inbox.Has(e.Ranks[c.Place], c.N) {
			err = fmt.Errorf("%d messages from place %d are not there", c.N, c.Place)
		}
	case "stop":
	default:
		err = errors.New("unknown command " + c.Do)
	}
	return a, err
}

// fill fills memory with bytes that depend on the seed only. Their period is not a divisor of the
// length of any transfer.
func fill(b []byte, seed uint64) {
	const period = 8<<10 + 24
	r, begin := rand.NewPCG(seed, 7), b[:min(len(b), period)]
	rest := begin
	for ; len(rest) >= 8; rest = rest[8:] {
		native.PutUint64(rest, r.Uint64())
	}
	for i := range rest {
		rest[i] = byte(r.Uint64())
	}
	for at := len(begin); at < len(b); at += copy(b[at:], begin) {
	}
}

// repeatRMW does c.N read-modify-writes of one word and returns the old values.
func (e *End) repeatRMW(c command) ([]int64, error) {
	var olds []int64
	for i := range c.N {
		x := &transport.RMW{Op: c.Op, Bytes: c.Bytes, Addr: c.Addr, Operand: 1}
		if c.Op == transport.Swap {
			x.Operand = int64(e.Self+1)<<20 | int64(i)
		}
		if err := e.Transport.RMW(transport.Peer(c.Place), x); err != nil {
			return nil, err
		}
		olds = append(olds, x.Old)
	}
	return olds, nil
}

// addOnes accumulates c.N times an array of ones, whole and in pieces, then fences.
func (e *End) addOnes(c command) error {
	const elems = 512
	ones, scale := e.memory(scratchAt, 4*elems), int32(1)
	for i := range elems {
		*(*int32)(unsafe.Pointer(&ones[4*i])) = 1
	}
	for i := range c.N {
		half := 4 * elems >> (i % 2)
		for at := 0; at < 4*elems; at += half {
			x := contiguous(e.Mem+scratchAt, c.Addr+uintptr(at), half)
			if err := waitTransfer(func(x *transport.Xfer) error {
				return e.Transport.Acc(transport.Peer(c.Place), x,
					transport.Scale{Type: int(kernel.Int),
						Value: unsafe.Pointer(&scale)})
			}, x); err != nil {
				return err
			}
		}
	}
	return e.Transport.Fence(transport.Peer(c.Place))
}

// putAndFence puts c.N bytes, reuses their memory, and fences.
func (e *End) putAndFence(c command) error {
	fill(e.memory(scratchAt, c.N), c.Seed)
	x := contiguous(e.Mem+scratchAt, c.Addr, c.N)
	if err := waitTransfer(e.putTo(c.Place), x); err != nil {
		return err
	}
	clear(e.memory(scratchAt, c.N)) // after local completion it may be reused
	return e.Transport.Fence(transport.Peer(c.Place))
}

func contiguous(local, remote uintptr, nbytes int) *transport.Xfer {
	return &transport.Xfer{Local: transport.Section{Base: local},
		Remote: transport.Section{Base: remote},
		Count:  []int32{int32(nbytes)}}
}

// waitTransfer starts a transfer and waits until it is locally complete.
func waitTransfer(start func(*transport.Xfer) error, x *transport.Xfer) error {
	done := make(chan error, 2)
	x.Done = func(err error) { done <- err }
	if err := start(x); err != nil {
		return fmt.Errorf("refused: %w", err)
	}
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		return errors.New("not complete after 20 s")
	}
}
