// SPDX-License-Identifier: BSD-3-Clause

// What package drivers asks for: this fabric as one of those between nodes. Nothing is opened here.
package tcp

import (
	"fmt"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

// Options are the settings of this fabric alone. They are named in docs/configuration.md.
type Options struct {
	Interface  string // name or CIDR of the interface to use; "" = the route to the peers
	Ports      string // "lo-hi": where to listen; "" = any
	Congestion string // control of connections by this name; "", "auto": the system's unless it paces
	Gather     int    // rows of at least this many bytes travel without being packed; 0 = as the cost model says
}

// Driver is TCP with these settings.
func Driver(o Options) transport.Driver {
	_, why := o.straightFrom()
	return transport.Driver{Name: "tcp", Probe: o.probe, Hint: makeHint, Notes: func() string { return why },
		Open: func(c transport.FabricConfig) (transport.Fabric, error) { return open(o, c) }}
}

// probe says why TCP is of no use here, as far as one host can tell: network interfaces that cannot be listed, settings
// that mean nothing here. Opening can only fail for what others do meanwhile.
func (o *Options) probe() error {
	_, _, err := rawsock.Ports(o.Ports)
	if err == nil {
		err = rawsock.TryCongestion(o.Congestion)
	}
	if err == nil {
		_, err = o.candidates()
	}
	return err
}

// Each side chooses whether the rows of a strided or vector transfer travel each as a piece of its own of a call that
// gathers or scatters them, or copied through a buffer. These costs fit the times of patches between two processes on the
// machine of docs/validation.md; BenchmarkRows shows where packing stops to pay. Measuring them at the start of a job gives
// nothing better: in the time that it may take, the rows are in the nearest cache, and packing seems four times as fast as
// it is with rows that are not.
const (
	pieceCost = 130              // ns for one more piece in the call that sends it and in the one that receives it
	byteCost  = 0.155            // ns for one more byte that is packed and unpacked
	usualRow  = 130 * 1000 / 155 // from pieceCost / byteCost bytes on rows are not packed
)

// straightFrom is the length from which on rows are not packed, and why: by their costs, unless the user has chosen.
func (o *Options) straightFrom() (row int, why string) {
	if o.Gather > 0 {
		return o.Gather, fmt.Sprintf("rows of %d bytes and more are not packed: so it is set", o.Gather)
	}
	return usualRow, fmt.Sprintf("rows of %d bytes and more are not packed: a piece of a call costs %d ns, "+
		"a packed KiB %.0f ns", usualRow, pieceCost, byteCost*1024)
}
