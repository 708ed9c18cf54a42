// SPDX-License-Identifier: BSD-3-Clause

// Package drivers is the only place that knows all transports by name. It hands core the node and the wires in order
// of preference; it makes no choice of its own.
package drivers

import (
	"libarmci/internal/config"
	"libarmci/internal/rdma"
	"libarmci/internal/shm"
	"libarmci/internal/tcp"
	"libarmci/internal/transport"
)

// Platform is this machine, with the settings of the job.
type Platform struct {
	cfg     *config.Set
	door    *shm.Door
	Machine *shm.Machine // after Join
}

// New makes a Platform; nothing is opened yet.
func New(cfg *config.Set) *Platform { return &Platform{cfg: cfg} }

// Door opens the rank's door to its node.
func (p *Platform) Door() (string, error) {
	var err error
	if p.door, err = shm.OpenDoor(); err != nil {
		return "", err
	}
	return p.door.Name, nil
}

// Join joins the node.
func (p *Platform) Join(j transport.JoinInfo) (transport.Node, transport.Transport, error) {
	m, err := p.door.Join(shm.Options{Ranks: j.Ranks, Doors: j.Doors, Self: j.Self, World: j.World, Shared: j.Shared,
		Secret: j.Secret, Lost: j.Lost,
		Arena: p.cfg.Size("ARMCI_SHM_ARENA"), Base: p.cfg.Address("ARMCI_SHM_BASE"), Keep: p.cfg.Size("ARMCI_SHM_KEEP"),
		Margin: p.cfg.Size("ARMCI_SHM_MARGIN"), Spin: p.cfg.Int("ARMCI_SPIN"), Reporter: p.reporter(), Device: p.cfg.String("ARMCI_RDMA_ACC") == "device"})
	if err != nil {
		p.door.Close()
		return nil, nil, err
	}
	p.Machine = m
	return m, shm.NewDriver(m, j.Handle), nil
}

// reporter: a launcher that kills at once leaves the ranks no time to say why.
func (p *Platform) reporter() bool {
	switch p.cfg.String("ARMCI_REPORTER") {
	case "y":
		return true
	case "n":
		return false
	}
	return p.cfg.Launcher().Hydra
}

// Abandon closes the door of a rank that does not join.
func (p *Platform) Abandon() {
	if p.door != nil && p.Machine == nil {
		p.door.Close()
	}
}

// Wires lists the transports between nodes, the best first.
func (p *Platform) Wires() []transport.Wire {
	polls := func() int { return p.Machine.Polls() }
	unbind := func() { _ = shm.Unbind() } // a thread that stays bound is slower, no more
	direct := rdma.Wire(rdma.Options{Device: p.cfg.String("ARMCI_RDMA_DEVICE"), GID: p.cfg.String("ARMCI_RDMA_GID"),
		Timeout: p.cfg.Duration("ARMCI_RDMA_TIMEOUT"), Poll: p.cfg.Duration("ARMCI_RDMA_POLL"),
		Eager: int(p.cfg.Size("ARMCI_RDMA_EAGER")), Buffer: p.cfg.Size("ARMCI_RDMA_BUFFER"),
		Contiguous: p.cfg.String("ARMCI_RDMA_CONTIGUOUS"), Strided: p.cfg.String("ARMCI_RDMA_STRIDED"),
		Model: p.cfg.String("ARMCI_RDMA_MODEL"),
		Pin:   p.cfg.Size("ARMCI_RDMA_PIN"), Guarded: p.cfg.String("ARMCI_RDMA_ACC") == "device", Spin: polls, Unbind: unbind})
	sockets := tcp.Wire(tcp.Options{Servers: p.cfg.Int("ARMCI_TCP_SERVERS"), Interface: p.cfg.String("ARMCI_TCP_INTERFACE"),
		Ports: p.cfg.String("ARMCI_TCP_PORTS"), Timeout: p.cfg.Duration("ARMCI_TCP_TIMEOUT"),
		Poll: p.cfg.Duration("ARMCI_TCP_POLL"), Eager: int(p.cfg.Size("ARMCI_TCP_EAGER")),
		Buffer: p.cfg.Size("ARMCI_TCP_BUFFER"), Gather: int(p.cfg.Size("ARMCI_TCP_GATHER")),
		Congestion: p.cfg.String("ARMCI_TCP_CONGESTION"),
		Spin:       polls, Unbind: unbind})
	return []transport.Wire{direct, sockets}
}

var _ transport.Platform = (*Platform)(nil)
