// SPDX-License-Identifier: BSD-3-Clause

// Procedure calls: arguments, replies, order with respect to data, mistakes; and malformed
// messages.
package core

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"testing"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// echo replies with its arguments, as far as they fit, and where they came from.
func echo(from int, head, data []byte, headCap, dataCap int) ([]byte, []byte) {
	h := append([]byte{byte(from)}, head...)
	return h[:min(headCap, len(h))], data[:min(dataCap, len(data))]
}

// Procedures run at the target behind the caller's stores, and replies reach their callers.
func TestGPC(t *testing.T) {
	worldOf(t, 2, slow, func(r *tr) {
		mem, buf := r.alloc(64), r.local(8)
		h := r.GPCRegister(echo)
		peek := r.GPCRegister(func(from int, head, _ []byte, _, _ int) ([]byte, []byte) {
			return nil, bytes.Clone(memory(mem[r.Me], 16))
		})
		if h >= 0 || peek >= 0 || h == peek {
			r.wrong("handles %d and %d", h, peek)
		}
		r.barrier()
		for to := range 2 {
			wait, err := r.CallProcedure(h, to, []byte("head"), []byte("data"), 5, 3)
			r.must(err)
			head, data, err := wait()
			if err != nil || string(head) != string(append([]byte{byte(r.Me)},
				"head"...)) || string(data) != "dat" {
				r.wrong("%q, %q, %v", head, data, err)
			}
			for i := range uint64(5) {
				// a procedure sees what its caller has put before
				*long(buf) = int64(i + 77)
				at := uintptr(8 * r.Me)
				r.must(r.Do(op(Put, to, buf, mem[to]+at, 8)))
				wait, err = r.CallProcedure(peek, to, nil, nil, 0, 16)
				r.must(err)
				if _, data, err := wait(); err != nil ||
					binary.NativeEndian.Uint64(data[at:]) != i+77 {
					r.wrong("the procedure sees %v, %v", data, err)
				}
			}
		}
		r.barrier()
		r.must(r.GPCRelease(h))
		_, err := r.CallProcedure(h, 0, nil, nil, 0, 0)
		wantArg(r, "released", err, "h", CodeOp, "is not a registered procedure")
		wantArg(r, "released twice", r.GPCRelease(h), "handle", CodeOp,
			"is not a registered procedure")
		for _, h := range []int{0, 1, -3, -1 << 31, 1<<31 - 1} {
			_, err := r.CallProcedure(h, 0, nil, nil, 0, 0)
			wantArg(r, "unknown", err, "h", CodeOp, "is not a registered procedure")
			wantArg(r, "unknown", r.GPCRelease(h), "handle", CodeOp,
				"is not a registered procedure")
		}
		_, err = r.CallProcedure(peek, 2, nil, nil, 0, 0)
		wantArg(r, "rank", err, "p", CodeProc, "rank 2")
		if third := r.GPCRegister(echo); third == peek || third == h {
			r.wrong("handle %d is given twice", third)
		}
		r.barrier()
	})
}

// A procedure that is not registered at the target is an error of the call, not of the target.
func TestGPCUnknownThere(t *testing.T) {
	world(t, 2, func(r *tr) {
		if r.Me == 0 {
			h := r.GPCRegister(echo)
			wait, err := r.CallProcedure(h, 1, nil, nil, 0, 0)
			r.must(err)
			if _, _, err := wait(); err == nil ||
				!strings.Contains(err.Error(), "not registered at rank 1") {
				r.wrong("%v", err)
			}
		}
		r.barrier()
	})
}

// Many calls at once, each gets its own reply; a procedure may itself call.
func TestGPCMany(t *testing.T) {
	world(t, 2, func(r *tr) {
		var relay int
		h := r.GPCRegister(echo)
		relay = r.GPCRegister(func(from int, head, data []byte, headCap,
			dataCap int) ([]byte, []byte) {
			wait, err := r.CallProcedure(h, from, head, data, headCap, dataCap)
			if err != nil {
				return nil, nil
			}
			head, data, _ = wait()
			return head, data
		})
		r.barrier()
		var running sync.WaitGroup
		for i := range 40 {
			running.Go(func() {
				arg := bytes.Repeat([]byte{byte(i)}, 1+i*50)
				wait, err := r.CallProcedure([]int{h, relay}[i%2], 1-int(r.Me), nil,
					arg, 1, len(arg))
				if err != nil {
					r.wrong("%v", err)
					return
				}
				head, data, err := wait()
				who := byte(r.Me)
				if i%2 == 1 {
					who = 1 - who
				}
				if err != nil || !bytes.Equal(data, arg) || head[0] != who {
					r.wrong("call %d: %v, %d bytes, %v", i, head, len(data),
						err)
				}
			})
		}
		running.Wait()
		r.barrier()
		if len(r.procedures.awaited) != 0 {
			r.wrong("%d calls are still waited for", len(r.procedures.awaited))
		}
	})
}

