// SPDX-License-Identifier: BSD-3-Clause

//go:build simulation

// Words of a simulated job that all clients use: what each has read has to be explained by some
// order of all operations that the memory model allows (package history).
package internode

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/history"
	"libarmci/internal/testutil/simulate"
	"libarmci/internal/transport"
)

// simWordKind is how a word is used: the memory model has no order between these kinds.
type simWordKind int

const (
	registerWord simWordKind = iota // puts, gets, and loads by its rank
	atomicWord                      // read-modify-writes of 8 bytes, and gets
	shortWord                       // read-modify-writes of 4 bytes
	updateWord                      // updates and compare-and-swap
	simWordKinds
)

// simWord is a word.
type simWord struct {
	kind simWordKind
	rank transport.Rank
	at   int // in the rank's memory
	ops  []*history.Op
}

// wordsPerRank is how many words of each kind a rank has.
const wordsPerRank = 2

// openWords makes the words.
func (j *simJob) openWords() {
	for _, p := range j.procs {
		for k := range wordsPerRank * simWordKinds {
			j.words = append(j.words, &simWord{kind: k % simWordKinds, rank: p.rank,
				at: 64 * (1 + int(k))})
		}
	}
}

// value is the word as it is in memory.
func (w *simWord) value() uint64 {
	b := simBytes(w.rank, w.at, 8)
	if w.kind == shortWord {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// begin records that an operation begins.
func (w *simWord) begin(c *simClient, name string, apply func(uint64) (uint64, bool)) *history.Op {
	o := &history.Op{Client: int(c.p.rank), Start: simulate.Moment(), End: history.Never,
		Return: history.Never, Name: name, Apply: apply}
	w.ops = append(w.ops, o)
	return o
}

// useWord does something with a word of a peer, or looks at one of its own rank.
func (c *simClient) useWord(peer *simPeer) {
	w := c.j.words[int(peer.rank)*wordsPerRank*int(simWordKinds)+
		c.rnd.IntN(wordsPerRank*int(simWordKinds))]
	if len(w.ops) >= history.MostOps-8 || c.j.far && (w.kind == atomicWord ||
		w.kind == shortWord) {
		return
	}
	c.lookAtWord()
	switch w.kind {
	case registerWord:
		if c.rnd.IntN(2) == 0 {
			c.putWord(peer, w)
		} else {
			c.getWord(peer, w)
		}
	case atomicWord:
		if c.rnd.IntN(4) == 0 {
			c.getWord(peer, w)
		} else {
			c.changeWord(peer, w, 8)
		}
	case shortWord:
		c.changeWord(peer, w, 4)
	case updateWord:
		c.updateWord(peer, w)
	}
	c.lookAtWord()
}

// lookAtWord loads a word of the client's own rank.
func (c *simClient) lookAtWord() {
	w := c.j.words[int(c.p.rank)*wordsPerRank*int(simWordKinds)+
		int(simWordKinds)*c.rnd.IntN(wordsPerRank)]
	if len(w.ops) >= history.MostOps-16 {
		return
	}
	v := w.value()
	o := w.begin(c, fmt.Sprintf("load = %#x", v), func(is uint64) (uint64, bool) {
		return is, is == v
	})
	o.Client = 1000 + c.id
	o.Return = o.Start
	o.End = o.Start
}

// wordBuffer is local memory for words.
func (c *simClient) wordBuffer() int { return 32<<10 + 64*c.id }

// finish records that an operation has returned, with an error or not. effect says that it has
// taken effect: else that is so behind a fence.
func (c *simClient) finish(peer *simPeer, o *history.Op, effect bool, err error) (ok bool) {
	o.Return = simulate.Moment()
	if c.failed(peer, o.Name, err) {
		o.Maybe = true
		return false
	}
	if effect {
		o.End = o.Return
	} else {
		peer.unfenced = append(peer.unfenced, o)
	}
	return true
}

// wordsFenced records that all stores have taken effect.
func (c *simClient) wordsFenced(peer *simPeer) {
	now := simulate.Moment()
	for _, o := range peer.unfenced {
		o.End = now
	}
	peer.unfenced = nil
}

// putWord stores to a word.
func (c *simClient) putWord(peer *simPeer, w *simWord) {
	v := uint64(c.id+1)<<56 | uint64(c.rnd.Uint32())
	b := simBytes(c.p.rank, c.wordBuffer(), 8)
	binary.LittleEndian.PutUint64(b, v)
	o := w.begin(c, fmt.Sprintf("put %#x", v), func(uint64) (uint64, bool) { return v, true })
	c.note("%s at word %d of rank %d", o.Name, w.at, peer.rank)
	err := c.moveWord(c.p.t.Put, peer, w.at)
	c.finish(peer, o, false, err)
	c.fill(b)
}

// moveWord is a blocking put or get of a word. Its error may be that of the call, or of Done.
func (c *simClient) moveWord(move func(transport.Peer, *transport.Xfer) error, peer *simPeer,
	at int) (err error) {
	x := simPlain(simAddr(c.p.rank, c.wordBuffer()), simAddr(peer.rank, at), 8)
	x.Done = func(failed error) { err = failed }
	refused := move(transport.Peer(peer.rank), x)
	return cmp.Or(refused, err)
}

// getWord loads a word.
func (c *simClient) getWord(peer *simPeer, w *simWord) {
	b := simBytes(c.p.rank, c.wordBuffer(), 8)
	var v uint64
	o := w.begin(c, "get", func(is uint64) (uint64, bool) { return is, is == v })
	c.note("get of word %d of rank %d", w.at, peer.rank)
	err := c.moveWord(c.p.t.Get, peer, w.at)
	v = binary.LittleEndian.Uint64(b)
	c.drop(w, o, c.finish(peer, o, true, err), "get", v)
}

// drop ends an operation that reads. One that has failed says nothing, unless it stores.
func (c *simClient) drop(w *simWord, o *history.Op, ok bool, name string, v uint64) {
	o.Name = fmt.Sprintf("%s = %#x", name, v)
	if !ok {
		o.Apply = func(is uint64) (uint64, bool) { return is, true }
	}
}

// changeWord does a read-modify-write.
func (c *simClient) changeWord(peer *simPeer, w *simWord, n int) {
	x := &transport.RMW{Op: transport.RMWOp(c.rnd.IntN(int(transport.LastRMW) + 1)), Bytes: n,
		Addr: simAddr(w.rank, w.at), Operand: int64(c.rnd.IntN(1000)),
		Compare: int64(c.rnd.IntN(3)), Posted: c.rnd.IntN(3) == 0}
	if x.Op == transport.CompareAndSwap && c.rnd.IntN(2) == 0 {
		x.Compare = int64(w.value())
	}
	mask := ^uint64(0) >> (64 - 8*n)
	change := *x
	var old uint64
	ok := false // old is known
	o := w.begin(c, "rmw", func(is uint64) (uint64, bool) {
		signed := int64(is)
		if n == 4 {
			signed = int64(int32(is))
		}
		return uint64(change.Value(signed)) & mask, !ok || is == old
	})
	c.note("rmw %+v of word %d of rank %d", struct {
		Op, Bytes        int
		Operand, Compare int64
		Posted           bool
	}{int(x.Op), n, x.Operand, x.Compare, x.Posted}, w.at, peer.rank)
	err := c.p.t.RMW(transport.Peer(peer.rank), x)
	old = uint64(x.Old) & mask
	ok = c.finish(peer, o, !x.Posted, err) && !x.Posted
	o.Name = fmt.Sprintf("rmw %d %#x %#x = %#x", x.Op, uint64(x.Operand), uint64(x.Compare),
		old)
}

// updateWord updates a word, or compares and swaps it.
func (c *simClient) updateWord(peer *simPeer, w *simWord) {
	b := simBytes(c.p.rank, c.wordBuffer(), 32)
	operand, was := uint64(c.rnd.IntN(1000)), uint64(0)
	binary.LittleEndian.PutUint64(b, operand)
	known := false
	before := func() uint64 { return binary.LittleEndian.Uint64(b[16:]) }
	if c.rnd.IntN(4) == 0 {
		compare := w.value()
		binary.LittleEndian.PutUint64(b[8:], compare)
		o := w.begin(c, "compare-and-swap", func(is uint64) (uint64, bool) {
			after := is
			if is == compare {
				after = operand
			}
			return after, !known || is == was
		})
		c.note("compare-and-swap of word %d of rank %d", w.at, peer.rank)
		err := c.p.t.CompareSwap(transport.Peer(peer.rank), &transport.CompareSwap{
			Addr: simAddr(w.rank, w.at), Value: b[:8], Compare: b[8:16], Old: b[16:24]})
		was = before()
		known = c.finish(peer, o, true, err)
		o.Name = fmt.Sprintf("compare-and-swap %#x %#x = %#x", compare, operand, was)
		return
	}
	op := pick(c.rnd, kernel.OpSum, kernel.OpReplace, kernel.OpMax)
	u := &transport.Update{Op: op, Type: kernel.I64, Data: unsafe.Pointer(&b[0]),
		Runs: []kernel.Segment{{Addr: simAddr(w.rank, w.at), Bytes: 8}}}
	fetch := c.rnd.IntN(2) == 0
	if fetch {
		u.Old = unsafe.Pointer(&b[16])
	}
	o := w.begin(c, "update", func(is uint64) (uint64, bool) {
		after := operand
		if op == kernel.OpSum {
			after += is
		} else if op == kernel.OpMax {
			after = max(is, operand)
		}
		return after, !known || is == was
	})
	c.note("update %d by %d of word %d of rank %d, fetching %v", op, operand, w.at, peer.rank,
		fetch)
	err := c.p.t.Update(transport.Peer(peer.rank), u)
	was = before()
	known = c.finish(peer, o, fetch, err) && fetch
	o.Name = fmt.Sprintf("update %d %#x = %#x (%v)", op, operand, was, known)
	c.fill(b)
}

// checkWords checks that each word has a history.
func (j *simJob) checkWords() {
	for _, w := range j.words {
		ops := make([]history.Op, len(w.ops))
		for i, o := range w.ops {
			ops[i] = *o
			ops[i].Maybe = o.Maybe || o.End == history.Never && j.mayFail()
		}
		final := w.value()
		if _, ok := history.Explain(ops, 0, &final); !ok {
			simulate.Fail("no order explains what was read of word %d of rank %d, "+
				"which is %#x now:\n%s", w.at, w.rank, final, history.Describe(ops))
		}
	}
}
