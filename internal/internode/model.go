// SPDX-License-Identifier: BSD-3-Clause

// The cost model that chooses the protocol of a transfer, after paper 004: k rows of N bytes in all
// cost the device ts + k tr + tn N, and packed into messages tl + (tn + 2 tm) N, in which tn has
// the costs of messages, which are full but for the last. Each protocol is such a line; its
// parameters are measured on the fabric (measure.go), or set. And what armci_info says of it:
// measured between two ends in this process. A job measures for itself, over the network.
package internode

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"libarmci/internal/transport"
)

// line is a time in ns: to begin with, for each request of the device, and for each byte.
type line struct{ start, each, byte float64 }

func (l line) export() transport.Line {
	return transport.Line{Start: l.start, Each: l.each, Byte: l.byte}
}

func (l *line) time(requests, bytes int64) float64 {
	return l.start + l.each*float64(requests) + l.byte*float64(bytes)
}

// direction is what the protocols of puts, or of gets, cost.
type direction struct {
	nic, host, push line // push is for gets only
	fast            line // as nic, by the C fast path
	basis           basis
}

// basis is where parameters come from.
type basis int

const (
	assumed  basis = iota // they are as usual
	doubtful              // measured, but the target's server was slow to be awake
	settled               // measured, or set
)

// costs are the parameters of the model.
type costs struct {
	put, get direction
	copy     line // of memory to memory: only byte is used
	pin      line // registering memory and ending that; each is a page
	wake     line // what waking a target's server takes: only start is used
}

// usualCosts are those of a fast network: what is assumed until something better is known.
var usualCosts = costs{
	put: direction{nic: line{2000, 150, 0.09}, host: line{5000, 0, 0.3},
		fast: line{1500, 150, 0.09}},
	get: direction{nic: line{2500, 250, 0.09}, host: line{5000, 0, 0.3},
		push: line{6000, 250, 0.09}, fast: line{2000, 250, 0.09}},
	copy: line{0, 0, 0.1}, pin: line{2500, 100, 0}, wake: line{30000, 0, 0},
}

func (c *costs) direction(get bool) *direction {
	if get {
		return &c.get
	}
	return &c.put
}

// lineNames are the names of the lines in settings and in armci_info.
var lineNames = []string{"put.nic", "put.host", "put.fast", "get.nic", "get.host", "get.push",
	"get.fast", "copy", "pin", "wake"}

func (c *costs) lines() []*line {
	return []*line{&c.put.nic, &c.put.host, &c.put.fast, &c.get.nic, &c.get.host, &c.get.push,
		&c.get.fast, &c.copy, &c.pin, &c.wake}
}

func (c *costs) String() string {
	var all []string
	for i, l := range c.lines() {
		all = append(all, fmt.Sprintf("%s=%.0f,%.0f,%.4g", lineNames[i], l.start, l.each,
			l.byte))
	}
	return strings.Join(all, " ")
}

// parseCosts reads what String writes; what is not named is as usual.
func parseCosts(text string) (*costs, error) {
	c := usualCosts
	if text == "" || text == transport.Auto {
		return &c, nil
	}
	c.put.basis, c.get.basis = settled, settled
	for _, word := range strings.Fields(text) {
		name, list, _ := strings.Cut(word, "=")
		var l line
		_, err := fmt.Sscanf(list+";", "%g,%g,%g;", &l.start, &l.each, &l.byte)
		i := slices.Index(lineNames, name)
		if i < 0 || err != nil || !(min(l.start, l.each, l.byte) >= 0 &&
			max(l.start, l.each, l.byte) < 1e12) {
			return nil, fmt.Errorf("cost model: %q is not NAME=NS,NS,NS of %s", word,
				strings.Join(lineNames, ", "))
		}
		*c.lines()[i] = l
	}
	return &c, nil
}

// CheckModel refuses parameters that are not of a cost model.
func CheckModel(text string) error {
	_, err := parseCosts(text)
	return err
}

// workload is what the model knows of a transfer.
type workload struct {
	get      bool
	requests int64 // of the device
	bytes    int64
	foreign  bool // the local memory is not registered: the device's part goes through buffers
	behind   bool // stores by message have to be waited for before the device may begin
}

// way is the protocol that takes the shortest time, if the target's server is awake, and that time;
// and how long the device takes.
type way struct {
	by           string
	time, device float64
}

func (c *costs) choose(w workload) way {
	d := c.direction(w.get)
	best := way{by: transport.ByPacking, time: d.host.time(1, w.bytes)}
	t := d.nic.time(w.requests, w.bytes)
	if w.foreign {
		t += c.copy.byte * float64(w.bytes)
	}
	if w.behind {
		t += c.put.host.start
	}
	if t <= best.time {
		best.by, best.time = transport.ByDevice, t
	}
	if push := d.push.time(w.requests, w.bytes); w.get && !w.foreign && push < best.time {
		best.by, best.time = transport.ByTargetSide, push
	}
	best.device = t
	return best
}

