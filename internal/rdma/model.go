// SPDX-License-Identifier: BSD-3-Clause

// The cost model that chooses the protocol of a transfer, after paper 004: k rows of N bytes in all cost the device
// ts + k tr + tn N, and packed into messages tl + (tn + 2 tm) N, in which tn has the costs of messages, which are full but
// for the last. Each protocol is such a line; its parameters are measured on the fabric (measure.go), or set. Pure: it
// looks at nothing.
package rdma

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// line is what a protocol costs: in ns, to begin with, for each request, and for each byte.
type linear struct{ start, each, byte float64 }

func (l linear) time(k, n int64) float64 { return l.start + l.each*float64(k) + l.byte*float64(n) }

// costs are the parameters of the model.
type costs struct {
	putNIC, putHost          linear
	getNIC, getHost, getPush linear
	copy                     linear  // of memory to memory: only its byte is used
	pin                      linear  // registering, and ending that: each is a page
	measured                 [2]bool // puts, gets; or they are set
}

// usual are costs of a fast network: what is assumed until a better figure is known.
var usual = costs{
	putNIC: linear{2000, 150, 0.09}, putHost: linear{5000, 0, 0.3},
	getNIC: linear{2500, 250, 0.09}, getHost: linear{5000, 0, 0.3}, getPush: linear{6000, 250, 0.09},
	copy: linear{byte: 0.1}, pin: linear{start: 2500, each: 100},
}

// named are the parameters by the names that people see.
func (c *costs) named() []struct {
	name string
	at   *linear
} {
	return []struct {
		name string
		at   *linear
	}{{"put.nic", &c.putNIC}, {"put.host", &c.putHost}, {"get.nic", &c.getNIC}, {"get.host", &c.getHost},
		{"get.push", &c.getPush}, {"copy", &c.copy}, {"pin", &c.pin}}
}

func (c costs) String() string {
	var all []string
	for _, p := range c.named() {
		all = append(all, fmt.Sprintf("%s=%.0f,%.0f,%.4g", p.name, p.at.start, p.at.each, p.at.byte))
	}
	return strings.Join(all, " ")
}

// parseCosts reads what String writes; what is not named is as usual.
func parseCosts(text string) (costs, error) {
	c := usual
	c.measured = [2]bool{true, true}
	for _, word := range strings.Fields(text) {
		name, list, _ := strings.Cut(word, "=")
		at := (*linear)(nil)
		for _, p := range c.named() {
			if p.name == name {
				at = p.at
			}
		}
		values := strings.Split(list, ",")
		if at == nil || len(values) != 3 {
			return c, fmt.Errorf("%q is not NAME=NS,NS,NS of put.nic, put.host, get.nic, get.host, get.push, copy, pin", word)
		}
		for i, to := range []*float64{&at.start, &at.each, &at.byte} {
			v, err := strconv.ParseFloat(values[i], 64)
			if err != nil || !(v >= 0 && v < 1e12) {
				return c, fmt.Errorf("%q: %q is no time in ns", word, values[i])
			}
			*to = v
		}
	}
	return c, nil
}

// point is a time measured: for so many requests, and bytes.
type point struct{ each, bytes, time float64 }

// fit is the line through three points: few requests, many, and those with many bytes. No parameter is less than nothing,
// whatever else the processor had to do meanwhile.
func fit(p []point) (l linear) {
	l.byte = max((p[2].time-p[1].time)/(p[2].bytes-p[1].bytes), 0)
	l.each = max((p[1].time-p[0].time-l.byte*(p[1].bytes-p[0].bytes))/(p[1].each-p[0].each), 0)
	l.start = max(p[0].time-l.each*p[0].each-l.byte*p[0].bytes, 0)
	return l
}

// fitBytes is the line through two points of one message and of some full ones, whose costs are part of the bytes'.
func fitBytes(p []point) (l linear) {
	l.byte = max((p[1].time-p[0].time)/(p[1].bytes-p[0].bytes), 0)
	l.start = max(p[0].time-l.byte*p[0].bytes, 0)
	return l
}

// shape is what the model knows of a transfer.
type shape struct {
	get      bool
	requests int64 // of the device
	bytes    int64
	foreign  bool // the local memory is not registered: the device's part goes through buffers
	behind   bool // stores by message have to be waited for before the device may begin
}

// choose is the protocol that takes the shortest time.
func (c *costs) choose(s shape) string {
	device, packed := &c.putNIC, &c.putHost
	if s.get {
		device, packed = &c.getNIC, &c.getHost
	}
	best, least := host, packed.time(1, s.bytes)
	t := device.time(s.requests, s.bytes)
	if s.foreign {
		t += c.copy.byte * float64(s.bytes)
	}
	if s.behind {
		t += c.putHost.time(1, 0)
	}
	if t <= least {
		best, least = nic, t
	}
	if s.get && !s.foreign && c.getPush.time(s.requests, s.bytes) < least {
		best = push
	}
	return best
}

// first is the size of the first piece of a pipelined transfer: what is not copied beside something that travels costs
// time, and so does every request.
func (c *costs) first() int {
	return min(max(int(1.5*c.putNIC.each/c.copy.byte), 1<<10), mostBytes)
}

// piece is how many bytes of a transfer each of its messages carries at best: the first is packed, and the last unpacked,
// while nothing travels, and a message costs about what two requests do. The least of 2 p copy + bytes / p 2 each.
func (c *costs) piece(get bool, bytes int64) int {
	device := &c.putNIC
	if get {
		device = &c.getNIC
	}
	best := math.Sqrt(device.each * float64(bytes) / max(c.copy.byte, 0.001))
	return int(min(max(best, leastPiece), mostBytes))
}

const leastPiece = 4 << 10

// lendFrom is the length from which on registering memory takes less time than copying it.
func (c *costs) lendFrom() int {
	gain := c.copy.byte - c.pin.each/pageBytes
	if gain <= 0 {
		return 1 << 30
	}
	return int((c.pin.start + c.pin.each) / gain)
}

// fromRow is the length of rows from which on the device does better with them, as a patch of that many of them.
func (c *costs) fromRow(get bool, rows int64) int64 {
	row := int64(8)
	for ; row < 1<<20; row += max(8, row/8) {
		row &^= 7
		if c.choose(shape{get: get, requests: rows, bytes: rows * row}) != host {
			break
		}
	}
	return row
}
