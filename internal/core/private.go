// SPDX-License-Identifier: BSD-3-Clause

// Private memory: any memory of this process, outside the arena, that all ranks may access. Other processes of the node reach it
// by the kernel, other nodes by the data server of this one.
package core

// Expose makes memory of this process accessible to all ranks, until Conceal. Exposures may overlap and repeat. Not collective.
func (r *Runtime) Expose(addr uintptr, nbytes int64) error {
	return r.exposure(addr, nbytes, r.allocator.Expose)
}

// Conceal ends one exposure of exactly this memory. Who still accesses it gets an error.
func (r *Runtime) Conceal(addr uintptr, nbytes int64) error {
	return r.exposure(addr, nbytes, r.allocator.Conceal)
}

func (r *Runtime) exposure(addr uintptr, nbytes int64, do func(uintptr, int64) error) error {
	switch {
	case nbytes <= 0:
		return argErr(CodeBytes, "size", "%d is not positive", nbytes)
	case addr == 0 || addr > lastAddress-uintptr(nbytes):
		return argErr(CodeAddress, "base", "%d bytes at %#x are no memory", nbytes, addr)
	}
	return do(addr, nbytes)
}
