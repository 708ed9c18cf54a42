// SPDX-License-Identifier: BSD-3-Clause

// Service while all works are with clients that have stopped in the middle of a frame.
package tcp

import (
	"bytes"
	"testing"
)

func TestGetInACrowd(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Buffer = 0 })
	base := uint64(r.node.base())
	data := bytes.Repeat([]byte("Gedränge"), 1<<20/9+1)[:1<<20]
	copy(r.node.mem[2<<20:], data)
	put := frame(header{Kind: kindPut, Addr: base, Bytes: 1 << 20}, nil, data)
	stopped := []*caller{r.dial(2), r.dial(3)}
	for _, c := range stopped {
		c.send(put[:1<<19])
	}
	c := r.dial(2)
	for _, n := range []uint64{8, 4 << 10, 20 << 10, 32 << 10, 63 << 10} {
		h, b := c.ask(header{Kind: kindGet, Addr: base + 2<<20, Bytes: n}, nil, nil)
		if h.Kind != kindData || !bytes.Equal(b, data[:n]) {
			t.Errorf("get of %d bytes: %+v and %d bytes, or wrong ones", n, h, len(b))
		}
	}
	c.bye()
	for _, c := range stopped {
		c.send(put[1<<19:])
		c.fence()
		c.bye()
	}
	if !bytes.Equal(r.node.mem[:1<<20], data) {
		t.Error("a put that had stopped in the middle is wrong")
	}
}
