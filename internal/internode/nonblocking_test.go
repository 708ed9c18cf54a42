// SPDX-License-Identifier: BSD-3-Clause

// Nonblocking transfers, while no thread calls the transport.
package internode

import (
	"bytes"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/transport"
)

// TestLaterCompletes shows that nonblocking transfers complete without a caller, also after the
// progress thread has gone to sleep.
func TestLaterCompletes(t *testing.T) {
	for name, o := range map[string]pipe.Options{"frames": {},
		"direct": {Direct: true, Shared: true, MaxFrame: 16 << 10, Credits: 16}} {
		t.Run(name, func(t *testing.T) {
			ends := newEnds(t, pipe.New(o), nil, 1, 1)
			ends.ConnectAll(t)
			near, far := ends.Alloc(t, 0, 1<<20), ends.Alloc(t, 1, 1<<20)
			done := make(chan error, 1)
			for range 3 {
				x := &transport.Xfer{Later: true, Count: []int32{100000},
					Done:   func(err error) { done <- err },
					Local:  transport.Section{Base: near},
					Remote: transport.Section{Base: far}}
				if err := ends.Open[0].Get(1, x); err != nil {
					t.Fatal(err)
				}
				select {
				case err := <-done:
					if err != nil {
						t.Fatal(err)
					}
				case <-time.After(patience):
					t.Fatal("it does not complete")
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
}

// TestCallLater shows that each function is called once, whether the progress thread ticks or
// sleeps.
func TestCallLater(t *testing.T) {
	ends := newEnds(t, pipe.New(pipe.Options{}), nil, 1, 1)
	ends.ConnectAll(t)
	called := make(chan int, 8)
	alarm := ends.Open[0].(transport.Alarm)
	for round := range 3 {
		for i := range 2 {
			alarm.CallLater(func() { called <- i })
		}
		for range 2 {
			select {
			case <-called:
			case <-time.After(patience):
				t.Fatal("it is not called")
			}
		}
		time.Sleep(time.Duration(round) * 10 * time.Millisecond)
	}
	if n := len(called); n > 0 {
		t.Errorf("%d more calls", n)
	}
}

// TestLaterVectors shows that the lists of several outstanding vector gets do not mix.
func TestLaterVectors(t *testing.T) {
	for name, o := range map[string]pipe.Options{"frames": {},
		"direct": {Direct: true, Shared: true, MaxFrame: 16 << 10, Credits: 16}} {
		t.Run(name, func(t *testing.T) {
			const gets, groups, segments, size = 8, 5, 7, 24
			ends := newEnds(t, pipe.New(o), nil, 1, 1)
			ends.ConnectAll(t)
			const all = gets * groups * segments * size
			near, far := ends.Alloc(t, 0, all), ends.Alloc(t, 1, all)
			here, there := unsafe.Slice((*byte)(kernel.Ptr(near)), all),
				unsafe.Slice((*byte)(kernel.Ptr(far)), all)
			for i := range there {
				there[i] = byte(i * 7 >> 3)
			}
			done, at := make(chan error, gets), uintptr(0)
			for range gets {
				x := &transport.Xfer{Later: true,
					Done: func(err error) { done <- err }}
				for range groups {
					s := transport.Segments{Bytes: size}
					for range segments {
						s.Local, s.Remote, at = append(s.Local, near+at),
							append(s.Remote, far+at), at+size
					}
					x.Vector = append(x.Vector, s)
				}
				if err := ends.Open[0].Get(1, x); err != nil {
					t.Fatal(err)
				}
			}
			for range gets {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(here, there) {
				t.Error("data is not where it belongs")
			}
		})
	}
}
