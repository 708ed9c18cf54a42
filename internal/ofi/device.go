// SPDX-License-Identifier: BSD-3-Clause

// Package ofi is the fabric over libfabric: it makes queue pairs (package rdma/qp) of the reliable
// endpoints of a provider. Package rdma uses them like those of a verbs device.
//
// Reading order: driver.go (which provider), device.go and memory.go (the objects of a process),
// queue.go (completions), slots.go and pair.go (requests on their way). Then datagrams.go (how two
// processes connect) and progress.go (which thread drives the provider).
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

// Limits of a process. Providers keep requests that they cannot send yet.
const (
	// that the provider has of all queue pairs of a queue, without those of C
	maxRequests       = 448
	maxBuffers        = 1024 // to receive
	maxQueuedRequests = 4096 // of a queue pair, or of a queue, most of them here
)

// device is a domain of a provider.
type device struct {
	*libfabric.Device
	secret         []byte
	limits         qp.Limits
	modes          libfabric.Mode
	maxPosted      int  // most requests of a queue pair that the provider has at a time
	keepsAddresses bool // addresses of other endpoints stay until the end
	// flags of writes: to be completed, and, where that must be requested, not before the data
	// is in the target's memory
	writeFlags uint64
	progress   progress

	descs          descTable
	knownProcesses sync.Map // processes of other endpoints, by number (leftovers.go)

	mu       sync.Mutex          // guards endpoint
	endpoint *libfabric.Endpoint // the newest: for which memory is registered
}

// openDevice opens a domain, or says what it lacks. The keys of memory depend on the job's secret.
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
	d := &device{Device: lf, secret: secret, modes: i.Modes, maxPosted: maxRequests}
	d.descs.initTable()
	d.limits = qp.Limits{Firmware: "libfabric " + libfabric.Version(), MaxWR: maxQueuedRequests,
		MaxSGE: i.Pieces, MaxCQE: 4 * maxQueuedRequests,
		MaxSRQ: maxBuffers, NoLending: i.Modes&libfabric.ByEndpoint != 0}
	d.limits.Bytewise = !inHardware(i.Provider)
	d.limits.Unregistered = i.Modes&libfabric.RegisterLocal == 0
	d.limits.OnDemand, d.limits.ConnectsAtFirstRequest = d.limits.Unregistered, true
	if lf.Atomics() {
		d.limits.Atomic = 1
	}
	d.avoidProviderFaults()
	if i.Provider == "shm" {
		leftovers.RemoveUnused(leftovers.Shm)
	}
	if err := d.progress.start(i.Auto); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// avoidProviderFaults sets limits because of faults of two providers, found with libfabric 1.17.
// Both sometimes stop for good if a message is longer than they copy at once. Both fail if an
// address is removed while its last messages are on their way. ofi_rxd also stops with dozens of
// requests on their way. It claims that writes take effect before later messages, but sometimes
// they do not. Its atomics have crashed.
func (d *device) avoidProviderFaults() {
	d.writeFlags = libfabric.Completion
	if d.Info.Delivered {
		d.writeFlags |= libfabric.Delivered
	}
	rxd, shm := strings.HasSuffix(d.Info.Provider, "ofi_rxd"), d.Info.Provider == "shm"
	if shm && reachesOthers() {
		// then it writes from the origin's side, but leaves a write with Delivered to the
		// target
		d.writeFlags = libfabric.Completion
	}
	if rxd {
		d.modes &^= libfabric.WriteSend
		d.maxPosted, d.limits.Atomic = 3, 0
	}
	if rxd || shm {
		d.limits.MaxMessage, d.keepsAddresses = d.Info.Inject, true
	}
}

// inHardware tells whether a device reads and writes memory for a provider. Other providers copy by
// memcpy or by the kernel, which may split a block of 2 or 4 bytes into several loads and stores.
func inHardware(provider string) bool {
	core, _, _ := strings.Cut(provider, ";")
	return core == "cxi" || core == "verbs"
}

// reachesOthers tells whether the kernel lets a process read and write the memory of its siblings.
func reachesOthers() bool {
	scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return err != nil || os.Geteuid() == 0 || strings.TrimSpace(string(scope)) == "0"
}

// Name is the name of provider and domain in libfabric.
func (d *device) Name() string { return d.Info.Provider + " " + d.Info.Domain }

// Limits are those of the provider and of this package.
func (d *device) Limits() *qp.Limits { return &d.limits }

// EventFD is -1: a provider has no events of the device.
func (d *device) EventFD() int { return -1 }

// Event returns no event.
func (d *device) Event() (e qp.Event, some bool) { return e, false }

// DeviceError makes an error that blames this host.
func (d *device) DeviceError(text string) error {
	return fmt.Errorf("libfabric provider %s of this host: %s", d.Name(), text)
}

// remoteErrors are the errors that are about the other end, or the way to it.
var remoteErrors = []syscall.Errno{syscall.EPIPE, syscall.ENETUNREACH, syscall.ECONNABORTED,
	syscall.ECONNRESET, syscall.ENOTCONN,
	syscall.ESHUTDOWN, syscall.ETIMEDOUT, syscall.ECONNREFUSED, syscall.EHOSTDOWN,
	syscall.EHOSTUNREACH}

// RequestError says why a request failed.
func (d *device) RequestError(c *qp.Completion) error {
	switch why := libfabric.Error(c.Status); {
	case c.Status == statusSilent:
		return errSilent
	case slices.Contains(remoteErrors, syscall.Errno(why)):
		return why
	default:
		return d.DeviceError(why.Error())
	}
}

// statusSilent is the status of a queue pair that got no answer for too long.
const statusSilent = -1

var errSilent = errors.New("it does not answer")

// Close closes the domain. All that was made on it has been closed.
func (d *device) Close() {
	d.progress.stop()
	d.Device.Close()
}

var _ qp.Device = (*device)(nil)