// A call that cannot be sent fails and awaits no reply.
func TestGPCCannotSend(t *testing.T) {
	worldOf(t, 1, flaky(func(what string, _ transport.Peer) error {
		if what == "send" {
			return transport.ErrPeerDead
		}
		return nil
	}, nil), func(r *tr) {
		h := r.GPCRegister(echo)
		if _, err := r.CallProcedure(h, 0, nil, nil, 0, 0); !errors.Is(err,
			transport.ErrPeerDead) || len(r.procedures.awaited) != 0 {
			r.wrong("%v, %d calls waited for", err, len(r.procedures.awaited))
		}
		lines := logged(r.T)
		r.procedures.serveCall(0, make([]byte, callHead))
		if got := lines(); !strings.Contains(got,
			"reply to the call of rank 0: the peer has died") {
			r.wrong("%q", got)
		}
	})
}

// A reply that makes no sense ends the call with an error.
func TestBadReply(t *testing.T) {
	lines := logged(t)
	world(t, 1, func(r *tr) {
		reply := make(chan gpcReply, 1)
		r.procedures.awaited = map[uint64]chan gpcReply{5: reply}
		body := make([]byte, replyHead+3)
		body[0], body[8], body[12] = 5, 1, 4 // four bytes of head, where there are three
		r.handleMessage(0, 0, transport.Msg{Kind: msgReply, Body: body}, nil)
		if got := <-reply; got.ok {
			r.wrong("%+v", got)
		}
		// no call waits any more
		r.handleMessage(0, 0, transport.Msg{Kind: msgReply, Body: body}, nil)
		r.handleMessage(0, 0, transport.Msg{Kind: 99, Body: body}, nil)
		r.handleMessage(0, 0, transport.Msg{Kind: msgProcedure, Body: body[:callHead-8]},
			nil)
		if got := strings.Count(lines(), "dropped"); got != 2 {
			r.wrong("%d messages were dropped: %s", got, lines())
		}
	})
}

// Whatever the body of a message is, it is answered or dropped: no crash, and procedures get slices
// of it only.
func FuzzMessage(f *testing.F) {
	call := make([]byte, callHead, callHead+8)
	binary.LittleEndian.PutUint64(call, 1)
	for i, v := range []int{-1, 4, 10, 10} {
		binary.LittleEndian.PutUint32(call[8+4*i:], uint32(v))
	}
	reply := make([]byte, replyHead)
	reply[0], reply[8] = 7, 1
	f.Add(byte(msgProcedure), append(call, "headdata"...))
	f.Add(byte(msgReply), append(reply, "data"...))
	f.Add(byte(3), []byte("what?"))
	f.Add(byte(msgProcedure), bytes.Repeat([]byte{255}, 40))
	c := transporttest.NewCluster(1)
	f.Cleanup(c.Close)
	r, err := Start(settings(), c.Job(0), c.Platform(0))
	if err != nil {
		f.Fatal(err)
	}
	defer discardLog()()
	called := 0
	r.GPCRegister(func(from int, head, data []byte, headCap, dataCap int) ([]byte, []byte) {
		called = len(head) + len(data)
		return head[:min(headCap, len(head))], data[:min(dataCap, len(data))]
	})
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		waiting := make(chan gpcReply, 1)
		r.procedures.mu.Lock()
		r.procedures.awaited = map[uint64]chan gpcReply{7: waiting}
		r.procedures.mu.Unlock()
		called = -1
		if kind == msgProcedure && len(body) >= callHead {
			// not on a goroutine, so that what it does can be looked at
			r.procedures.serveCall(0, body)
		} else {
			r.handleMessage(0, 0, transport.Msg{Kind: kind, Body: body}, nil)
		}
		if called >= 0 && called > len(body)-callHead {
			t.Errorf("%x: a procedure was given %d bytes", body, called)
		}
		select {
		case got := <-waiting:
			if len(got.head)+len(got.data) > len(body)-replyHead {
				t.Errorf("%x: reply of %d and %d bytes", body, len(got.head),
					len(got.data))
			}
		default:
		}
	})
}

// The longest header, data and reply travel whole; what is longer is refused before anything is
// sent.
func TestLongestCalls(t *testing.T) {
	shape{2, 2, false}.run(t, nil, func(r *tr) {
		h := r.GPCRegister(func(_ int, head, data []byte, _, _ int) ([]byte,
			[]byte) {
			return data, head
		})
		r.barrier()
		if r.Me == 0 {
			head, data := make([]byte, MaxProcedure), make([]byte, MaxProcedure)
			head[MaxProcedure-1], data[MaxProcedure-1] = 1, 2
			wait, err := r.CallProcedure(h, 1, head, data, MaxProcedure, MaxProcedure)
			r.must(err)
			rhead, rdata, err := wait()
			r.must(err)
			if !bytes.Equal(rhead, data) || !bytes.Equal(rdata, head) {
				r.wrong("%d and %d bytes came back", len(rhead), len(rdata))
			}
			long := make([]byte, MaxProcedure+1)
			for arg, call := range map[string]func() error{
				"hlen": func() error {
					_, err := r.CallProcedure(h, 1, long, nil, 0,
						0)
					return err
				},
				"dlen": func() error {
					_, err := r.CallProcedure(h, 1, nil, long, 0,
						0)
					return err
				},
				"rhlen": func() error {
					_, err := r.CallProcedure(h, 1, nil, nil,
						len(long), 0)
					return err
				},
				"rdlen": func() error {
					_, err := r.CallProcedure(h, 1, nil, nil, 0,
						len(long))
					return err
				},
			} {
				wantArg(r, "call", call(), arg, CodeBytes,
					"33554433 bytes, where 33554432 are the most")
			}
		}
		r.barrier()
	})
}
