// SPDX-License-Identifier: BSD-3-Clause

// Job stands in for bootstrap.Job in a Cluster: it exchanges bytes, counts communicators, and
// records how it was ended instead of ending the process.
package transporttest

import (
	"fmt"
	"slices"
)

// Job is the job as one rank sees it.
type Job struct {
	c        *Cluster
	rank     int
	lastComm uintptr

	splits   int   // so many
	nodeTeam *team // of the last split, as are the next
	leaders  []int

	commsMade  []Comm
	commsFreed []uintptr
	endCalls   []string
	onLoss     func(rank int, reason string)
}

// Comm is a communicator that GroupComm has made.
type Comm struct {
	Ranks []int
	Comm  uintptr
}

// OnLoss is that of bootstrap.LossWatcher.
func (j *Job) OnLoss(report func(rank int, reason string)) { j.onLoss = report }

// Lose calls the function of OnLoss.
func (j *Job) Lose(rank int, reason string) { j.onLoss(rank, reason) }

// Kind is "test".
func (j *Job) Kind() string { return "test" }

// Rank is the rank.
func (j *Job) Rank() int { return j.rank }

// Size is the number of ranks.
func (j *Job) Size() int { return j.c.N }

// Split makes a node of all ranks with the same key.
func (j *Job) Split(key string) (local, size int, err error) {
	if err := j.c.injectedFault("exchange", j.rank); err != nil {
		return 0, 0, err
	}
	j.leaders = nil
	j.splits++
	var ranks []int
	seen := map[string]bool{}
	for r, k := range j.worldTeam().exchangeBodies("Split", []byte(key)) {
		if !seen[string(k)] {
			j.leaders = append(j.leaders, r)
		}
		seen[string(k)] = true
		if string(k) == key {
			ranks = append(ranks, r)
		}
	}
	local = slices.Index(ranks, j.rank)
	at := [2]int{j.splits, ranks[0]}
	j.c.changeState(func() {
		if j.c.splitTeams[at] == nil {
			j.c.splitTeams[at] = newTeamState(len(ranks))
		}
		j.nodeTeam = &team{c: j.c, state: j.c.splitTeams[at], me: local}
	})
	return local, len(ranks), nil
}

// GatherNode returns the bytes of all ranks of the node.
func (j *Job) GatherNode(mine []byte) ([][]byte, error) {
	if err := j.c.injectedFault("exchange", j.rank); err != nil {
		return nil, err
	}
	return j.nodeTeam.exchangeBodies("GatherNode", mine), nil
}

// ExchangeLeaders returns the bytes of the leaders of all nodes. All ranks call it.
func (j *Job) ExchangeLeaders(mine []byte) (parts [][]byte, err error) {
	if err := j.c.injectedFault("exchange", j.rank); err != nil {
		return nil, err
	}
	all := j.worldTeam().exchangeBodies("ExchangeLeaders", mine)
	for _, r := range j.leaders {
		parts = append(parts, all[r])
	}
	return parts, nil
}

// EndExchange makes an exchange without another Split crash.
func (j *Job) EndExchange() { j.nodeTeam, j.leaders = nil, nil }

// worldTeam is the team of all ranks of the job.
func (j *Job) worldTeam() *team { return &team{c: j.c, state: j.c.jobWorld, me: j.rank} }

// WorldComm is a constant.
func (j *Job) WorldComm() uintptr { return 0x4400 }

// GroupComm returns a new number, and records it.
func (j *Job) GroupComm(ranks []int, _ int) (uintptr, error) {
	if err := j.c.injectedFault("comm", j.rank); err != nil {
		return 0, err
	}
	j.lastComm++
	j.commsMade = append(j.commsMade, Comm{ranks, j.lastComm})
	return j.lastComm, nil
}

// FreeComm records the call.
func (j *Job) FreeComm(comm uintptr) { j.commsFreed = append(j.commsFreed, comm) }

// Comms lists the communicators made and freed. Only for the rank's own goroutine.
func (j *Job) Comms() (made []Comm, freed []uintptr) { return j.commsMade, j.commsFreed }

// recordCall records a call for Ends.
func (j *Job) recordCall(text string) {
	j.c.changeState(func() { j.endCalls = append(j.endCalls, text) })
}

// Abort records the call.
func (j *Job) Abort(code int) { j.recordCall(fmt.Sprintf("abort %d", code)) }

// Die records the call.
func (j *Job) Die(code int) { j.recordCall(fmt.Sprintf("die %d", code)) }

// Close records the call.
func (j *Job) Close() error {
	j.recordCall("close")
	return nil
}

// Ends lists calls of Abort, Die and Close.
func (j *Job) Ends() (calls []string) {
	j.c.changeState(func() { calls = append(calls, j.endCalls...) })
	return calls
}
