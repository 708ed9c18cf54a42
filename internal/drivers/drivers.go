// SPDX-License-Identifier: BSD-3-Clause

// Package drivers is the only place that knows all transports by name. It gives core the node and
// the transports between nodes, in order of preference; it does not choose.
package drivers

import (
	"golang.org/x/sys/unix"

	"libarmci/internal/config"
	"libarmci/internal/internode"
	"libarmci/internal/ofi"
	"libarmci/internal/rdma"
	"libarmci/internal/shm"
	"libarmci/internal/tcp"
	"libarmci/internal/transport"
)

// ArenaRanges are the addresses of the arenas of all nodes.
type ArenaRanges = shm.ArenaRanges

// Platform is this machine, with the settings of the job.
type Platform struct {
	cfg         *config.Set
	listener    *shm.Listener
	Node        *shm.Node   // after Join
	ArenaRanges ArenaRanges // after Join: addresses of the arenas of all nodes
}

// New makes a Platform; nothing is opened yet.
func New(cfg *config.Set) *Platform { return &Platform{cfg: cfg} }

// Listen opens the rank's listening socket for its node.
func (p *Platform) Listen() (string, error) {
	var err error
	if p.listener, err = shm.Listen(); err != nil {
		return "", err
	}
	return p.listener.Name, nil
}

// Join joins the node.
func (p *Platform) Join(j transport.JoinInfo) (transport.Node, transport.Transport, error) {
	p.ArenaRanges = p.arenaRanges(j)
	base, arena := p.ArenaRanges.Arena(p.cfg.Size("ARMCI_SHM_ARENA"))
	m, err := p.listener.Join(shm.Options{Ranks: j.Ranks, Listeners: j.Listeners, Self: j.Self,
		World: j.World, Secret: j.Secret, Lost: j.OnLoss, Spin: p.cfg.Int("ARMCI_SPIN"),
		MachineOptions: shm.MachineOptions{MachineRanks: j.MachineRanks,
			NetnsRanks: j.NetnsRanks, NetnsNode: j.NetnsNode},
		MemoryOptions: shm.MemoryOptions{Arena: arena, Base: base,
			Keep: p.cfg.Size("ARMCI_SHM_KEEP"),
			Margin: shm.Margin(p.cfg.Size("ARMCI_SHM_MARGIN"),
				p.cfg.IsSet("ARMCI_SHM_MARGIN")),
			Device: p.cfg.String("ARMCI_RDMA_ACC") == "device",
			NoVM:   !p.cfg.Bool("ARMCI_SHM_VM")},
		// MPICH's launcher kills all ranks before one can print why
		ReporterOptions: shm.ReporterOptions{Reporter: p.cfg.Launcher().Hydra,
			Inquiries: tcp.Inquiries{Options: tcpOptions(p.cfg)}}})
	if err != nil {
		p.listener.Close()
		return nil, nil, err
	}
	p.Node = m
	return m, shm.NewTransport(m, j.Handle), nil
}

// arenaRanges divides the address space among nodes; an address or a size that is set takes
// precedence.
func (p *Platform) arenaRanges(j transport.JoinInfo) shm.ArenaRanges {
	need, nodes := j.Need, j.Nodes
	if p.cfg.IsSet("ARMCI_SHM_ARENA") {
		need = p.cfg.Size("ARMCI_SHM_ARENA")
	}
	if p.cfg.IsSet("ARMCI_SHM_BASE") {
		nodes = 1
	}
	return shm.DivideAddresses(p.cfg.Address("ARMCI_SHM_BASE"), need, j.Node, nodes)
}

// Memory is that of the machine.
func (p *Platform) Memory() int64 { return shm.TotalMemory() }

// Abandon closes the listening socket of a rank that does not join.
func (p *Platform) Abandon() {
	if p.listener != nil && p.Node == nil {
		p.listener.Close()
	}
}

// Providers lists the transports between nodes, the best first.
func (p *Platform) Providers() []transport.Provider {
	devices := rdma.Driver(rdmaOptions(p.cfg))
	forRDMA := p.direct("rdma")
	forRDMA.DeviceAcc = p.cfg.String("ARMCI_RDMA_ACC") == "device"

	endpoints := ofi.Driver(ofi.Options{Provider: p.cfg.String("ARMCI_OFI_PROVIDER"),
		Domain: p.cfg.String("ARMCI_OFI_DOMAIN"),
		Named:  p.cfg.String("ARMCI_TRANSPORT") == "ofi", Better: devices.Probe,
		Pin: p.cfg.For("ofi").Size("ARMCI_PIN")})
	forOFI := p.direct("ofi")
	if forOFI.Strided == transport.ByClaiming {
		// by atomics, which few providers have
		forOFI.Strided = transport.ByPacking
	}

	sockets := tcp.Driver(tcpOptions(p.cfg))
	forTCP := p.between("tcp")
	if forTCP.Servers = p.cfg.Int("ARMCI_TCP_SERVERS"); forTCP.Servers == 0 {
		forTCP.Servers = internode.ServersFor(forTCP.Connections)
	}
	forTCP.Connections = descriptors(forTCP.Connections)
	return []transport.Provider{internode.Provider(devices, forRDMA),
		internode.Provider(endpoints, forOFI),
		internode.Provider(sockets, forTCP)}
}

func tcpOptions(cfg *config.Set) tcp.Options {
	return tcp.Options{Interface: cfg.String("ARMCI_TCP_INTERFACE"),
		Ports:      cfg.String("ARMCI_TCP_PORTS"),
		Congestion: cfg.String("ARMCI_TCP_CONGESTION")}
}

func rdmaOptions(cfg *config.Set) rdma.Options {
	return rdma.Options{Device: cfg.String("ARMCI_RDMA_DEVICE"),
		GID:   cfg.String("ARMCI_RDMA_GID"),
		Sysfs: cfg.String("ARMCI_RDMA_SYSFS"), Pin: cfg.For("rdma").Size("ARMCI_PIN")}
}

// between is the settings that all networks have, for one of them.
func (p *Platform) between(network string) internode.Options {
	cfg := p.cfg.For(network)
	return internode.Options{Poll: cfg.Duration("ARMCI_POLL"),
		Connections: cfg.Int("ARMCI_CONNECTIONS"),
		Settings: transport.Settings{Timeout: cfg.Duration("ARMCI_TIMEOUT"),
			Eager: int(cfg.Size("ARMCI_EAGER")), Buffer: cfg.Size("ARMCI_BUFFER"),
			Reconnect: cfg.Bool("ARMCI_RECONNECT"),
			Looks:     func() int { return p.Node.Polls() },
			// after an error the thread stays bound, which is only slower
			Unbind: func() { _ = shm.Unbind() }}}
}

// direct is between for a network with direct transfers: with the choice of their protocols.
func (p *Platform) direct(network string) internode.Options {
	cfg, o := p.cfg.For(network), p.between(network)
	o.Contiguous, o.Strided = cfg.String("ARMCI_CONTIGUOUS"), cfg.String("ARMCI_STRIDED")
	o.Model = cfg.String("ARMCI_COST_MODEL")
	return o
}

// descriptors bounds a number of connections that are sockets, of which a process may have so many
// as a server and as an origin: half of its descriptors are for something else.
func descriptors(connections int) int {
	var most unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &most) != nil || most.Cur == unix.RLIM_INFINITY {
		return connections
	}
	share := max(int(min(most.Cur, 1<<30)/4), 1)
	if connections == 0 {
		return share
	}
	return min(connections, share)
}

var _ transport.Platform = (*Platform)(nil)
