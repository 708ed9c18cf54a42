// SPDX-License-Identifier: BSD-3-Clause

// An origin's endpoint: connecting, and sending frames. If there is no room it waits, and polls for
// completions meanwhile (FabricConfig.Await). Direct transfers are in direct.go. The caller
// serialises sends and transfers of one origin.
package rdma

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

const inlineBytes = 256

// origin is the endpoint by which this process reaches a data server.
type origin struct {
	endpoint
	direct       directTransfer
	inlineBuffer []byte     // a small message, which the device copies when it is posted
	eagerSlots   *lab.Slots // of the target's eager ring; nil if that is not used
	accLocks     *lab.Locks // the target's, for accumulates by the device; nil if not used
}

// Dial connects to the data server of a rank, whose address is that of Info. It blocks for up to
// the timeout. The caller closes the endpoint.
func (f *Fabric) Dial(to transport.Rank, addr []byte,
	r transport.Receiver) (transport.OriginEndpoint, error) {
	var at qp.Address // addr lacks the zeros at its end
	if len(addr) == 0 || len(addr) > len(at) {
		return nil, fmt.Errorf("an address of %d bytes", len(addr))
	}
	copy(at[:], addr)
	o := &origin{inlineBuffer: make([]byte, inlineBytes)}
	o.resume.to = to
	requests := originLength(len(f.cfg.Nodes))
	if err := o.openPair(f, f.originQueue, requests, maxPieces, inlineBytes,
		f.fastEntries()); err != nil {
		return nil, err
	}
	o.receiver, o.handlers.onMessage, o.handlers.onCompletion = r, o.handleReceive, func() {}
	o.direct.init(o)
	f.originQueue.registerEndpoint(&o.endpoint) // before the target may send
	err := o.exchangeHello(to, &at)
	if err == nil && f.device.Limits().ConnectsAtFirstRequest {
		err = o.connectLazily()
	}
	if err != nil {
		f.originQueue.unregisterEndpoint(&o.endpoint)
		o.pair.Close()
		return nil, err
	}
	return o, nil
}

// exchangeHello sends the connect request, and connects the queue pair with the target's. It
// refuses a reply of another rank, or of one that takes no messages of useful length.
func (o *origin) exchangeHello(to transport.Rank, at *qp.Address) error {
	f := o.fabric
	ownData, peerData := privateData{Link: o.pair.Link()}, privateData{}
	ownData.UsesSlots, ownData.UsesLocks, ownData.Back = f.cfg.Strided == transport.ByClaiming,
		f.cfg.DeviceAcc, f.connManager.address
	hello := transport.Hello{From: f.cfg.Me, To: to, Frame: uint32(f.bufferSize),
		Nonce: transport.NewNonce(), Extra: encode(&ownData)}
	o.resume.connection = hello.Nonce
	reply, err := f.connManager.requestConnect(&hello, at, f.cfg.Timeout)
	if err == nil && (reply.From != to || reply.Frame < minMessageBytes) {
		err = fmt.Errorf("the server there is of rank %d, and takes messages of %d bytes",
			reply.From, reply.Frame)
	}
	if err == nil {
		err = decode(reply.Extra, &peerData)
	}
	if err == nil {
		err = o.pair.Connect(&peerData.Link, f.cfg.Timeout)
	}
	if err == nil {
		o.peer.pair.Store(o.pair.Peer())
	}
	o.limits.message, o.peer.manager = min(f.bufferSize, int(reply.Frame)), *at
	o.eagerSlots, o.accLocks = lab.NewSlots(&peerData.Places, int(reply.Frame)),
		lab.NewLocks(&peerData.Places, f.cfg.Me)
	return err
}

// connectLazily completes the connection over a device that connects at the first request, in which
// both ends take part: it writes no bytes to the target and waits for the completion. Otherwise the
// target could send first, while this process polls no more.
func (o *origin) connectLazily() error {
	write := []qp.Request{{Op: qp.Write}}
	if err := o.postWhenRoom(postedChain{buffer: noBuffer}, write, nil); err != nil {
		return err
	}
	mark, deadline := o.inflight.nextNumber(), time.Now().Add(o.fabric.cfg.Timeout)
	o.fabric.cfg.Await(o, func() bool {
		return !o.inflight.isOpen(mark) || o.lossReason.Load() != nil ||
			time.Now().After(deadline)
	})
	if e := o.lossReason.Load(); e != nil {
		return *e
	}
	if o.inflight.isOpen(mark) {
		return fmt.Errorf("it does not answer for %v", o.fabric.cfg.Timeout)
	}
	return nil
}

