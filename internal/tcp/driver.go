// SPDX-License-Identifier: BSD-3-Clause

// What package drivers asks for: this transport as one of those between nodes. Nothing is opened here.
package tcp

import "libarmci/internal/transport"

// Wire is TCP with the settings in o; what concerns the job is filled in when it is opened.
func Wire(o Options) transport.Wire {
	return transport.Wire{
		Name:  "tcp",
		Probe: o.probe,
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

// probe says why TCP is of no use here, as far as one host can tell: network interfaces that cannot be listed, settings
// that mean nothing here. Open can only fail for what others do meanwhile.
func (o *Options) probe() error {
	if _, _, err := ports(o.Ports); err != nil {
		return err
	}
	if err := o.tryControl(); err != nil {
		return err
	}
	if o.Interface != "" {
		_, err := o.named()
		return err
	}
	_, err := ownAddrs("", true)
	return err
}
