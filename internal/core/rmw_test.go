// SPDX-License-Identifier: BSD-3-Clause

// Read-modify-write: operations in both numberings, arguments, and results over the stand-in
// transport; and notification.
package core

import (
	"errors"
	"testing"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// RMWCode knows both numberings and nothing else.
func TestRMWCode(t *testing.T) {
	type meaning struct {
		op     transport.RMWOp
		nbytes int
	}
	known := map[int]meaning{
		10: {transport.Swap, 4}, 11: {transport.Swap, 8}, 12: {transport.FetchAdd, 4},
		13: {transport.FetchAdd, 8},
		2:  {transport.Swap, 4}, 3: {transport.Swap, 8}, 0: {transport.FetchAdd, 4},
		1: {transport.FetchAdd, 8},
	}
	for code := -3; code < 40; code++ {
		op, n, ok := RMWCode(code)
		if want, is := known[code]; ok != is || (meaning{op, n}) != want {
			t.Errorf("code %d: %d, %d bytes, %v", code, op, n, ok)
		}
	}
}

// Read-modify-writes of all ranks at one word are atomic.
func TestRMW(t *testing.T) {
	world(t, 3, func(r *tr) {
		mem := r.alloc(64)
		for i := range 30 { // everybody draws tickets at rank 0
			x := &transport.RMW{Op: transport.FetchAdd, Bytes: 8, Addr: mem[0],
				Operand: 2}
			r.must(r.RMW(0, x))
			if x.Old%2 != 0 || x.Old < int64(2*i) || x.Old >= 180 {
				r.wrong("ticket %d", x.Old)
			}
		}
		r.barrier()
		if r.Me == 0 && *long(mem[0]) != 180 {
			r.wrong("the counter is %d", *long(mem[0]))
		}
		x := &transport.RMW{Op: transport.Swap, Bytes: 4, Addr: mem[r.Me] + 12, Operand: -7}
		r.must(r.RMW(int(r.Me), x))
		if got := long(mem[r.Me] + 8); x.Old != 0 || uint64(*got) != 0xfffffff9_00000000 {
			r.wrong("swap: old %d, now %#x", x.Old, *got)
		}
		r.barrier()
		for what, c := range map[string]struct {
			proc, nbytes int
			addr         uintptr
			arg, text    string
			code         int
		}{
			"rank":      {3, 8, mem[0], "proc", "rank 3", CodeProc},
			"alignment": {0, 8, mem[0] + 4, "prem", "aligned to 8 bytes", CodeOp},
			"of an int": {0, 4, mem[0] + 2, "prem", "aligned to 4 bytes", CodeOp},
			"outside":   {1, 8, mem[1] + 64, "prem", "8 bytes at", CodeAddress},
			"null":      {1, 8, 0, "prem", "null", CodeArgument},
		} {
			err := r.RMW(c.proc, &transport.RMW{Bytes: c.nbytes, Addr: c.addr})
			wantArg(r, what, err, c.arg, c.code, c.text)
		}
		r.barrier()
	})
}

// An error of the transport is RMW's error; a bad address names the argument.
func TestRMWFails(t *testing.T) {
	broken := errors.New("broken")
	worldOf(t, 1, func(c *transporttest.Cluster) {
		c.Wrap = func(_ int, t transport.Transport) transport.Transport {
			return &transporttest.Flaky{Transport: t,
				Fail: func(what string, _ transport.Peer) error {
					if what == "rmw" {
						return broken
					}
					return nil
				}}
		}
	}, func(r *tr) {
		mem := r.alloc(8)
		err := r.RMW(0, &transport.RMW{Op: transport.Swap, Bytes: 8, Addr: mem[0],
			Operand: 1})
		if !errors.Is(err, broken) || CodeOf(err) != CodeInternal || *long(mem[0]) != 0 {
			r.wrong("%v; the word is %d", err, *long(mem[0]))
		}
	})
}

// A notification comes after everything its sender has stored, also where puts complete late.
func TestNotify(t *testing.T) {
	world(t, 2, func(r *tr) {
		mem, buf := r.alloc(8*50), r.local(8)
		to := 1 - int(r.Me)
		for i := range 50 {
			*long(buf) = int64(i + 1)
			r.must(r.Do(op(Put, to, buf, mem[to]+uintptr(8*i), 8)))
			n, err := r.Notify(to)
			r.must(err)
			if n != i+1 {
				r.wrong("notification %d is counted as %d", i+1, n)
			}
			received, waited, err := r.NotifyWait(to)
			r.must(err)
			if waited != i+1 || received < waited {
				r.wrong("waited for %d, received %d, in round %d", waited, received,
					i+1)
			}
			if got := *long(mem[r.Me] + uintptr(8*i)); got != int64(i+1) {
				r.wrong("notified before the data were there: %d in round %d", got,
					i+1)
			}
		}
		_, err := r.Notify(2)
		wantArg(r, "Notify", err, "proc", CodeProc, "rank 2")
		_, _, err = r.NotifyWait(-1)
		wantArg(r, "NotifyWait", err, "proc", CodeProc, "rank -1")
		r.barrier()
	})
}

// Two threads that wait for the same rank wait for different notifications.
func TestNotifyThreads(t *testing.T) {
	world(t, 1, func(r *tr) {
		got := make(chan int, 2)
		for range 2 {
			go func() {
				_, waited, err := r.NotifyWait(0)
				if err != nil {
					waited = -1
				}
				got <- waited
			}()
		}
		for range 2 {
			_, err := r.Notify(0)
			r.must(err)
		}
		if a, b := <-got, <-got; a+b != 3 {
			r.wrong("waited for %d and %d", a, b)
		}
	})
}
