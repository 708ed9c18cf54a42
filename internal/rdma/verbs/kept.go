// SPDX-License-Identifier: BSD-3-Clause

// Queue pairs that go on after a failure (qp.Resumer): what kept.c does, for Go.
package verbs

// #include <errno.h>
// #include "verbs.h"
import "C"

import (
	"errors"
	"syscall"
	"time"

	"libarmci/internal/rdma/qp"
)

// KeepRequests has queue pairs that are made from now on keep their requests (qp.ResumingQueue).
func (q *queue) KeepRequests(wake int, shared bool) { q.keep = keeping{true, wake, shared} }

// Breaks counts the queue pairs of the process that have failed.
func (q *queue) Breaks() uint32 { return uint32(C.vb_breaks()) }

// keepRequests has a new queue pair keep its requests.
func (q *Pair) keepRequests(requests, pieces int, k keeping) error {
	shared := C.int(0)
	if k.shared {
		shared = 1
	}
	var err error
	q.log, err = C.vb_keep(q.p, C.int(requests), C.int(pieces), C.int(q.Inline), shared,
		C.int(k.wake))
	if q.log == nil {
		return orEIO(err)
	}
	return nil
}

// countPackets begins to count packets, for a connection.
func (q *Pair) countPackets(l *Link) {
	if q.log != nil {
		C.vb_count_packets(q.log, C.uint32_t(l.MyPSN), C.int(l.MTU))
	}
}

// Keeps reports whether the queue pair keeps its requests.
func (c *connection) Keeps() bool { return c.log != nil }

// Broken returns why the queue pair has failed, nil if it has not, and for how long the device has
// tried.
func (c *connection) Broken() (why error, tried time.Duration) {
	status := C.vb_broken(c.log)
	switch status {
	case 0:
		return nil, 0
	case C.VB_WC_RETRY_EXC:
		tried = retries * (4096 * time.Nanosecond << c.link.Timeout)
	}
	return c.d.RequestError(&qp.Completion{Status: int32(status)}), tried
}

// Halt ends what is in flight, and holds back what is posted.
func (c *connection) Halt() error { return errnoResult("halt a queue pair", C.vb_halt(c.log)) }

// Halted reports whether all completions of a halted queue pair were polled.
func (c *connection) Halted() bool { return C.vb_halted(c.log) != 0 }

// Received returns the number of the packet that is expected next.
func (c *connection) Received() (uint32, error) {
	n := C.vb_received(c.log)
	if n < 0 {
		return 0, errnoResult("query a queue pair", C.int(n))
	}
	return uint32(n), nil
}

// Reconnect connects the halted queue pair with the peer's again.
func (c *connection) Reconnect(first, its uint32) error {
	a := C.struct_vb_qp_attr{qp_state: C.VB_QPS_RESET}
	if err := c.modify("unused", &a, C.VB_QP_STATE); err != nil {
		return err
	}
	c.link.MyPSN, c.link.PSN = first, its
	return c.Pair.Connect(&c.link)
}

// GoOn posts again what the peer has not executed.
func (c *connection) GoOn(received uint32) error {
	code := C.vb_go_on(c.log, C.uint32_t(received), C.uint32_t(c.link.MyPSN))
	switch syscall.Errno(-code) {
	case syscall.EPROTO:
		return errors.New("the peer's device does not say which requests it has executed")
	case syscall.ECANCELED:
		return errors.New("the answer to an atomic operation of the device is lost")
	}
	return errnoResult("post requests again", code)
}

// GiveUp ends the withholding of completions.
func (c *connection) GiveUp() { C.vb_give_up(c.log) }

var (
	_ qp.Resumer       = (*connection)(nil)
	_ qp.ResumingQueue = (*queue)(nil)
)
