// SPDX-License-Identifier: BSD-3-Clause

// Groups and domains: conversion for core. In both ABIs C passes group numbers to this file.
package main

// #include "front.h"
// void front_set_team(int group, struct shm_team *team);
import "C"

import (
	"fmt"

	"libarmci/internal/bootstrap"
	"libarmci/internal/core"
	"libarmci/internal/guest"
	"libarmci/internal/transport"
)

// groupNumber returns a new group's number. An error ends the job, since the C functions return
// nothing.
func groupNumber(name string, rt *core.Runtime, g *core.Group, err error) C.int {
	endJobOnError(name, err)
	return published(rt, g)
}

// published gives C the team of a new group if all members are on this node, and returns its
// number.
func published(rt *core.Runtime, g *core.Group) C.int {
	if t := g.Team(); t != nil && fastWanted(rt) {
		C.front_set_team(C.int(g.ID), (*C.struct_shm_team)(t.Pointer()))
	}
	return C.int(g.ID)
}

//export armcigo_group_create
func armcigo_group_create(cname *C.char, n C.int, pids *C.int, parent C.int) C.int {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, p, err := groupFor(name, parent, func() string { return fmt.Sprintf("of %d ranks", n) })
	endJobOnError(name, err)
	if n < 0 || n > 0 && pids == nil {
		endJob(name, &core.ArgError{Arg: "pid_list",
			Text: "null pointer or negative length",
			Code: core.CodeArgument})
	}
	g, err := rt.GroupCreate(p, ints(pids, int(n)))
	return groupNumber(name, rt, g, err)
}

//export armcigo_group_split
func armcigo_group_split(parent, color, key C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Group_split"
	rt, p, err := groupFor(name, parent,
		func() string { return fmt.Sprintf("color %d, key %d", color, key) })
	if err != nil {
		return code(name, err)
	}
	g, err := rt.GroupSplit(p, int32(color), int32(key))
	if err != nil {
		return code(name, err)
	}
	return published(rt, g)
}

//export armcigo_group_dup
func armcigo_group_dup(parent C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Group_dup"
	rt, p, err := groupFor(name, parent)
	if err != nil {
		return code(name, err)
	}
	g, err := rt.GroupDup(p)
	if err != nil {
		return code(name, err)
	}
	return published(rt, g)
}

//export armcigo_group_free
func armcigo_group_free(id C.int) {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_Group_free",
		func() string { return fmt.Sprintf("group %d", id) })
	if err == nil {
		if id != core.World {
			C.front_set_team(id, nil)
		}
		err = rt.GroupFree(int(id))
	}
	endJobOnError("ARMCI_Group_free", err)
}

// armcigo_group_facts: the caller's rank in a group and its size; rank -1 and a return value of 1
// if it is not a member.
//
//export armcigo_group_facts
func armcigo_group_facts(cname *C.char, id C.int, rank, size *C.int) C.int {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, err := running(name, func() string { return fmt.Sprintf("group %d", id) })
	if err != nil {
		return code(name, err)
	}
	g, err := rt.Group(int(id))
	if err == nil && (rank == nil || size == nil) {
		err = &core.ArgError{Arg: "rank or size", Text: "null pointer",
			Code: core.CodeArgument}
	}
	if err != nil {
		return code(name, err)
	}
	*rank, *size = C.int(g.Me), C.int(g.Size())
	if g.Me < 0 {
		return 1
	}
	return 0
}

//export armcigo_default_group
func armcigo_default_group() C.int {
	defer guest.Guard(guest.Faults())
	rt, err := running("ARMCI_Group_get_default")
	endJobOnError("ARMCI_Group_get_default", err)
	return C.int(rt.DefaultGroup())
}

//export armcigo_set_default_group
func armcigo_set_default_group(id C.int) {
	defer guest.Guard(guest.Faults())
	rt, err := running("ARMCI_Group_set_default",
		func() string { return fmt.Sprintf("group %d", id) })
	if err == nil {
		err = rt.SetDefaultGroup(int(id))
	}
	endJobOnError("ARMCI_Group_set_default", err)
}

