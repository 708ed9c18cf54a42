// SPDX-License-Identifier: BSD-3-Clause

// Paper 003: one-sided communication of MPI, over the preloaded library.
package main

// windowCharts are a figure of ../windows by messages and over our library, with the messages of
// two-sided MPI if raw.
func windowCharts(c chart, op string, raw bool) []chart {
	two := under("messages", lineOf("two-sided", "windows", op, ""))
	two.raw = true
	c.lines = []line{under("ours", lineOf("ours", "windows", op, "")),
		under("messages", lineOf("send/receive design", "windows", op, ""))}
	if raw {
		c.lines = append(c.lines, two)
	}
	return onNetworks(c)
}

// byOrigins are a figure over the number of origins.
func byOrigins(op, title, yLabel, network string) chart {
	c := chart{title: title, yLabel: yLabel, kind: overProcs,
		xLabel: "processes, one of them the target", lines: []line{
			under("ours", lineOf("ours", "windows-origins", op, "")),
			under("messages", lineOf("send/receive design", "windows-origins", op,
				""))}}
	for _, n := range []string{"2x1", "3x1", "4x1", "8x1"} {
		c.places = append(c.places, network+"-"+n)
	}
	return c
}

var windows2004 = []paperFigure{
	{id: "003-5", title: "Ping-pong", caption: "Ping-Pong Latency",
		paper: "15.6 us become 12.6 us for small messages; up to 17 us less for large " +
			"ones.",
		here: "Agrees over RDMA but for 512 bytes: 0.3 to 0.9 of the send/receive " +
			"design's time. Over TCP 1.1 to 2.7 times it below 16 KiB, 0.7 to " +
			"1.2 times from there on.",
		charts: windowCharts(chart{title: "Ping-pong by start, put, complete",
			yLabel: "time of one epoch"}, "pingpong-pscw", true)},
	{id: "003-6", title: "Both put", caption: "Bi-Directional Latency",
		paper: "Two-sided is better for very small messages; the RDMA design is ahead " +
			"of it above 4 KiB.",
		here: "Agrees over RDMA: at most level, 0.2 of the send/receive design's " +
			"time at 8 bytes. Not over TCP below 64 KiB, where it takes twice as " +
			"long: two fences of both ranks beside messages that poll.",
		charts: windowCharts(chart{title: "Both put, and fence", yLabel: "time"},
			"bidirectional", true)},
	{id: "003-7", title: "Bandwidth of put", caption: "MPI-Put Bandwidth",
		paper: "Up to 77 % better; 865 MB/s for 256 KiB.",
		here: "Agrees from 4 KiB on: 1.1 to 3.2 times the bandwidth of the " +
			"send/receive design. Below it is behind over TCP by a tenth to a " +
			"fifth, and over RDMA at 512 bytes.",
		charts: windowCharts(chart{title: "16 puts in an epoch", yLabel: "bandwidth"},
			"bandwidth-put", true)},
	{id: "003-8", title: "Bandwidth of get", caption: "MPI-Get Bandwidth",
		paper: "RDMA read is slower than RDMA write for small messages, so the " +
			"original design is ahead there.",
		here: "Agrees over TCP but for 16 KiB: 1.2 to 1.7 times. Over RDMA from 4 " +
			"KiB on, 1.2 to 2.1 times; small gets, which enter Go, are behind " +
			"shared memory.",
		charts: windowCharts(chart{title: "16 gets in an epoch", yLabel: "bandwidth"},
			"bandwidth-get", true)},
	{id: "003-9", title: "Synchronisation alone", caption: "Synchronization Overhead",
		paper: "16.52 us become 14.78 us with one origin.",
		here: "Agrees with one origin: 0.2 of the send/receive design's time over " +
			"RDMA, level over TCP. With three origins it takes about twice as " +
			"long, with seven, too: eight ranks share two cores, and each origin " +
			"is awaited asleep where two-sided MPI polls. Fences of eight ranks " +
			"over the software device take tens of times as long in one of two " +
			"starts, which has not been looked into.",
		charts: []chart{byOrigins("sync-pscw", "Epochs without operations over RDMA",
			"time", "rdma"), byOrigins("sync-pscw", "Epochs without operations over "+
			"TCP", "time", "hosts")}},
	{id: "003-10", title: "Overlap by amount of work", caption: "Overlap Test Results",
		paper: "The RDMA design is not affected by more computation; the original " +
			"design is.",
		here: "Agrees over TCP: our epoch stays ahead at every amount of work. " +
			"Over the software device the caller copies, so work comes on top " +
			"(see 000-19).",
		charts: windowCharts(chart{title: "16 puts of 64 KiB, work after each",
			yLabel: "time of an epoch", xLabel: "work after each put, us",
			kind: overNumber}, "overlap-time", false)},
	{id: "003-11", title: "A late target", caption: "Process Skew Test Results",
		paper: "Process skew does not affect the RDMA design at all; the original " +
			"design drops significantly.",
		here: "Agrees: a late target costs us nothing over RDMA and little over TCP; " +
			"the send/receive design loses 10 to 50 times.",
		charts: windowCharts(chart{title: "16 puts of 64 KiB to a target that is late",
			yLabel: "bandwidth", xLabel: "the target is late by, ms", kind: overNumber},
			"skew-put", false)},
	{id: "003-12", title: "Several origins",
		caption: "Aggregated Bandwidth with Multiple Origin Processes",
		paper:   "Over 920 MB/s with few origins; 895 MB/s in the original design.",
		here: "Ahead over TCP with any number of origins, 1.25 to 1.8 times, and " +
			"over the software device with one and three; there with two it is " +
			"behind, with seven level, since the origins share two cores with " +
			"what copies.",
		charts: []chart{byOrigins("origins", "16 puts of 64 KiB by each origin, over RDMA",
			"bandwidth of all", "rdma"), byOrigins("origins", "16 puts of 64 KiB by "+
			"each origin, over TCP", "bandwidth of all", "hosts")}},
}
