// SPDX-License-Identifier: BSD-3-Clause

// The job this command runs in (one rank, if nothing launched it): its ranks and nodes, its arena,
// its transports. All ranks take part in what is collective; the caller decides which rank prints.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
	"libarmci/internal/bootstrap"
	"libarmci/internal/config"
	"libarmci/internal/core"
	"libarmci/internal/drivers"
)

// showJob joins the job and prints the sections about it. It is collective over the job.
func showJob(out io.Writer, cfg *config.Set, s sections) error {
	job, err := bootstrap.Start(cfg, nil)
	if err != nil {
		return fmt.Errorf("the job cannot be joined: %w", err)
	}
	if s.topology {
		if err := showMap(out, cfg, job); err != nil {
			return err
		}
	}
	var missing error
	if s.devices {
		missing = showDevices(out, cfg, job)
	}
	if missing != nil || !s.devices {
		job.Close()
	}
	bootstrap.FinalizeMPI()
	bootstrap.LeaveLauncher()
	return missing
}

// seat is what a rank tells its node's leader for the map.
type seat struct{ Rank, Cores int }

// place is what the leader of a node tells the others; names in any bytes, which are no strings of
// JSON.
type place struct {
	Boot, Host []byte
	Seats      []seat
}

// showMap gathers the cores of every rank and prints which ranks each node has. Collective.
func showMap(out io.Writer, cfg *config.Set, job bootstrap.Job) error {
	id, host := core.NodeID(cfg.String("ARMCI_NODE"))
	if _, _, err := job.Split(id); err != nil {
		return fmt.Errorf("which ranks are on this node: %w", err)
	}
	seats, err := exchanged(job.GatherNode, seat{job.Rank(), cores()})
	if err != nil {
		return fmt.Errorf("exchange of the map: %w", err)
	}
	boot, _, _ := strings.Cut(id, "|")
	places, err := exchanged(job.ExchangeLeaders, place{[]byte(boot), []byte(host), seats})
	if err != nil {
		return fmt.Errorf("exchange of the map: %w", err)
	}
	printMap(out, job, places)
	return nil
}

// exchanged exchanges values by one level of the job's exchange.
func exchanged[T any](exchange func([]byte) ([][]byte, error), mine T) ([]T, error) {
	blob, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	all, err := exchange(blob)
	values := make([]T, len(all))
	for i, b := range all {
		if err == nil {
			err = json.Unmarshal(b, &values[i])
		}
	}
	return values, err
}

// printMap prints the ranks of each node, and by what nodes are told apart.
func printMap(out io.Writer, job bootstrap.Job, places []place) {
	fmt.Fprintf(out, "Job: %d rank(s) on %d node(s), %s\n", job.Size(), len(places),
		startedBy(job.Kind()))
	for n, p := range places {
		var ranks []string
		for _, s := range p.Seats {
			ranks = append(ranks, fmt.Sprintf("%d (%d cores)", s.Rank, s.Cores))
		}
		fmt.Fprintf(out, "  node %d, host %s: ranks %s\n", n, p.Host,
			strings.Join(ranks, ", "))
	}
	fmt.Fprintf(out, "  nodes are told apart by boot (%s), host name, network namespace and "+
		"ARMCI_NODE\n\n", places[0].Boot)
}

// cores is on how many cores this process may run.
func cores() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		return set.Count()
	}
	return runtime.NumCPU()
}

// showDevices probes the transports and starts the runtime, to print those in use and the arena.
func showDevices(out io.Writer, cfg *config.Set, job bootstrap.Job) error {
	defer showMemory(out, cfg)
	p := drivers.New(cfg)
	fmt.Fprintf(out, "Transports\n")
	for _, w := range p.Providers() {
		if err := w.Probe(); err != nil {
			fmt.Fprintf(out, "  %s: not usable: %v\n", w.Name, err)
			if w.Spare != nil {
				fmt.Fprintf(out, "    %s\n", w.Spare())
			}
		} else {
			fmt.Fprintf(out, "  %s: usable between nodes; %s\n", w.Name, w.Notes())
		}
	}
	rt, err := core.Start(cfg, job, p)
	if err != nil {
		fmt.Fprintf(out, "  none that all ranks can use: %v\n", err)
		return err
	}
	for i, t := range rt.Transports() {
		where := "within the node"
		if i > 0 {
			where = "between nodes"
		}
		fmt.Fprintf(out, "  %s: in use %s\n", t.Name, where)
	}
	m := p.Node
	fmt.Fprintf(out, "\nArena\n  %s of address space at %#x in every rank of the node, %s "+
		"for each of them\n",
		config.SizeText(m.Bytes()), m.Base(), config.SizeText(m.SliceBytes()))
	fmt.Fprintf(out, "  a memory file without a name: /dev/shm and its size do not matter\n")
	if want := cfg.Size("ARMCI_SHM_ARENA"); m.Bytes() < want {
		fmt.Fprintf(out,
			"  smaller than ARMCI_SHM_ARENA=%s: the address space is limited "+
				"(RLIMIT_AS) or taken\n", config.SizeText(want))
	}
	return rt.Finalize()
}

func startedBy(kind string) string {
	if kind == "single" {
		return "not started by any launcher"
	}
	return "started by " + kind
}
