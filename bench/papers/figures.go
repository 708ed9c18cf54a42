// SPDX-License-Identifier: BSD-3-Clause

// The figures and tables of the papers, in their order: what the paper says, and
// what is drawn of what was measured here. The papers' numbers are those of
// docs/protocols.md.
package main

import "slices"

var figures = slices.Concat(interface2006, clusters2002, myrinet2000, windows2004, strided2004)

// lineOf is a series of a microbenchmark: group/op.
func lineOf(name, experiment, op, place string) line {
	return line{name: name, experiment: experiment, op: op, place: place}
}

// under is the same in a variant.
func under(variant string, l line) line {
	l.variant = variant
	return l
}

// versions are the series of an application: what each version takes, or with what it prints of it.
func versions(experiment, app, what string, names ...string) []line {
	var all []line
	for _, n := range names {
		all = append(all, line{name: n, experiment: experiment, op: app + "/" + n + what})
	}
	return all
}

// at are lines at a place.
func at(place string, all []line) []line {
	all = slices.Clone(all)
	for i := range all {
		all[i].place = place
	}
	return all
}

// onNetworks are a chart between two nodes over RDMA and between two hosts over TCP.
func onNetworks(c chart) []chart {
	over := func(network, place string) chart {
		d := c
		d.title, d.lines = c.title+" over "+network, at(place, c.lines)
		return d
	}
	return []chart{over("RDMA", "rdma-2x1"), over("TCP", "hosts-2x1")}
}

// shaped keeps the rows of a shape.
func shaped(shape string, all []line) []line {
	for i := range all {
		all[i].shape = shape
	}
	return all
}

var (
	nodePlaces = []string{"node-1", "node-2", "node-4"}
	tcpPlaces  = []string{"hosts-2x1", "hosts-2x2", "hosts-4x1"}
	rdmaPlaces = []string{"rdma-2x1", "rdma-2x2", "rdma-4x1"}
	allPlaces  = slices.Concat(nodePlaces, tcpPlaces, rdmaPlaces)
	far        = slices.Concat(tcpPlaces, rdmaPlaces)
	networks   = []string{"node-2", "hosts-2x1", "rdma-2x1"}
)
