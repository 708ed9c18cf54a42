// SPDX-License-Identifier: BSD-3-Clause

// What the nodes are: this command as the program of every rank, and what reads that. The first
// rank of each node describes it, and rank 0 prints all. What a node is made of is in machine.go.

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"libarmci/internal/bootstrap"
	"libarmci/internal/config"
	"libarmci/internal/core"
)

// rankOption makes a process a rank that describes its node.
const rankOption = "-describe-node"

// allTransports stands for a list of transports where none was asked for: scripts lose an empty
// word.
const allTransports = "all"

// jobRecord is what rank 0 prints of the job, behind the word JOB.
type jobRecord struct {
	Kind, MPI string
	Ranks     int
}

// nodeRecord is what a node tells, behind the word NODE. Host and Boot are not for the report.
type nodeRecord struct {
	Node
	Host, Boot string
}

// describeNodes joins the job and prints, on rank 0, a record of the job and one of each node.
// asked are the transports that were asked for, if any.
func describeNodes(out io.Writer, asked []string) error {
	cfg, err := config.LoadFrom(bootstrap.Environ())
	if err != nil {
		return err
	}
	j, err := bootstrap.Start(cfg, nil)
	if err != nil {
		return fmt.Errorf("the job cannot be joined: %w", err)
	}
	nodes, err := exchangeNodes(cfg, j, asked)
	if err == nil && j.Rank() == 0 {
		err = printNodes(out, jobRecord{j.Kind(), bootstrap.MPIVersion(), j.Size()}, nodes)
	}
	j.EndExchange()
	err = errors.Join(err, j.Close())
	bootstrap.FinalizeMPI()
	if err == nil {
		bootstrap.LeaveLauncher()
	}
	return err
}

// exchangeNodes returns the records of all nodes, on every rank. Collective.
func exchangeNodes(cfg *config.Set, j bootstrap.Job, asked []string) ([]nodeRecord, error) {
	id, host := core.NodeID(cfg.String("ARMCI_NODE"))
	local, _, err := j.Split(id)
	if err != nil {
		return nil, fmt.Errorf("which ranks are on this node: %w", err)
	}
	ranks, err := j.GatherNode([]byte(strconv.Itoa(j.Rank())))
	if err != nil {
		return nil, err
	}
	mine := nodeRecord{Host: host}
	if local == 0 {
		mine.Boot, _, _ = strings.Cut(id, "|")
		mine.Node = describe(cfg, asked)
		for _, text := range ranks {
			r, _ := strconv.Atoi(string(text))
			mine.Ranks = append(mine.Ranks, r)
		}
	}
	blob, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	blobs, err := j.ExchangeLeaders(blob)
	nodes := make([]nodeRecord, len(blobs))
	for i, b := range blobs {
		err = errors.Join(err, json.Unmarshal(b, &nodes[i]))
	}
	return nodes, err
}

// printNodes prints a line of JSON for the job, and one for each node.
func printNodes(out io.Writer, j jobRecord, nodes []nodeRecord) error {
	line := func(word string, v any) error {
		blob, err := json.Marshal(v)
		if err == nil {
			_, err = fmt.Fprintf(out, "%s\t%s\n", word, blob)
		}
		return err
	}
	err := line("JOB", j)
	for _, n := range nodes {
		err = errors.Join(err, line("NODE", n))
	}
	return err
}

// lookAround starts the ranks that describe their nodes, and puts what they say into the report.
// Names of hosts go to the names that are removed.
func (a *acceptance) lookAround() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	asked, err := a.asked()
	if err != nil {
		return err
	}
	j := a.run(a.limit(5*time.Minute), a.launcher.ranks, nil, self, rankOption,
		cmp.Or(strings.Join(asked, ","), allTransports))
	record, nodes, err := readNodes(j.lines)
	if j.err != nil || errors.Is(err, errNoNode) {
		err = fmt.Errorf("%s: %s", strings.Join(j.command, " "), j.why())
	}
	if err != nil {
		return fmt.Errorf("the launcher does not start a job: %w", err)
	}
	a.recordNodes(record, nodes)
	return nil
}

var errNoNode = errors.New("no node was described")

// readNodes reads what printNodes has printed.
func readNodes(lines []string) (record jobRecord, nodes []nodeRecord, err error) {
	for _, line := range lines {
		word, rest, _ := strings.Cut(line, "\t")
		switch word {
		case "JOB":
			err = errors.Join(err, json.Unmarshal([]byte(rest), &record))
		case "NODE":
			var n nodeRecord
			err = errors.Join(err, json.Unmarshal([]byte(rest), &n))
			nodes = append(nodes, n)
		}
	}
	if err == nil && (record.Ranks == 0 || len(nodes) == 0) {
		err = errNoNode
	}
	return record, nodes, err
}

// recordNodes puts the records into the report.
func (a *acceptance) recordNodes(job jobRecord, nodes []nodeRecord) {
	r := a.report
	r.Launcher, r.MPI, r.Ranks = job.Kind, job.MPI, job.Ranks
	if l := &a.launcher; l.at >= 0 && l.ranks != job.Ranks {
		r.note("The number %d in the launcher's words counts something else, since there "+
			"are %d ranks: all jobs have as many.", l.ranks, job.Ranks)
		l.at = -1
	}
	a.launcher.ranks = job.Ranks
	a.pretended = len(nodes) > 1
	for i, n := range nodes {
		a.names.host(n.Host, i)
		a.pretended = a.pretended && n.Boot == nodes[0].Boot
		r.Nodes = append(r.Nodes, n.Node)
	}
	a.names.clean(r.Nodes)
	r.Differences = append(r.Differences, differences(r.Nodes)...)
	switch {
	case len(nodes) == 1:
		r.note("One node: nothing is shown of networks, only of shared memory. Give the " +
			"launcher two nodes.")
	case a.pretended:
		r.note("All nodes are one machine (pretended nodes): nothing is shown of a " +
			"network between machines, and times are those of a machine that does " +
			"the work of both sides.")
	}
}

// differences are the facts and transports in which nodes differ from node 0.
func differences(nodes []Node) (all []string) {
	if len(nodes) == 0 {
		return nil
	}
	for i, n := range nodes[1:] {
		for _, f := range slices.Concat(n.Facts, nodes[0].Facts) {
			here, there := factOf(nodes[0], f.Name), factOf(n, f.Name)
			text := fmt.Sprintf("%s: %q on node %d, %q on node 0", f.Name, there, i+1,
				here)
			if here != there && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
		for _, p := range slices.Concat(nodes[0].Transports, n.Transports) {
			here, there := usable(nodes[0], p.Transport), usable(n, p.Transport)
			text := fmt.Sprintf("%s: usable on node 0, but not on node %d", p.Transport,
				i+1)
			if there {
				text = fmt.Sprintf("%s: usable on node %d, but not on node 0",
					p.Transport, i+1)
			}
			if here != there && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}

func usable(n Node, transport string) bool {
	return slices.ContainsFunc(n.Transports,
		func(p Probe) bool { return p.Transport == transport && p.Usable })
}

// factOf is the value of a fact; "" if the node does not have it.
func factOf(n Node, name string) string {
	for _, f := range n.Facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}