// Bounds of pieces, and a page.
const (
	leastPiece = 4 << 10
	mostPiece  = 64 << 10
	pageBytes  = 4 << 10
)

// first is the size of the first piece of a pipelined transfer: what is not copied beside something
// that travels costs time, and so does every piece, as much as some requests of a chain.
func (c *costs) first() int {
	return min(max(int(3*c.put.nic.each/max(c.copy.byte, 0.001)), 1<<10), mostPiece)
}

// frame is how many bytes of a transfer each of its frames carries at best: the first is packed,
// and the last unpacked, while nothing travels, and a frame costs about what two requests do. The
// least of 2 p copy + bytes / p 2 each.
func (c *costs) frame(get bool, bytes int64) int {
	best := math.Sqrt(c.direction(get).nic.each * float64(bytes) / max(c.copy.byte, 0.001))
	return int(min(max(best, leastPiece), mostPiece))
}

// lendFrom is the length from which on registering memory takes less time than copying it.
func (c *costs) lendFrom() int {
	gain := c.copy.byte - c.pin.each/pageBytes
	if gain <= 0 {
		return 1 << 30
	}
	return int((c.pin.start + c.pin.each) / gain)
}

// lendAfter is how many bytes are copied in the time that registering memory of a size takes. A
// caller that has copied so many from one place would better have registered it; at most twice the
// time is lost, whatever it does next.
func (c *costs) lendAfter(bytes int64) int64 {
	pages := float64(bytes/pageBytes + 1)
	return int64(min((c.pin.start+c.pin.each*pages)/max(c.copy.byte, 0.001), 1<<62))
}

// notes tells what would be used.
func notes(d transport.Driver, o Options) string {
	text := d.Notes()
	c, err := calibrate(d, o)
	switch {
	case err != nil:
		return fmt.Sprintf("%s; cost model: %v", text, err)
	case c == nil:
		return text
	}
	how := "measured within this host"
	if o.Model != "" && o.Model != transport.Auto {
		how = "as it is set"
	}
	const rows = 64
	return fmt.Sprintf("%s; cost model, %s: %v; so %d rows are left to the device from %d "+
		"bytes a row on in a put and %d in a "+
		"get, memory is registered from %d bytes on, and the first piece of a transfer "+
		"through buffers has %d",
		text, how, c, rows, c.fromRow(false, rows), c.fromRow(true, rows), c.lendFrom(),
		c.first())
}

// fromRow is the length of rows from which on the device does better with them, as a patch of that
// many of them.
func (c *costs) fromRow(get bool, rows int64) int64 {
	row := int64(8)
	packed := func() bool {
		w := workload{get: get, requests: rows, bytes: rows * row}
		return c.choose(w).by == transport.ByPacking
	}
	for row < 1<<20 && packed() {
		row += max(8, row/8&^7)
	}
	return row
}

// noMemory is a node without memory of its own.
type noMemory struct{}

func (noMemory) KeepPages()                        {}
func (noMemory) Counters() (uintptr, int64)        { return 0, 0 }
func (noMemory) Inside(uintptr) bool               { return false }
func (noMemory) Owns(int, uintptr, int64) bool     { return false }
func (noMemory) Extent(uintptr) (uintptr, int64)   { return 0, 0 }
func (noMemory) Arena() (uintptr, int64)           { return 0, 0 }
func (noMemory) Mapped(int, uintptr) bool          { return true }
func (noMemory) DeviceLocks() (uintptr, int)       { return 0, 0 }
func (noMemory) Declared(uintptr) (uintptr, int64) { return 0, 0 }

func (noMemory) ReadForeign(int, uintptr, []byte) error  { return transport.ErrBadAddr }
func (noMemory) WriteForeign(int, uintptr, []byte) error { return transport.ErrBadAddr }

// calibrate measures the cost model; nil for a fabric that needs none.
func calibrate(d transport.Driver, o Options) (*costs, error) {
	o.Buffer, o.Looks = 0, nil
	o.OpenInfo = transport.OpenInfo{Nodes: [][]transport.Rank{{0}, {1}},
		Hosts:  []string{"here", "here"},
		Secret: []byte("calibration"), Node: noMemory{},
		Lost: func(transport.Rank, string) {}}
	if d.Hint != nil {
		o.Hints = [][]byte{d.Hint(), d.Hint()}
	}
	var ends [2]*Transport
	var peers []transport.PeerAddr
	for i := range ends {
		o.Me, o.MyNode = transport.Rank(i), i
		end, err := Open(d, o)
		if err != nil {
			return nil, err
		}
		defer end.Close()
		if end.direct == nil {
			return nil, nil
		}
		ends[i] = end
		peers = append(peers, transport.PeerAddr{Rank: o.Me, Addr: end.info.Addr})
	}
	for _, t := range ends {
		if err := t.Connect(peers); err != nil {
			return nil, err
		}
	}
	g := ends[0].targets[1]
	if err := g.lock(); err != nil {
		return nil, err
	}
	defer g.mu.Unlock()
	g.costs(false)
	return g.costs(true), nil
}