// handleReceive hands a message of the target to C or to the receiver. The receive buffer is free
// again afterwards. Poller only.
func (o *origin) handleReceive(buffer int32, n int) {
	b := o.queue.receiveBuffers.Bytes(buffer)[:n]
	if !o.queue.fast.Receive(o.pair.Number(), b) {
		if err := o.deliverFrame(b, nil); err != nil {
			o.markLost(err)
		}
	}
	o.queue.recycleReceive(buffer)
}

// postWhenRoom posts a chain, and blocks until there is room for it. A chain that is longer than
// the queue pair is posted in parts.
func (o *origin) postWhenRoom(p postedChain, requests []qp.Request, data []qp.Data) error {
	for len(requests) > o.limits.chain {
		pieces := 0
		for i := range requests[:o.limits.chain] {
			pieces += int(requests[i].Pieces)
		}
		if err := o.postWhenRoom(postedChain{buffer: noBuffer}, requests[:o.limits.chain],
			data[:pieces]); err != nil {
			o.releaseChain(&postedChain{buffer: p.buffer})
			return err
		}
		requests, data = requests[o.limits.chain:], data[pieces:]
	}
	ok, err := o.tryPost(p, requests, data)
	if !ok {
		err = o.awaitRoom(p, slices.Clone(requests), slices.Clone(data))
	}
	return err
}

// awaitRoom is postWhenRoom where there was no room. After an error the chain's buffer is free.
func (o *origin) awaitRoom(p postedChain, requests []qp.Request, data []qp.Data) (err error) {
	lost := o.awaitCondition(func() (ok bool) {
		ok, err = o.tryPost(p, requests, data)
		return ok
	})
	if lost != nil {
		o.releaseChain(&postedChain{buffer: p.buffer})
		return lost
	}
	return err
}

// awaitCondition blocks until done returns true, after which it is not called again, or until the
// connection is lost; it returns the reason of that. Completions are polled for meanwhile.
func (o *origin) awaitCondition(done func() bool) error {
	ok := false
	o.fabric.cfg.Await(o, func() bool {
		broken := o.lossReason.Load() != nil
		ok = ok || !broken && done()
		return ok || broken
	})
	if !ok {
		return *o.lossReason.Load()
	}
	return nil
}

// TakeBuffer takes a send buffer, and waits for one if need be. The caller posts a chain with it.
func (o *origin) TakeBuffer() (int32, error) {
	if b := o.queue.sendBuffers.TakeBuffer(); b != noBuffer {
		return b, nil
	}
	b := noBuffer
	err := o.awaitCondition(func() bool {
		b = o.queue.sendBuffers.TakeBuffer()
		return b != noBuffer
	})
	return b, err
}

// Send sends a frame, and blocks until there is room for it. The memory of head and body is the
// caller's again when it returns.
func (o *origin) Send(head []byte, body *kernel.Cursor, n int64, _ transport.When) (bool, error) {
	o.queue.fast.AcquireQueues()
	defer o.queue.fast.ReleaseQueues()
	if n > 0 && o.eagerSlots != nil {
		return false, o.sendBySlot(head, body, int(n))
	}
	return false, o.postFrameWhenRoom(head, body, int(n))
}

// postFrameWhenRoom sends a frame as one message: inline if it is short, else from a send buffer.
func (o *origin) postFrameWhenRoom(head []byte, body *kernel.Cursor, n int) error {
	requests := [1]qp.Request{{Pieces: 1, Op: qp.Send}}
	if all := bodyOffset(len(head)) + n; all <= min(o.pair.Inline(), inlineBytes) {
		encodeFrame(o.inlineBuffer, head, body, n)
		requests[0].Flags = qp.Inline
		return o.postWhenRoom(postedChain{buffer: noBuffer}, requests[:],
			[]qp.Data{{Addr: uint64(sliceAddr(o.inlineBuffer)), Bytes: uint32(all)}})
	}
	b, err := o.TakeBuffer()
	if err != nil {
		return err
	}
	return o.postWhenRoom(postedChain{buffer: b}, requests[:],
		[]qp.Data{o.BufferPiece(b, 0, encodeFrame(o.BufferBytes(b), head, body, n))})
}

