// SPDX-License-Identifier: BSD-3-Clause

// An open device with what one role of the process (client, server, connecting) needs of it; and pools of registered
// buffers.
package rdma

import (
	"fmt"

	"libarmci/internal/rdma/verbs"
)

// hca is an open device. Roles share context and domain, and have queues of their own.
type hca struct {
	context *verbs.Context
	domain  *verbs.Domain
	way     *way
	limits  verbs.Limits
	state   verbs.PortState
	shared  bool // context and domain are another one's
	channel *verbs.Channel
	cq      *verbs.Completions
}

// openHCA opens a device with a completion queue of n entries.
func openHCA(w *way, n int) (*hca, error) {
	h := &hca{way: w}
	var err error
	if h.context, err = verbs.Open(w.device); err != nil {
		return nil, err
	}
	if h.limits, err = h.context.Limits(); err == nil {
		h.state, err = h.context.Port(uint8(w.number))
	}
	if err == nil {
		h.domain, err = h.context.NewDomain()
	}
	if err == nil {
		h.domain.Atomics = h.limits.Atomic != 0
	}
	if err == nil {
		err = h.queues(n)
	}
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// role is the same device with other queues.
func (h *hca) role(n int) (*hca, error) {
	r := *h
	r.shared, r.channel, r.cq = true, nil, nil
	if err := r.queues(n); err != nil {
		r.close()
		return nil, err
	}
	return &r, nil
}

func (h *hca) queues(n int) (err error) {
	if n > h.limits.MaxCQE {
		return fmt.Errorf("a completion queue of %d entries is needed, %s has %d", n, h.way.device, h.limits.MaxCQE)
	}
	if h.channel, err = h.context.NewChannel(); err != nil {
		return err
	}
	h.cq, err = h.context.NewCompletions(n, h.channel)
	return err
}

func (h *hca) close() {
	if h.cq != nil {
		h.channel.Take()
		h.cq.Close()
	}
	if h.channel != nil {
		h.channel.Close()
	}
	if h.shared {
		return
	}
	if h.domain != nil {
		h.domain.Close()
	}
	if h.context != nil {
		h.context.Close()
	}
}

// path is the way from here to an endpoint.
func (h *hca) path(to *endpoint) verbs.Path {
	p := verbs.Path{Port: uint8(h.way.number), GID: -1, ToLID: to.lid, ToGID: to.gid}
	if h.way.gid != nil {
		p.GID = h.way.gid.index
	}
	return p
}
