// SPDX-License-Identifier: BSD-3-Clause

// Registered memory and its keys. A key that travels between nodes has 64 bits: where the provider
// chooses keys, it is the provider's; else it says where the region begins, since most of those
// providers name remote memory by its offset, and has random bits. The key that such a provider
// then gets is made of it with the job's secret: a stranger cannot guess it.
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

// region is registered memory; r is nil where that is not necessary.
type region struct {
	d      *device
	key    uint64
	number uint32 // of its descriptor
	r      *libfabric.Region
}

// Key is what requests need.
func (r *region) Key() uint64 { return r.key }

// Close ends the registration.
func (r *region) Close() error {
	if r.r == nil {
		return nil
	}
	r.d.descs.remove(r.key, r.number)
	return r.r.Close()
}

// Register registers memory, if that is necessary.
func (d *device) Register(addr uintptr, nbytes int64, access qp.Access) (qp.Region, error) {
	r := &region{d: d}
	if access == qp.Local || access == qp.OnDemand {
		if d.limits.Unregistered {
			return r, nil
		}
		lf, err := d.Device.Register(nil, addr, nbytes, false, d.newKey(0))
		if err != nil {
			return nil, err
		}
		r.r, r.number = lf, d.descs.add(lf.Desc)
		r.key = ownKey | uint64(r.number)
		return r, nil
	}
	lo, hi := pin.Pages(addr, nbytes)
	if err := d.registerShared(r, lo, int64(hi-lo)); err != nil {
		return nil, err
	}
	return r, nil
}

// registerShared registers pages for others, with a key that is free.
func (d *device) registerShared(r *region, lo uintptr, nbytes int64) (err error) {
	d.mu.Lock()
	e := d.endpoint
	d.mu.Unlock()
	for range 8 {
		r.key = uint64(lo>>pageShift)<<randomBits | rand.Uint64N(1<<randomBits)
		if r.r, err = d.Device.Register(e, lo, nbytes, true, d.newKey(r.key)); !errors.Is(
			err, libfabric.ErrKey) {
			break
		}
	}
	if err != nil {
		return err
	}
	if d.Info.Modes&libfabric.ProviderKeys != 0 {
		r.key = r.r.Key
	}
	r.number = d.descs.add(r.r.Desc)
	d.descs.name(r.key, r.number)
	return nil
}

// newKey is the provider's key for a key that travels.
func (d *device) newKey(key uint64) uint64 {
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
	return d.descs.number(key)
}

// place is remote memory as the provider names it.
type place struct {
	base uint64 // to be subtracted from its address
	key  uint64
}

// placeOf finds the place of a key of the other end.
func (d *device) placeOf(key uint64) (p place) {
	if d.Info.Modes&libfabric.ProviderKeys != 0 {
		return place{0, key}
	}
	p.key = d.newKey(key)
	if d.Info.Modes&libfabric.Virtual == 0 {
		p.base = key >> randomBits << pageShift
	}
	return p
}

// sameModes tells whether the other end names memory as this one does.
func (d *device) sameModes(modes, keyBytes uint8) error {
	const matter = libfabric.Virtual | libfabric.ProviderKeys
	if libfabric.Mode(modes)&matter != d.Info.Modes&matter || int(keyBytes) != d.Info.KeyBytes {
		return fmt.Errorf("the other end's %s names memory in another way", d.Info.Provider)
	}
	return nil
}
