// SPDX-License-Identifier: BSD-3-Clause

// The settings with which a rank joins its node.
package shm

import "libarmci/internal/transport"

// Options are the settings with which a rank joins its node.
type Options struct {
	Ranks     []transport.Rank // world ranks of the node, ascending
	Listeners []string         // names of their listening sockets
	Self      int              // local number of this rank
	World     int              // ranks of the job
	Secret    []byte           // of the job, SecretBytes long
	MachineOptions
	MemoryOptions
	ReporterOptions
	// Spin is the number of polls before a waiter yields; 0: it follows from the number of
	// cores and the cost of a wake-up.
	Spin int
	// Lost is called once, from a goroutine, when a rank of the node has died, or left although
	// it was needed. The reason is empty if the reporter prints it.
	Lost func(rank transport.Rank, reason string)
}

// MachineOptions tell which other ranks of the job share this machine.
type MachineOptions struct {
	// ranks of the job on this machine, those of simulated other nodes included
	MachineRanks int
	NetnsRanks   int // ranks of the job in this network namespace
	NetnsNode    int // number of this node among those of the network namespace
}

// MemoryOptions are the settings of a rank's shared and private memory.
type MemoryOptions struct {
	Arena  int64   // bytes of address space
	Base   uintptr // address of the arena that is tried first
	Keep   int64   // bytes of freed memory that a rank keeps
	Margin int64   // bytes always left to the machine
	Device bool    // network devices will take accumulate locks of this node
	// NoVM: private memory of a rank is copied by a thread of that rank, as if the kernel
	// refused process_vm_readv and process_vm_writev.
	NoVM bool
}

// ReporterOptions are the settings of the reporter (reporter.go).
type ReporterOptions struct {
	// Reporter: the leader starts a process that names a dead rank even if the launcher ends
	// all others at once.
	Reporter bool
	// Inquiries lets other hosts ask this one's reporter; nil: they cannot.
	Inquiries Inquiries
}
