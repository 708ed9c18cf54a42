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

// softRDMA is how pictures name the network of rdma places.
const softRDMA = "RDMA, a device in software"

// onNetworks are a chart between two nodes over RDMA and between two hosts over TCP.
func onNetworks(c chart) []chart {
	over := func(network, place string) chart {
		d := c
		d.title, d.lines = c.title+" over "+network, at(place, c.lines)
		return d
	}
	return []chart{over(softRDMA, "rdma-2x1"), over("TCP", "hosts-2x1")}
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
	farLabels  = labels(networks[1:])
)

// labels are places as bars and columns are labelled.
func labels(places []string) []string {
	var all []string
	for _, p := range places {
		all = append(all, label(p))
	}
	return all
}

// lessTime is how many times as fast something is that takes so many per cent less time.
func lessTime(percent float64) float64 { return 1 / (1 - percent/100) }

// Why some claims do not hold here.
const (
	ownMemory      = "Memory of the program is copied, or registered by a call of the kernel."
	rowIsRequest   = "Each row is a request of the device in software, which a program copies."
	waitsForAnswer = "A put waits for its answer, of a data server that has to be woken."
	collected      = "Single ones are collected by themselves while an answer is outstanding."
	fourOnTwo      = "Four hosts share two cores, and a rank that waits sleeps."
	wakeUps        = "What is left are wake-ups of Go's monitor, of the server and of the " +
		"progress " +
		"thread on cores that compute."
	oneCopy = "The target's memory is registered once and read in place, and the device " +
		"copies when a request is posted."
	answersTakeCores = "The hosts share two cores: answers take processor time, not latency."
	awaited          = "Epochs of both ranks are answered by data servers that have to be " +
		"woken, beside " +
		"messages that look."
	kernelCopies     = "The operating system is the network: it copies on the same cores."
	copiesWhenPosted = "The device in software copies when a request is posted, so nothing " +
		"is " +
		"left to overlap; no card was here."
	packedFree = "The copy at the target, which the program has to make, is not counted for " +
		"packing by the program."
)

// lineAt is a quote that goes across a picture.
func lineAt(name string, v float64) quote { return quote{name: name, low: v, high: v} }
