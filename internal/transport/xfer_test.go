// SPDX-License-Identifier: BSD-3-Clause

// The descriptor of a transfer: its size, and that a copy shares no memory with its original.
package transport

import (
	"errors"
	"reflect"
	"testing"
)

// TestXfer shows the number of levels and bytes of descriptors of all three kinds.
func TestXfer(t *testing.T) {
	for _, c := range []struct {
		x      Xfer
		levels int
		nbytes int64
	}{
		{Xfer{}, 0, 1},
		{Xfer{Count: []int32{7}}, 0, 7},
		{Xfer{Count: []int32{8, 3, 2}}, 2, 48},
		{Xfer{Count: []int32{1 << 30, 1 << 30}}, 1, 1 << 60},
		{Xfer{Count: []int32{8, 0}}, 1, 0},
		{Xfer{Vector: []Segments{}}, 0, 0},
		{Xfer{Vector: []Segments{{Local: make([]uintptr, 3), Bytes: 5},
			{Local: make([]uintptr, 1), Bytes: 1 << 31}}}, 0, 15 + 1<<31},
	} {
		if c.x.Levels() != c.levels || c.x.Bytes() != c.nbytes {
			t.Errorf("%+v: %d levels, %d bytes; expected %d, %d", c.x, c.x.Levels(),
				c.x.Bytes(), c.levels, c.nbytes)
		}
	}
}

// TestClone shows that a clone stays as it is when the arrays of the original are changed.
func TestClone(t *testing.T) {
	fresh := func() *Xfer {
		return &Xfer{Local: Section{1, []int32{2, 3}}, Remote: Section{4, []int32{5}},
			Count:  []int32{6, 7},
			Vector: []Segments{{[]uintptr{8}, []uintptr{9, 10}, 11}}}
	}
	x := fresh()
	c := x.Clone()
	if !reflect.DeepEqual(x, c) {
		t.Errorf("%+v became %+v", x, c)
	}
	x.Local.Stride[1], x.Remote.Stride[0], x.Count[0] = 0, 0, 0
	x.Vector[0].Local[0], x.Vector[0].Remote[1], x.Vector[0].Bytes = 0, 0, 0
	if !reflect.DeepEqual(c, fresh()) {
		t.Errorf("the copy has changed: %+v", c)
	}
	if c := (&Xfer{Count: []int32{1}}).Clone(); c.Vector != nil {
		t.Error("the copy of a strided transfer is a vector")
	}
}

// TestFinish shows that Finish passes its error to Done, if there is one.
func TestFinish(t *testing.T) {
	var got []error
	x := &Xfer{Done: func(err error) { got = append(got, err) }}
	x.Finish(nil)
	x.Finish(ErrClosed)
	(&Xfer{}).Finish(ErrClosed)
	if len(got) != 2 || got[0] != nil || !errors.Is(got[1], ErrClosed) {
		t.Errorf("%v", got)
	}
}
