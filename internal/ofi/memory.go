// SPDX-License-Identifier: BSD-3-Clause

// Registered memory and its keys. A key that travels between nodes has 64 bits. Where the provider
// chooses keys, it is the provider's. Otherwise it has the first page of the region, since most of
// those providers name remote memory by its offset, and random bits. The key for the provider is
// then derived from it with the job's secret, so that a stranger cannot guess it.
package ofi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/qp"
)

const (
	pageShift  = 12
	randomBits = 28 // of a key, below the number of the region's first page
)

// region is registered memory. Where registering is not necessary, registration is nil.
type region struct {
	device       *device
	key          uint64
	descNumber   uint32 // of its descriptor
	registration *libfabric.Region
}

// Key is the key for requests.
func (r *region) Key() uint64 { return r.key }

// Close ends the registration.
func (r *region) Close() error {
	if r.registration == nil {
		return nil
	}
	r.device.descs.removeDesc(r.key, r.descNumber)
	return r.registration.Close()
}

// Register registers memory, if that is necessary. The caller calls Close of the region.
func (d *device) Register(addr uintptr, nbytes int64, access qp.Access) (qp.Region, error) {
	r := &region{device: d}
	if access == qp.Local || access == qp.OnDemand {
		if d.limits.Unregistered {
			return r, nil
		}
		lf, err := d.Device.Register(nil, addr, nbytes, false, d.providerKey(0))
		if err != nil {
			return nil, err
		}
		r.registration, r.descNumber = lf, d.descs.addDesc(lf.Desc)
		r.key = ownKey | uint64(r.descNumber)
		return r, nil
	}
	lo, hi := pin.Pages(addr, nbytes)
	if err := d.registerShared(r, lo, int64(hi-lo)); err != nil {
		return nil, err
	}
	return r, nil
}

// registerShared registers pages for other processes, with a key that is free. It locks mu.
func (d *device) registerShared(r *region, lo uintptr, nbytes int64) (err error) {
	d.mu.Lock()
	e := d.endpoint
	d.mu.Unlock()
	for range 8 {
		r.key = uint64(lo>>pageShift)<<randomBits | rand.Uint64N(1<<randomBits)
		key := d.providerKey(r.key)
		r.registration, err = d.Device.Register(e, lo, nbytes, true, key)
		if !errors.Is(err, libfabric.ErrKey) {
			break
		}
	}
	if err != nil {
		return err
	}
	if d.Info.Modes&libfabric.ProviderKeys != 0 {
		r.key = r.registration.Key
	}
	r.descNumber = d.descs.addDesc(r.registration.Desc)
	d.descs.nameKey(r.key, r.descNumber)
	return nil
}

// providerKey is the provider's key for a key that travels between nodes; 0 stands for a random
// one.
func (d *device) providerKey(key uint64) uint64 {
	if key == 0 {
		key = rand.Uint64()
	}
	mac := hmac.New(sha256.New, d.secret)
	mac.Write(binary.LittleEndian.AppendUint64([]byte("key of memory"), key))
	return binary.LittleEndian.Uint64(mac.Sum(nil)) >> (8 * (8 - d.Info.KeyBytes))
}

// LocalKey is the number of the region's descriptor; 0 where local memory need not be registered.
func (d *device) LocalKey(key uint64) uint32 {
	if d.limits.Unregistered {
		return 0
	}
	return d.descs.numberOf(key)
}

// remoteRegion is remote memory as the provider names it.
type remoteRegion struct {
	base uint64 // to be subtracted from its address
	key  uint64
}

// remoteRegionOf is the memory of a key of the other end.
func (d *device) remoteRegionOf(key uint64) (p remoteRegion) {
	if d.Info.Modes&libfabric.ProviderKeys != 0 {
		return remoteRegion{0, key}
	}
	p.key = d.providerKey(key)
	if d.Info.Modes&libfabric.Virtual == 0 {
		p.base = key >> randomBits << pageShift
	}
	return p
}

// checkModes returns an error if the other end names memory in another way than this one.
func (d *device) checkModes(modes, keyBytes uint8) error {
	const matter = libfabric.Virtual | libfabric.ProviderKeys
	if libfabric.Mode(modes)&matter != d.Info.Modes&matter || int(keyBytes) != d.Info.KeyBytes {
		return fmt.Errorf("the other end's %s names memory in another way", d.Info.Provider)
	}
	return nil
}
