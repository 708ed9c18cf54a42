// SPDX-License-Identifier: BSD-3-Clause

// Package ofi is the fabric over libfabric: it makes queue pairs (package rdma/qp) of the reliable
// endpoints of a provider, and package rdma does with them what it does with those of a verbs
// device.
//
// Reading order: driver.go (which provider), device.go and memory.go (what a process has), queue.go
// (completions), slots.go and pair.go (requests on their way), datagrams.go (how two meet),
// progress.go (who lets the provider work).
//
// This file: a domain of a provider as a device.
package ofi

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"libarmci/internal/leftovers"
	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
)

// What a process may have open; providers keep what they cannot send yet.
const (
	mostRequests = 448  // of all queue pairs of a queue, at the provider, without those of C
	mostBuffers  = 1024 // to receive
	mostPosted   = 4096 // of a queue pair, or of a queue, most of them here
)

// device is a domain of a provider.
type device struct {
	*libfabric.Device
	secret []byte
	limits qp.Limits
	modes  libfabric.Mode
	flight int  // most requests of a queue pair that the provider has at a time
	keeps  bool // addresses of other endpoints stay until the end
	// what writes ask for: to be told, when their data is in the target's memory if that has to
	// be said
	told     uint64
	progress progress

	descs descs
	met   sync.Map // processes of other endpoints, by number (leftovers.go)

	mu       sync.Mutex
	endpoint *libfabric.Endpoint // the newest: for which memory is registered
}

// openDevice opens a domain. The job's secret is for the keys of memory.
func openDevice(i *libfabric.Info, secret []byte) (*device, error) {
	switch {
	case !i.InOrder():
		return nil, fmt.Errorf("%s does not keep messages in order", i.Provider)
	case i.Pieces < 2:
		return nil, fmt.Errorf("%s takes messages of one piece only", i.Provider)
	case i.KeyBytes < 4 || i.KeyBytes > 8:
		return nil, fmt.Errorf("%s has keys of %d bytes", i.Provider, i.KeyBytes)
	case i.Modes&libfabric.ProviderKeys != 0 && i.Modes&libfabric.Virtual == 0:
		return nil, fmt.Errorf("%s has keys of its own for offsets", i.Provider)
	case i.Modes&libfabric.ByEndpoint != 0 && i.Modes&libfabric.RegisterLocal != 0:
		return nil, fmt.Errorf("%s wants local memory registered for each endpoint",
			i.Provider)
	}
	lf, err := libfabric.Open(i)
	if err != nil {
		return nil, err
	}
	d := &device{Device: lf, secret: secret, modes: i.Modes, flight: mostRequests}
	d.descs.init()
	d.limits = qp.Limits{Firmware: "libfabric " + libfabric.Version(), MaxWR: mostPosted,
		MaxSGE: i.Pieces, MaxCQE: 4 * mostPosted,
		MaxSRQ: mostBuffers, OneWay: i.Modes&libfabric.ByEndpoint != 0}
	d.limits.Bytewise = !inHardware(i.Provider)
	d.limits.Unregistered = i.Modes&libfabric.RegisterLocal == 0
	d.limits.OnDemand, d.limits.Lazy = d.limits.Unregistered, true
	if lf.Atomics() {
		d.limits.Atomic = 1
	}
	d.tame()
	if i.Provider == "shm" {
		leftovers.RemoveUnused(leftovers.Shm)
	}
	if err := d.progress.init(i.Auto); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// tame keeps away from faults of providers, seen with libfabric 1.17. Both that are named here
// sometimes stop for good where messages do not fit into what they copy at once. With ofi_rxd so
// they do where dozens of requests are on their way, and although it says that writes take effect
// before messages that follow, sometimes they do not; its atomics have crashed. Neither survives
// that an address is removed whose last messages are still on their way.
func (d *device) tame() {
	d.told = libfabric.Told
	if d.Info.Delivered {
		d.told |= libfabric.Delivered
	}
	rxd, shm := strings.HasSuffix(d.Info.Provider, "ofi_rxd"), d.Info.Provider == "shm"
	if shm && reachesOthers() {
		// then it writes by itself, but leaves that to the target where it is asked for
		// delivery
		d.told = libfabric.Told
	}
	if rxd {
		d.modes &^= libfabric.WriteSend
		d.flight, d.limits.Atomic = 3, 0
	}
	if rxd || shm {
		d.limits.MaxMessage, d.keeps = d.Info.Inject, true
	}
}

// inHardware tells whether a device reads and writes memory for a provider. Others copy by memcpy
// or by the kernel, where a block of 2 or 4 bytes may be several loads and stores.
func inHardware(provider string) bool {
	core, _, _ := strings.Cut(provider, ";")
	return core == "cxi" || core == "verbs"
}

// reachesOthers tells whether the kernel lets a process read and write the memory of its siblings.
func reachesOthers() bool {
	scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return err != nil || os.Geteuid() == 0 || strings.TrimSpace(string(scope)) == "0"
}

// Name is what libfabric calls provider and domain.
func (d *device) Name() string { return d.Info.Provider + " " + d.Info.Domain }

// Limits are those of the provider and of this package.
func (d *device) Limits() *qp.Limits { return &d.limits }

// EventFD: a provider tells nothing by itself.
func (d *device) EventFD() int { return -1 }

// Event: nothing.
func (d *device) Event() (text string, fatal, some bool) { return "", false, false }

// Fault is an error of this host.
func (d *device) Fault(text string) error {
	return fmt.Errorf("libfabric provider %s of this host: %s", d.Name(), text)
}

// elsewhere are the errors that are about the other end, or the way to it.
var elsewhere = []syscall.Errno{syscall.EPIPE, syscall.ENETUNREACH, syscall.ECONNABORTED,
	syscall.ECONNRESET, syscall.ENOTCONN,
	syscall.ESHUTDOWN, syscall.ETIMEDOUT, syscall.ECONNREFUSED, syscall.EHOSTDOWN,
	syscall.EHOSTUNREACH}

// Failure says why a request failed.
func (d *device) Failure(c *qp.Completion) error {
	switch why := libfabric.Error(c.Status); {
	case c.Status == silent:
		return errSilent
	case slices.Contains(elsewhere, syscall.Errno(why)):
		return why
	default:
		return d.Fault(why.Error())
	}
}

// silent is the status of a queue pair whose other end has not answered for too long.
const silent = -1

var errSilent = errors.New("it does not answer")

// Close closes the domain.
func (d *device) Close() {
	d.progress.stop()
	d.Device.Close()
}

var _ qp.Device = (*device)(nil)
