// SPDX-License-Identifier: BSD-3-Clause

// The cost model that chooses the protocol of a transfer, after Nieplocha et al. 2005 (QsNetII). k
// rows of N bytes in all cost the device ts + k tr + tn N. Packed into messages they cost tl + (tn
// + 2 tm) N, in which tn includes the costs of messages, which are full except for the last. Each
// protocol is such a line; its parameters are measured on the fabric (measure.go), or set.
// armci_info describes it by a measurement between two ends in its own process. A job measures for
// itself, over the network.
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

// export returns the line for C.
func (l line) export() transport.Line {
	return transport.Line{Start: l.start, Each: l.each, Byte: l.byte}
}

// cost returns the time of a transfer, in ns.
func (l *line) cost(requests, bytes int64) float64 {
	return l.start + l.each*float64(requests) + l.byte*float64(bytes)
}

// direction is what the protocols of puts, or of gets, cost.
type direction struct {
	nic   line // by the origin's device
	host  line // packed into frames
	push  line // by the target's device; gets only
	fast  line // as nic, by the C fast path
	basis basis
}

// basis is where parameters come from.
type basis int

const (
	assumed  basis = iota // usualCosts
	doubtful              // measured while the target's server was slow
	settled               // measured, or set
)

// costs are the parameters of the model.
type costs struct {
	put, get direction
	copy     line // memory to memory; byte only
	pin      line // registering memory and ending that; each is a page
	wake     line // waking a target's server; start only
}

// usualCosts are those of a fast network. They are assumed until something better is known.
var usualCosts = costs{
	put: direction{nic: line{2000, 150, 0.09}, host: line{5000, 0, 0.3},
		fast: line{1500, 150, 0.09}},
	get: direction{nic: line{2500, 250, 0.09}, host: line{5000, 0, 0.3},
		push: line{6000, 250, 0.09}, fast: line{2000, 250, 0.09}},
	copy: line{0, 0, 0.1}, pin: line{2500, 100, 0}, wake: line{30000, 0, 0},
}

// direction returns the costs of gets, or of puts.
func (c *costs) direction(get bool) *direction {
	if get {
		return &c.get
	}
	return &c.put
}

// lineNames are the names of the lines in settings and in armci_info.
var lineNames = []string{"put.nic", "put.host", "put.fast", "get.nic", "get.host", "get.push",
	"get.fast", "copy", "pin", "wake"}

// lines returns the lines in the order of lineNames.
func (c *costs) lines() []*line {
	return []*line{&c.put.nic, &c.put.host, &c.put.fast, &c.get.nic, &c.get.host, &c.get.push,
		&c.get.fast, &c.copy, &c.pin, &c.wake}
}

// String returns what parseCosts reads.
func (c *costs) String() string {
	var all []string
	for i, l := range c.lines() {
		all = append(all, fmt.Sprintf("%s=%.0f,%.0f,%.4g", lineNames[i], l.start, l.each,
			l.byte))
	}
	return strings.Join(all, " ")
}

// parseCosts reads what String returns. Lines that are not named are as usual.
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

// CheckModel returns an error for text that parseCosts does not read.
func CheckModel(text string) error {
	_, err := parseCosts(text)
	return err
}

// workload is what the model knows of a transfer.
type workload struct {
	get      bool
	requests int64 // work requests of the device
	bytes    int64
	foreign  bool // the local memory is not registered: the device's data goes through buffers
	behind   bool // stores by frames must take effect before the device may begin
}

// choice is a protocol and its time, in ns.
type choice struct {
	protocol   string
	cost       float64 // if the target's server is awake
	deviceCost float64 // of the device, whatever the protocol
}

// cheapest returns the protocol that takes the shortest time.
func (c *costs) cheapest(w workload) choice {
	d := c.direction(w.get)
	best := choice{protocol: transport.ByPacking, cost: d.host.cost(1, w.bytes)}
	t := d.nic.cost(w.requests, w.bytes)
	if w.foreign {
		t += c.copy.byte * float64(w.bytes)
	}
	if w.behind {
		t += c.put.host.start
	}
	if t <= best.cost {
		best.protocol, best.cost = transport.ByDevice, t
	}
	if push := d.push.cost(w.requests, w.bytes); w.get && !w.foreign && push < best.cost {
		best.protocol, best.cost = transport.ByTargetSide, push
	}
	best.deviceCost = t
	return best
}

// Bounds of pieces, and a page, in bytes.
const (
	minPiece  = 4 << 10
	maxPiece  = 64 << 10
	pageBytes = 4 << 10
)

// firstPiece returns the size of the first piece of a pipelined transfer. What is not copied while
// something travels costs time, and each piece costs as much as some requests of a chain.
func (c *costs) firstPiece() int {
	return min(max(int(3*c.put.nic.each/max(c.copy.byte, 0.001)), 1<<10), maxPiece)
}

