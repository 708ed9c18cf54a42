// SPDX-License-Identifier: BSD-3-Clause

// The cost model that chooses the protocol of a transfer, after paper 004: k rows of N bytes in all cost the device
// ts + k tr + tn N, and packed into messages tl + (tn + 2 tm) N, in which tn has the costs of messages, which are full but
// for the last. Each protocol is such a line; its parameters are measured on the fabric (measure.go), or set. Pure: it
// looks at nothing.
package internode

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"libarmci/internal/transport"
)

// costs are the parameters of the model.
type costs struct {
	transport.Costs
	measured [2]bool // puts, gets; or they are set
}

// named are the parameters by the names that people see.
func (c *costs) named() []struct {
	name string
	at   *transport.Linear
} {
	return []struct {
		name string
		at   *transport.Linear
	}{{"put.nic", &c.PutDirect}, {"put.host", &c.PutPacked}, {"get.nic", &c.GetDirect}, {"get.host", &c.GetPacked},
		{"get.push", &c.GetPush}, {"copy", &c.Copy}, {"pin", &c.Pin}}
}

// usualCosts are those of a fast network: what is assumed until a better figure is known.
var usualCosts = transport.Costs{
	PutDirect: transport.Linear{Start: 2000, Each: 150, Byte: 0.09}, PutPacked: transport.Linear{Start: 5000, Byte: 0.3},
	GetDirect: transport.Linear{Start: 2500, Each: 250, Byte: 0.09}, GetPacked: transport.Linear{Start: 5000, Byte: 0.3},
	GetPush: transport.Linear{Start: 6000, Each: 250, Byte: 0.09},
	Copy:    transport.Linear{Byte: 0.1}, Pin: transport.Linear{Start: 2500, Each: 100},
}

func (c costs) String() string {
	var all []string
	for _, p := range c.named() {
		all = append(all, fmt.Sprintf("%s=%.0f,%.0f,%.4g", p.name, p.at.Start, p.at.Each, p.at.Byte))
	}
	return strings.Join(all, " ")
}

// parseCosts reads what String writes; what is not named is as usual.
func parseCosts(text string) (costs, error) {
	c := costs{Costs: usualCosts}
	c.measured = [2]bool{true, true}
	for _, word := range strings.Fields(text) {
		name, list, _ := strings.Cut(word, "=")
		at := (*transport.Linear)(nil)
		for _, p := range c.named() {
			if p.name == name {
				at = p.at
			}
		}
		values := strings.Split(list, ",")
		if at == nil || len(values) != 3 {
			return c, fmt.Errorf("%q is not NAME=NS,NS,NS of put.nic, put.host, get.nic, get.host, get.push, copy, pin", word)
		}
		for i, to := range []*float64{&at.Start, &at.Each, &at.Byte} {
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
func fit(p []point) (l transport.Linear) {
	l.Byte = max((p[2].time-p[1].time)/(p[2].bytes-p[1].bytes), 0)
	l.Each = max((p[1].time-p[0].time-l.Byte*(p[1].bytes-p[0].bytes))/(p[1].each-p[0].each), 0)
	l.Start = max(p[0].time-l.Each*p[0].each-l.Byte*p[0].bytes, 0)
	return l
}

// fitBytes is the line through two points of one message and of some full ones, whose costs are part of the bytes'.
func fitBytes(p []point) (l transport.Linear) {
	l.Byte = max((p[1].time-p[0].time)/(p[1].bytes-p[0].bytes), 0)
	l.Start = max(p[0].time-l.Byte*p[0].bytes, 0)
	return l
}

// workload is what the model knows of a transfer.
type workload struct {
	get      bool
	requests int64 // of the device
	bytes    int64
	foreign  bool // the local memory is not registered: the device's part goes through buffers
	behind   bool // stores by message have to be waited for before the device may begin
}

// choose is the protocol that takes the shortest time.
func (c *costs) choose(s workload) string {
	device, packed := &c.PutDirect, &c.PutPacked
	if s.get {
		device, packed = &c.GetDirect, &c.GetPacked
	}
	best, least := byPacking, packed.Time(1, s.bytes)
	t := device.Time(s.requests, s.bytes)
	if s.foreign {
		t += c.Copy.Byte * float64(s.bytes)
	}
	if s.behind {
		t += c.PutPacked.Time(1, 0)
	}
	if t <= least {
		best, least = byDevice, t
	}
	if s.get && !s.foreign && c.GetPush.Time(s.requests, s.bytes) < least {
		best = byTargetSide
	}
	return best
}

// first is the size of the first piece of a pipelined transfer: what is not copied beside something that travels costs
// time, and so does every request.
func (c *costs) first() int {
	return min(max(int(1.5*c.PutDirect.Each/c.Copy.Byte), 1<<10), mostPiece)
}

// frame is how many bytes of a transfer each of its frames carries at best: the first is packed, and the last unpacked,
// while nothing travels, and a frame costs about what two requests do. The least of 2 p copy + bytes / p 2 each.
func (c *costs) frame(get bool, bytes int64) int {
	device := &c.PutDirect
	if get {
		device = &c.GetDirect
	}
	best := math.Sqrt(device.Each * float64(bytes) / max(c.Copy.Byte, 0.001))
	return int(min(max(best, leastPiece), mostPiece))
}

// Bounds of pieces, and a page.
const (
	leastPiece = 4 << 10
	mostPiece  = 64 << 10
	pageBytes  = 4 << 10
)

// lendFrom is the length from which on registering memory takes less time than copying it.
func (c *costs) lendFrom() int {
	gain := c.Copy.Byte - c.Pin.Each/pageBytes
	if gain <= 0 {
		return 1 << 30
	}
	return int((c.Pin.Start + c.Pin.Each) / gain)
}

// fromRow is the length of rows from which on the device does better with them, as a patch of that many of them.
func (c *costs) fromRow(get bool, rows int64) int64 {
	row := int64(8)
	for ; row < 1<<20; row += max(8, row/8) {
		row &^= 7
		if c.choose(workload{get: get, requests: rows, bytes: rows * row}) != byPacking {
			break
		}
	}
	return row
}
