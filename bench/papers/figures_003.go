// SPDX-License-Identifier: BSD-3-Clause

// Paper 003: one-sided communication of MPI, over the preloaded library.
package main

// windowCharts are a figure of ../windows by messages and over our library, with the messages of two-sided MPI if raw.
func windowCharts(c chart, op string, raw bool) []chart {
	two := under("messages", lineOf("two-sided", "windows", op, ""))
	two.raw = true
	c.lines = []line{under("ours", lineOf("ours", "windows", op, "")), under("messages", lineOf("send/receive design", "windows", op, ""))}
	if raw {
		c.lines = append(c.lines, two)
	}
	return onNetworks(c)
}

// byOrigins are a figure over the number of origins.
func byOrigins(op, title, yLabel, network string) chart {
	c := chart{title: title, yLabel: yLabel, kind: overProcs, xLabel: "processes, one of them the target", lines: []line{
		under("ours", lineOf("ours", "windows-origins", op, "")),
		under("messages", lineOf("send/receive design", "windows-origins", op, ""))}}
	for _, n := range []string{"2x1", "3x1", "4x1", "8x1"} {
		c.places = append(c.places, network+"-"+n)
	}
	return c
}

var windows2004 = []paperFigure{
	{id: "003-5", title: "Ping-pong", caption: "Ping-Pong Latency",
		paper:  "15.6 us become 12.6 us for small messages; up to 17 us less for large ones.",
		here:   "Agrees over RDMA for some sizes only (0.5 to 2 times the send/receive design; its column there is shared memory). Over TCP level at 8 bytes, up to 1.5 times behind below 64 KiB, ahead from 64 to 256 KiB. One start: a single sample at 64 bytes over TCP was disturbed.",
		charts: windowCharts(chart{title: "Ping-pong by start, put, complete", yLabel: "time of one epoch"}, "pingpong-pscw", true)},
	{id: "003-6", title: "Both put", caption: "Bi-Directional Latency",
		paper:  "Two-sided is better for very small messages; the RDMA design is ahead of it above 4 KiB.",
		here:   "Agrees over RDMA: ahead from 8 bytes on, but for 512. Not over TCP: two fences of both ranks take 70 to 90 us where messages take 29.",
		charts: windowCharts(chart{title: "Both put, and fence", yLabel: "time"}, "bidirectional", true)},
	{id: "003-7", title: "Bandwidth of put", caption: "MPI-Put Bandwidth",
		paper:  "Up to 77 % better; 865 MB/s for 256 KiB.",
		here:   "Agrees: ahead of the send/receive design from 64 KiB on, up to 3.5 times.",
		charts: windowCharts(chart{title: "16 puts in an epoch", yLabel: "bandwidth"}, "bandwidth-put", true)},
	{id: "003-8", title: "Bandwidth of get", caption: "MPI-Get Bandwidth",
		paper:  "RDMA read is slower than RDMA write for small messages, so the original design is ahead there.",
		here:   "Agrees: small gets over RDMA are slower than by messages, large ones are ahead.",
		charts: windowCharts(chart{title: "16 gets in an epoch", yLabel: "bandwidth"}, "bandwidth-get", true)},
	{id: "003-9", title: "Synchronisation alone", caption: "Synchronization Overhead",
		paper:  "16.52 us become 14.78 us with one origin.",
		here:   "Agrees with one origin over RDMA (1.1 us beside 2.1). Over TCP 1.2 times the send/receive design with one origin, 2.4 times with seven: each origin is awaited asleep where two-sided MPI polls.",
		charts: []chart{byOrigins("sync-pscw", "Epochs without operations over RDMA", "time", "rdma"), byOrigins("sync-pscw", "Epochs without operations over TCP", "time", "hosts")}},
	{id: "003-10", title: "Overlap by amount of work", caption: "Overlap Test Results",
		paper:  "The RDMA design is not affected by more computation; the original design is.",
		here:   "Agrees over TCP: our epoch stays ahead at every amount of work. Over the software device the caller copies, so work comes on top (see 000-19).",
		charts: windowCharts(chart{title: "16 puts of 64 KiB, work after each", yLabel: "time of an epoch", xLabel: "work after each put, us", kind: overNumber}, "overlap-time", false)},
	{id: "003-11", title: "A late target", caption: "Process Skew Test Results",
		paper:  "Process skew does not affect the RDMA design at all; the original design drops significantly.",
		here:   "Agrees: a late target costs us nothing over RDMA and little over TCP; the send/receive design loses 10 to 50 times.",
		charts: windowCharts(chart{title: "16 puts of 64 KiB to a target that is late", yLabel: "bandwidth", xLabel: "the target is late by, ms", kind: overNumber}, "skew-put", false)},
	{id: "003-12", title: "Several origins", caption: "Aggregated Bandwidth with Multiple Origin Processes",
		paper:  "Over 920 MB/s with few origins; 895 MB/s in the original design.",
		here:   "Level over TCP (0.97 to 1.04), which is the link's; over the software device behind, since the origins share two cores with what copies.",
		charts: []chart{byOrigins("origins", "16 puts of 64 KiB by each origin, over RDMA", "bandwidth of all", "rdma"), byOrigins("origins", "16 puts of 64 KiB by each origin, over TCP", "bandwidth of all", "hosts")}},
}