// frameBytes returns how many bytes each frame of a transfer carries at best. The first is packed,
// and the last unpacked, while nothing travels, and a frame costs about what two requests do. That
// is the least of 2 p copy + bytes / p 2 each.
func (c *costs) frameBytes(get bool, bytes int64) int {
	best := math.Sqrt(c.direction(get).nic.each * float64(bytes) / max(c.copy.byte, 0.001))
	return int(min(max(best, minPiece), maxPiece))
}

// registerFrom returns the length from which on registering memory takes less time than copying it.
func (c *costs) registerFrom() int {
	gain := c.copy.byte - c.pin.each/pageBytes
	if gain <= 0 {
		return 1 << 30
	}
	return int((c.pin.start + c.pin.each) / gain)
}

// registerAfter returns how many bytes are copied in the time that registering memory of a size
// takes. A caller that has copied so many from one place should have registered it. At most twice
// the time is lost, whatever it does next.
func (c *costs) registerAfter(bytes int64) int64 {
	pages := float64(bytes/pageBytes + 1)
	return int64(min((c.pin.start+c.pin.each*pages)/max(c.copy.byte, 0.001), 1<<62))
}

// origin returns in words where the values come from: which were set, measured within this host, or
// are constants of the code.
func (c *costs) origin(set bool) string {
	how := "measured within this host"
	if set {
		how = "as it is set"
	}
	var constant []string
	usual := usualCosts
	for i, l := range c.lines() {
		if *l == *usual.lines()[i] {
			constant = append(constant, lineNames[i])
		}
	}
	switch len(constant) {
	case 0:
		return how
	case len(lineNames):
		return "built in, not measured here"
	}
	return how + " (built in, not measured: " + strings.Join(constant, ", ") + ")"
}

// describeModel returns the driver's notes and the cost model, for armci_info.
func describeModel(d transport.Driver, o Options) string {
	text := d.Notes()
	c, err := calibrate(d, o)
	switch {
	case err != nil:
		return fmt.Sprintf("%s; cost model: %v", text, err)
	case c == nil:
		return text
	}
	const rows = 64
	return fmt.Sprintf("%s; cost model, %s: %v; so %d rows are left to the device from %d "+
		"bytes a row on in a put and %d in a "+
		"get, memory is registered from %d bytes on, and the first piece of a transfer "+
		"through buffers has %d",
		text, c.origin(o.Model != "" && o.Model != transport.Auto), c, rows,
		c.deviceRowBytes(false, rows), c.deviceRowBytes(true, rows),
		c.registerFrom(),
		c.firstPiece())
}

// deviceRowBytes returns the length of rows from which on the device takes less time with them than
// packing, for a patch of so many rows.
func (c *costs) deviceRowBytes(get bool, rows int64) int64 {
	row := int64(8)
	packed := func() bool {
		w := workload{get: get, requests: rows, bytes: rows * row}
		return c.cheapest(w).protocol == transport.ByPacking
	}
	for row < 1<<20 && packed() {
		row += max(8, row/8&^7)
	}
	return row
}

// noMemory is a node without memory of its own.
type noMemory struct{}

func (noMemory) RecordStore(int)                     {}
func (noMemory) KeepPages()                          {}
func (noMemory) Counters() (uintptr, int64)          { return 0, 0 }
func (noMemory) InArena(uintptr) bool                { return false }
func (noMemory) InRegionOf(int, uintptr, int64) bool { return false }
func (noMemory) RegionAt(uintptr) (uintptr, int64)   { return 0, 0 }
func (noMemory) ArenaRange() (uintptr, int64)        { return 0, 0 }
func (noMemory) MappedHere(int, uintptr) bool        { return true }
func (noMemory) DeviceLocks() (uintptr, int)         { return 0, 0 }
func (noMemory) Declared(uintptr) (uintptr, int64)   { return 0, 0 }

func (noMemory) ReadForeign(int, uintptr, []byte) error  { return transport.ErrBadAddr }
func (noMemory) WriteForeign(int, uintptr, []byte) error { return transport.ErrBadAddr }

// calibrate measures the cost model between two ends in this process. It returns nil for a fabric
// that needs none.
func calibrate(d transport.Driver, o Options) (*costs, error) {
	o.Buffer, o.Looks = 0, nil
	o.OpenInfo = transport.OpenInfo{Nodes: [][]transport.Rank{{0}, {1}},
		Hosts:  []string{"here", "here"},
		Secret: []byte("calibration"), Node: noMemory{},
		OnLoss: func(transport.Rank, string) {}}
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
	g := ends[0].routes.targets[1]
	if err := g.lockConnected(); err != nil {
		return nil, err
	}
	defer g.mu.Unlock()
	g.costModel(false)
	return g.costModel(true), nil
}
