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
		here:   "Does not agree: our epochs wait asleep and are woken, which costs tens of microseconds where two-sided MPI polls.",
		charts: windowCharts(chart{title: "Ping-pong by start, put, complete", yLabel: "time of one epoch"}, "pingpong-pscw", true)},
	{id: "003-6", title: "Both put", caption: "Bi-Directional Latency",
		paper:  "Two-sided is better for very small messages; the RDMA design is ahead of it above 4 KiB.",
		here:   "Only from 1 MiB on over TCP: see 003-5.",
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
		here:   "Does not agree: see 003-5.",
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
		here:   "Does not agree here: the origins share two cores, and our epochs sleep and are woken.",
		charts: []chart{byOrigins("origins", "16 puts of 64 KiB by each origin, over RDMA", "bandwidth of all", "rdma"), byOrigins("origins", "16 puts of 64 KiB by each origin, over TCP", "bandwidth of all", "hosts")}},
}