// WriteWord posts the write of a word of 4 bytes to remote memory, and may wait for room. The
// caller serialises calls of one origin. It keeps C out of the queues meanwhile.
func (o *origin) WriteWord(addr uintptr, key uint64, value uint32) error {
	o.queue.fast.AcquireQueues()
	defer o.queue.fast.ReleaseQueues()
	p := postedChain{buffer: noBuffer}
	requests := [1]qp.Request{{Remote: uint64(addr), Key: key, Pieces: 1, Op: qp.Write}}
	if o.pair.Inline() >= 4 {
		binary.NativeEndian.PutUint32(o.inlineBuffer, value)
		requests[0].Flags = qp.Inline
		data := []qp.Data{{Addr: uint64(sliceAddr(o.inlineBuffer)), Bytes: 4}}
		return o.postWhenRoom(p, requests[:], data)
	}
	var err error
	if p.buffer, err = o.TakeBuffer(); err != nil {
		return err
	}
	binary.NativeEndian.PutUint32(o.BufferBytes(p.buffer), value)
	return o.postWhenRoom(p, requests[:], []qp.Data{o.BufferPiece(p.buffer, 0, 4)})
}

// Flush has nothing to do: Send queues no frames.
func (o *origin) Flush() bool { return false }

// PostAndWait posts a chain, calls meanwhile (not nil), and waits until the chain is complete.
// After an error the device may still use the data's memory. Calls are serialised by the caller,
// which has acquired the queues (AcquireQueues), so that the C fast path does not post meanwhile.
func (o *origin) PostAndWait(requests []qp.Request, data []qp.Data, meanwhile func()) error {
	if err := o.postWhenRoom(postedChain{buffer: noBuffer}, requests, data); err != nil {
		return err
	}
	mark := o.inflight.nextNumber()
	meanwhile()
	o.fabric.cfg.Await(o, func() bool {
		return !o.inflight.isOpen(mark) || o.lossReason.Load() != nil
	})
	if e := o.lossReason.Load(); e != nil {
		return *e
	}
	return nil
}

// PostWithBuffer posts a chain. Send buffer b is freed when the chain is complete.
func (o *origin) PostWithBuffer(b int32, requests []qp.Request, data []qp.Data) error {
	return o.postWhenRoom(postedChain{buffer: b}, requests, data)
}

// BufferBytes returns the memory of a send buffer.
func (o *origin) BufferBytes(b int32) []byte { return o.queue.sendBuffers.Bytes(b) }

// BufferPiece describes n bytes of a send buffer, from an offset on.
func (o *origin) BufferPiece(b int32, off, n int) qp.Data {
	return o.fabric.describeBuffer(o.queue.sendBuffers, b, off, n)
}

// Atomic changes an 8-byte word by the target's device, and waits for its old value.
func (o *origin) Atomic(op transport.AtomicOp, addr uintptr, key uint64, operand,
	compare int64) (old int64, err error) {
	o.queue.fast.AcquireQueues()
	defer o.queue.fast.ReleaseQueues()
	b, err := o.TakeBuffer()
	if err != nil {
		return 0, err
	}
	requests := [1]qp.Request{{Remote: uint64(addr), Key: key, Pieces: 1, Op: qp.FetchAdd,
		Operand: uint64(operand)}}
	if op == transport.AtomicCompareSwap {
		requests[0].Op = qp.CompareSwap
		requests[0].Operand, requests[0].Swap = uint64(compare), uint64(operand)
	}
	data := []qp.Data{o.BufferPiece(b, 0, 8)}
	if err = o.PostAndWait(requests[:], data, func() {}); err != nil {
		return 0, err // the buffer stays taken: the device may still write to it
	}
	old = int64(binary.NativeEndian.Uint64(o.BufferBytes(b)))
	o.queue.sendBuffers.Put(b)
	return old, nil
}

var _ transport.WordEndpoint = (*origin)(nil)
