// SPDX-License-Identifier: BSD-3-Clause

// The job this command runs in (one rank, if nothing launched it): its ranks and nodes, its arena, its transports.
// All ranks take part in what is collective; whoever calls decides who prints.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
	"libarmci/internal/bootstrap"
	"libarmci/internal/config"
	"libarmci/internal/core"
	"libarmci/internal/drivers"
)

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
	if missing != nil {
		job.Close()
	}
	bootstrap.FinalizeMPI()
	return missing
}

// placement is what a rank tells the others for the map.
type placement struct {
	ID, Host string
	Cores    int
}

func showMap(out io.Writer, cfg *config.Set, job bootstrap.Job) error {
	var mine placement
	mine.ID, mine.Host = core.NodeID(cfg.String("ARMCI_NODE"))
	mine.Cores = cores()
	blob, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	all, err := job.Exchange(blob)
	if err != nil {
		return fmt.Errorf("exchange of the map: %w", err)
	}
	placements := make([]placement, len(all))
	for i, b := range all {
		if err := json.Unmarshal(b, &placements[i]); err != nil {
			return fmt.Errorf("rank %d: %w", i, err)
		}
	}
	printMap(out, job.Kind(), placements)
	return nil
}

func printMap(out io.Writer, kind string, placements []placement) {
	var ids []string
	for _, s := range placements {
		if !slices.Contains(ids, s.ID) {
			ids = append(ids, s.ID)
		}
	}
	fmt.Fprintf(out, "Job: %d rank(s) on %d node(s), %s\n", len(placements), len(ids), startedBy(kind))
	for n, id := range ids {
		var ranks []string
		host := ""
		for r, s := range placements {
			if s.ID == id {
				host = s.Host
				ranks = append(ranks, fmt.Sprintf("%d (%d cores)", r, s.Cores))
			}
		}
		fmt.Fprintf(out, "  node %d, host %s: ranks %s\n", n, host, strings.Join(ranks, ", "))
	}
	parts := strings.Split(placements[0].ID, "|")
	fmt.Fprintf(out, "  nodes are told apart by boot (%s), host name, network namespace and ARMCI_NODE\n\n", parts[0])
}

// cores is on how many cores this process may run.
func cores() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		return set.Count()
	}
	return runtime.NumCPU()
}

func showDevices(out io.Writer, cfg *config.Set, job bootstrap.Job) error {
	defer showMemory(out, cfg)
	p := drivers.New(cfg)
	fmt.Fprintf(out, "Transports\n")
	for _, w := range p.Providers() {
		if err := w.Probe(); err != nil {
			fmt.Fprintf(out, "  %s: not usable: %v\n", w.Name, err)
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
	fmt.Fprintf(out, "\nArena\n  %s of address space at %#x in every rank of the node, %s for each of them\n",
		config.SizeText(m.Bytes()), m.Base(), config.SizeText(m.SliceBytes()))
	fmt.Fprintf(out, "  a memory file without a name: /dev/shm and its size do not matter\n")
	if want := cfg.Size("ARMCI_SHM_ARENA"); m.Bytes() < want {
		fmt.Fprintf(out, "  smaller than ARMCI_SHM_ARENA=%s: the address space is limited (RLIMIT_AS) or taken\n", config.SizeText(want))
	}
	return rt.Finalize()
}

func startedBy(kind string) string {
	if kind == "single" {
		return "not started by any launcher"
	}
	return "started by " + kind
}