//export armcigo_absolute_id
func armcigo_absolute_id(id, rank C.int) C.int {
	defer guest.Guard(guest.Faults())
	_, g, err := groupFor("ARMCI_Absolute_id", id,
		func() string { return fmt.Sprintf("rank %d", rank) })
	endJobOnError("ARMCI_Absolute_id", err)
	if rank < 0 || int(rank) >= g.Size() {
		return -1
	}
	return C.int(g.Ranks[rank])
}

//export armcigo_group_comm
func armcigo_group_comm(id C.int) C.uintptr_t {
	defer guest.Guard(guest.Faults())
	rt, err := running("armci_group_comm", func() string { return fmt.Sprintf("group %d", id) })
	endJobOnError("armci_group_comm", err)
	g, err := rt.Group(int(id))
	endJobOnError("armci_group_comm", err)
	if g.Comm == 0 {
		return C.uintptr_t(bootstrap.NullComm())
	}
	return C.uintptr_t(g.Comm)
}

//export armcigo_comm_bytes
func armcigo_comm_bytes() C.int {
	defer guest.Guard(guest.Faults())
	return C.int(bootstrap.CommBytes())
}

//export armcigo_domain_count
func armcigo_domain_count() C.int {
	defer guest.Guard(guest.Faults())
	return C.int(startEarly("armci_domain_count").Topo.Domains())
}

//export armcigo_domain_of
func armcigo_domain_of(rank C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt := startEarly("armci_domain_id")
	if err := checkRank(rt, "glob_proc_id", rank); err != nil {
		return code("armci_domain_id", err)
	}
	return C.int(rt.Topo.Domain(transport.Rank(rank)))
}

func checkRank(rt *core.Runtime, arg string, rank C.int) error {
	if rank < 0 || int(rank) >= rt.N {
		return &core.ArgError{Arg: arg, Text: "no such rank", Code: core.CodeProc}
	}
	return nil
}

// domainRanks are the ranks of a domain, -1 meaning the caller's.
func domainRanks(name string, id C.int) ([]transport.Rank, error) {
	rt := startEarly(name)
	if id == -1 {
		id = C.int(rt.Topo.Domain(rt.Me))
	}
	if id < 0 || int(id) >= rt.Topo.Domains() {
		return nil, &core.ArgError{Arg: "id", Text: "no such domain", Code: core.CodeProc}
	}
	return rt.Topo.DomainRanks(int(id)), nil
}

//export armcigo_domain_ranks
func armcigo_domain_ranks(id C.int) C.int {
	defer guest.Guard(guest.Faults())
	ranks, err := domainRanks("armci_domain_nprocs", id)
	if err != nil {
		return code("armci_domain_nprocs", err)
	}
	return C.int(len(ranks))
}

//export armcigo_domain_rank
func armcigo_domain_rank(id, local C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "armci_domain_glob_proc_id"
	ranks, err := domainRanks(name, id)
	if err == nil && (local < 0 || int(local) >= len(ranks)) {
		err = &core.ArgError{Arg: "loc_proc_id", Text: "no such rank in the domain",
			Code: core.CodeProc}
	}
	if err != nil {
		return code(name, err)
	}
	return C.int(ranks[local])
}

//export armcigo_same_node
func armcigo_same_node(cname *C.char, rank C.int) C.int {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt := startEarly(name)
	if checkRank(rt, "proc", rank) == nil && rt.Topo.SameNode(transport.Rank(rank)) {
		return 1
	}
	return 0
}

//export armcigo_same_domain
func armcigo_same_domain(rank C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt := startEarly("armci_domain_same_id")
	if checkRank(rt, "proc", rank) == nil &&
		rt.Topo.Domain(transport.Rank(rank)) == rt.Topo.Domain(rt.Me) {
		return 1
	}
	return 0
}
