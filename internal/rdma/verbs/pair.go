// SPDX-License-Identifier: BSD-3-Clause

// The states of queue pairs, and addresses: how two queue pairs are connected, and to where
// datagrams are sent.
package verbs

// #include <errno.h>
// #include "verbs.h"
import "C"

import (
	"fmt"
	"unsafe"

	"libarmci/internal/rdma/qp"
)

// Path is the path to a peer's port.
type Path struct {
	Port    uint8 // of this process
	GID     int   // index of this port's address; -1: the path is by LID alone
	ToGID   [16]byte
	ToLID   uint16
	Traffic uint8 // class
}

// attr converts the path for libibverbs, with a global route header if the port has a GID.
func (p *Path) attr() C.struct_vb_ah_attr {
	a := C.struct_vb_ah_attr{dlid: C.uint16_t(p.ToLID), port_num: C.uint8_t(p.Port)}
	if p.GID >= 0 {
		a.is_global, a.sgid_index, a.hop_limit, a.traffic_class = 1, C.uint8_t(p.GID), 64,
			C.uint8_t(p.Traffic)
		for i, b := range p.ToGID {
			a.dgid[i] = C.uint8_t(b)
		}
	}
	return a
}

// Link is the parameters of a connection of two queue pairs.
type Link struct {
	Path
	Pair              uint32 // number of the peer's queue pair
	MTU               uint8  // enumeration of the interface: 1 = 256 ... 5 = 4096
	MyPSN, PSN        uint32 // first packet numbers, of this side and of the peer
	Atomics           bool   // the peer may use atomics
	ReadsOut, ReadsIn uint8  // reads that may be outstanding, of this side and of the peer
	Timeout           uint8  // exponent (retryExponent)
}

// mostRetries: 7, the most there are, mean without end to the rxe driver of Linux.
const mostRetries = 6

// Connect takes a new reliable queue pair through its states until it can send. A peer that does
// not answer is given up after some retries; a receiver without buffers is waited for without end.
func (q *Pair) Connect(l *Link) error {
	a := C.struct_vb_qp_attr{qp_state: C.VB_QPS_INIT, port_num: C.uint8_t(l.Port),
		qp_access_flags: C.VB_REMOTE_READ | C.VB_REMOTE_WRITE}
	if l.Atomics {
		a.qp_access_flags |= C.VB_REMOTE_ATOMIC
	}
	if err := q.modify("reset", &a, C.VB_QP_STATE|C.VB_QP_PKEY_INDEX|C.VB_QP_PORT|
		C.VB_QP_ACCESS_FLAGS); err != nil {
		return err
	}
	const rnrTimer = 12 // 0.64 ms
	a = C.struct_vb_qp_attr{qp_state: C.VB_QPS_RTR, path_mtu: C.int(l.MTU),
		dest_qp_num: C.uint32_t(l.Pair),
		rq_psn:      C.uint32_t(l.PSN), max_dest_rd_atomic: C.uint8_t(l.ReadsIn),
		min_rnr_timer: rnrTimer, ah_attr: l.attr()}
	err := q.modify("ready to receive", &a, C.VB_QP_STATE|C.VB_QP_AV|C.VB_QP_PATH_MTU|
		C.VB_QP_DEST_QPN|C.VB_QP_RQ_PSN|
		C.VB_QP_MAX_DEST_RD_ATOMIC|C.VB_QP_MIN_RNR_TIMER)
	if err != nil {
		return err
	}
	const endless = 7
	a = C.struct_vb_qp_attr{qp_state: C.VB_QPS_RTS, sq_psn: C.uint32_t(l.MyPSN),
		timeout:   C.uint8_t(l.Timeout),
		retry_cnt: mostRetries, rnr_retry: endless, max_rd_atomic: C.uint8_t(l.ReadsOut)}
	return q.modify("ready to send", &a, C.VB_QP_STATE|C.VB_QP_TIMEOUT|C.VB_QP_RETRY_CNT|
		C.VB_QP_RNR_RETRY|
		C.VB_QP_SQ_PSN|C.VB_QP_MAX_RD_ATOMIC)
}

// modify changes the attributes in mask; what names the new state in an error.
func (q *Pair) modify(what string, a *C.struct_vb_qp_attr, mask C.int) error {
	return errnoResult("make a queue pair "+what, C.vb_modify_qp(q.p, a, mask))
}

// DatagramKey is what all datagram queue pairs of this library expect.
const DatagramKey = 0x41524d43

// OpenDatagrams makes a new datagram queue pair ready.
func (q *Pair) OpenDatagrams(port uint8) error {
	a := C.struct_vb_qp_attr{qp_state: C.VB_QPS_INIT, port_num: C.uint8_t(port),
		qkey: DatagramKey}
	if err := q.modify("reset", &a, C.VB_QP_STATE|C.VB_QP_PKEY_INDEX|C.VB_QP_PORT|
		C.VB_QP_QKEY); err != nil {
		return err
	}
	a = C.struct_vb_qp_attr{qp_state: C.VB_QPS_RTR}
	if err := q.modify("ready to receive", &a, C.VB_QP_STATE); err != nil {
		return err
	}
	a = C.struct_vb_qp_attr{qp_state: C.VB_QPS_RTS}
	return q.modify("ready to send", &a, C.VB_QP_STATE|C.VB_QP_SQ_PSN)
}

// Address is an address handle, to which datagrams are sent.
type Address struct{ p *C.struct_vb_ah }

// NewAddress makes an address handle. The caller closes it.
func (d *Domain) NewAddress(path *Path) (*Address, error) {
	a := path.attr()
	p, err := C.vb_create_ah(d.p, &a)
	if p == nil {
		return nil, fmt.Errorf("make an address: %w", orEIO(err))
	}
	return &Address{p}, nil
}

// Close destroys the address handle. a may be nil.
func (a *Address) Close() error {
	if a == nil {
		return nil
	}
	return errnoResult("end an address", C.vb_destroy_ah(a.p))
}

// SendDatagram sends a piece of registered memory to a datagram queue pair. The completion has this
// id.
func (q *Pair) SendDatagram(id uint64, piece qp.Data, to *Address, pair uint32) error {
	return errnoResult("send a datagram", C.vb_post_datagram(q.p, C.uint64_t(id),
		(*C.struct_vb_sge)(unsafe.Pointer(&piece)),
		to.p, C.uint32_t(pair), DatagramKey))
}
