// SPDX-License-Identifier: BSD-3-Clause

// What package drivers asks for: this transport as one of those between nodes. Nothing is opened here.
package tcp

import "libarmci/internal/transport"

// Wire is TCP with the settings in o; what concerns the job is filled in when it is opened.
func Wire(o Options) transport.Wire {
	return transport.Wire{
		Name:  "tcp",
		Probe: probe,
		Hint:  makeHint,
		Notes: func() string {
			_, why := o.gatherFrom()
			return why
		},
		Open: func(info transport.WireInfo) (transport.Transport, error) {
			o.WireInfo = info
			return Open(o)
		},
	}
}

// probe says why TCP is of no use here: the network interfaces cannot be listed.
func probe() error {
	_, err := ownAddrs("", true)
	return err
}
