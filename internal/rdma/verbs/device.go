// SPDX-License-Identifier: BSD-3-Clause

// An open device with what all queues and connections of a process share.
package verbs

import "fmt"

// Device is a port of an open device.
type Device struct {
	Name    string
	Number  uint8 // of the port
	GID     int   // index of my address, -1: by LID alone
	Context *Context
	Domain  *Domain
	Limits  Limits
	State   PortState
}

// OpenDevice opens a device.
func OpenDevice(name string, port uint8, gid int) (*Device, error) {
	d := &Device{Name: name, Number: port, GID: gid}
	var err error
	if d.Context, err = Open(name); err != nil {
		return nil, err
	}
	if d.Limits, err = d.Context.Limits(); err == nil {
		d.State, err = d.Context.Port(port)
	}
	if err == nil {
		d.Domain, err = d.Context.NewDomain()
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	d.Domain.Atomics = d.Limits.Atomic != 0
	return d, nil
}

// Fault is an error of the device: whoever reads it learns which one to look at.
func (d *Device) Fault(text string) error {
	return fmt.Errorf("device %s of this host: %s", d.Name, text)
}

// Completions makes a queue of n entries.
func (d *Device) Completions(n int) (*Completions, error) {
	if n > d.Limits.MaxCQE {
		return nil, fmt.Errorf("a completion queue of %d entries is needed, %s has %d", n, d.Name, d.Limits.MaxCQE)
	}
	return d.Context.NewCompletions(n)
}

// Path is the way to another port.
func (d *Device) Path(lid uint16, gid [16]byte) *Path {
	return &Path{Port: d.Number, GID: d.GID, ToLID: lid, ToGID: gid}
}

// Close closes the device; what was made on it is gone.
func (d *Device) Close() {
	if d.Domain != nil {
		d.Domain.Close()
	}
	d.Context.Close()
}
