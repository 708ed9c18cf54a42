// SPDX-License-Identifier: BSD-3-Clause

// What providers offer: their domains, and what endpoints there can do.
package libfabric

// #cgo CFLAGS: -fvisibility=hidden -Wall -Wextra -std=gnu11
// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "libfabric.h"
import "C"

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"unsafe"
)

var loading sync.Mutex

// Load loads libfabric, or says why it cannot be used.
func Load() error {
	loading.Lock()
	defer loading.Unlock()
	if why := C.lf_load(); why != nil {
		return errors.New(C.GoString(why))
	}
	return nil
}

// Version is the library's. Load has succeeded.
func Version() string {
	v := C.lf_version()
	return fmt.Sprintf("%d.%d", v>>16, v&0xffff)
}

// Info is a domain of a provider, and what its endpoints can do.
type Info struct {
	p *C.struct_lf_info

	Provider, Domain, Fabric string
	Addr                     netip.Addr // of IP networks
	Inject, Pieces           int        // bytes that are copied at once; pieces of a request
	Longest                  uint64     // bytes of a message
	KeyBytes                 int
	Modes                    Mode
	// a completion can mean that the data is in the target's memory
	Delivered bool
	Auto      bool // it makes progress by itself
}

// Mode says how memory is registered, and which order is kept.
type Mode uint32

// The modes.
const (
	RegisterLocal Mode = 1 << iota // local memory has to be registered
	// remote memory is named by its address, not by the offset in its region
	Virtual
	ProviderKeys // the provider chooses keys
	ByEndpoint   // memory is registered for one endpoint
	WriteWrite   // a write takes effect before later writes,
	WriteRead    // reads,
	WriteSend    // and messages

	Kept = WriteWrite | WriteRead | WriteSend
)

// String lists the modes.
func (m Mode) String() string {
	text := "local memory as it is"
	if m&RegisterLocal != 0 {
		text = "local memory registered"
	}
	if m&Kept != Kept {
		return text + ", order kept by waiting"
	}
	return text + ", order kept by the provider"
}

// Error is an error number of libfabric.
type Error int

// Error is the text of libfabric.
func (e Error) Error() string { return C.GoString(C.lf_error_text(C.int(e))) }

// result makes an error of a negative number.
func result(what string, code C.int) error {
	if code >= 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", what, Error(-code))
}

// wishes are the capabilities to request, the best first. Some providers keep no order if atomics
// are requested, too.
var wishes = []struct{ caps, flags C.uint64_t }{
	{C.LF_ATOMIC, C.LF_DELIVERY_COMPLETE}, {0, C.LF_DELIVERY_COMPLETE}, {C.LF_ATOMIC, 0},
	{0, 0},
}

// text is a string of C, NULL for the empty one.
func text(s string) *C.char {
	if s == "" {
		return nil
	}
	return C.CString(s)
}

// modesKnown are the ways to register memory that this package knows, but for keys that the
// provider chooses.
const modesKnown = C.LF_MR_LOCAL | C.LF_MR_VIRT_ADDR | C.LF_MR_ALLOCATED | C.LF_MR_ENDPOINT

// Providers lists the providers that offer what is needed, by name.
func Providers() (names []string, err error) {
	var first *C.struct_lf_info
	code := C.lf_getinfo(nil, nil, C.LF_MSG|C.LF_RMA, 0, modesKnown|C.LF_MR_PROV_KEY, &first)
	if code != 0 {
		return nil, result("ask for providers", code)
	}
	defer C.lf_freeinfo(first)
	for p := first; p != nil; p = p.next {
		if name := C.GoString(p.fabric_attr.prov_name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// List lists the domains of a provider, or one domain (not ""): with order of writes if the
// provider keeps it, else with the first of wishes that it fulfils. The list's memory stays until
// the process ends.
func List(provider, domain string) (list []*Info, err error) {
	name, at := text(provider), text(domain)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(at))
	var code C.int
	for _, mode := range []C.int{modesKnown, modesKnown | C.LF_MR_PROV_KEY} {
		// own keys, if that is possible
		for _, w := range wishes {
			var first *C.struct_lf_info
			if code = C.lf_getinfo(name, at, C.LF_MSG|C.LF_RMA|w.caps, w.flags, mode,
				&first); code != 0 {
				continue
			}
			some := infosOf(first, w.flags != 0)
			if some[0].Modes&Kept == Kept {
				return some, nil
			}
			if list == nil {
				list = some
			}
		}
		if list != nil {
			return list, nil
		}
	}
	return nil, result("ask for "+provider, code)
}

func infosOf(first *C.struct_lf_info, delivered bool) (list []*Info) {
	for p := first; p != nil; p = p.next {
		list = append(list, newInfo(p, delivered))
	}
	return list
}

// newInfo makes an Info of an entry of the library's list.
func newInfo(p *C.struct_lf_info, delivered bool) *Info {
	i := &Info{p: p, Provider: C.GoString(p.fabric_attr.prov_name),
		Domain: C.GoString(p.domain_attr.name),
		Fabric: C.GoString(p.fabric_attr.name), Inject: int(p.tx_attr.inject_size),
		Pieces:  int(min(p.tx_attr.iov_limit, C.LF_PIECES)),
		Longest: uint64(p.ep_attr.max_msg_size), KeyBytes: int(p.domain_attr.mr_key_size),
		Delivered: delivered,
		Auto:      p.domain_attr.data_progress == C.LF_PROGRESS_AUTO}
	p.tx_attr.op_flags = 0 // each request has its own flags
	for bit, mode := range map[C.int]Mode{C.LF_MR_LOCAL: RegisterLocal,
		C.LF_MR_VIRT_ADDR: Virtual, C.LF_MR_PROV_KEY: ProviderKeys,
		C.LF_MR_ENDPOINT: ByEndpoint} {
		if p.domain_attr.mr_mode&bit != 0 {
			i.Modes |= mode
		}
	}
	const any = ^C.size_t(0)
	order := p.tx_attr.msg_order & p.rx_attr.msg_order
	if order&C.LF_ORDER_WAW != 0 && p.ep_attr.max_order_waw_size == any {
		i.Modes |= WriteWrite
	}
	if order&C.LF_ORDER_RAW != 0 && p.ep_attr.max_order_raw_size == any {
		i.Modes |= WriteRead
	}
	if order&C.LF_ORDER_SAW != 0 {
		i.Modes |= WriteSend
	}
	i.Addr = ipOf(p)
	return i
}

// ipOf is the IP address of a domain that has one.
func ipOf(p *C.struct_lf_info) (a netip.Addr) {
	b := unsafe.Slice((*byte)(p.src_addr), int(p.src_addrlen)*btoi(p.src_addr != nil))
	switch { // a socket address: family, port, then the address
	case p.addr_format == C.LF_SOCKADDR_IN && len(b) >= 8:
		a, _ = netip.AddrFromSlice(b[4:8])
	case p.addr_format == C.LF_SOCKADDR_IN6 && len(b) >= 24:
		a, _ = netip.AddrFromSlice(b[8:24])
	}
	return a
}

func btoi(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// InOrder tells whether messages arrive in the order in which they were sent.
func (i *Info) InOrder() bool {
	return i.p.tx_attr.msg_order&i.p.rx_attr.msg_order&C.LF_ORDER_SAS != 0
}
