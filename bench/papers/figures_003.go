// SPDX-License-Identifier: BSD-3-Clause

// Paper 003: one-sided communication of MPI, over the preloaded library.
package main

// windowCharts are a figure of ../windows over our library, with the messages of two-sided MPI if
// raw, over RDMA and over TCP. Over TCP the MPI's own windows, which are made of messages, are
// beside it; on the device in software they hang.
func windowCharts(c chart, op string, raw bool) []chart {
	ours := under("ours", lineOf("ours", "windows", op, ""))
	over := func(network, place, variant string, more ...line) chart {
		d := c
		d.title, d.lines = c.title+" over "+network, append([]line{ours}, more...)
		if two := under(variant, lineOf("two-sided", "windows", op, "")); raw {
			two.raw = true
			d.lines = append(d.lines, two)
		}
		d.lines = at(place, d.lines)
		return d
	}
	return []chart{over(softRDMA, "rdma-2x1", "ours"), over("TCP", "hosts-2x1", messages,
		under(messages, lineOf("send/receive design", "windows", op, "")))}
}

// byOrigins are a figure over the number of origins.
func byOrigins(op, title, yLabel, network string) chart {
	c := chart{title: title + " over " + softRDMA, yLabel: yLabel, kind: overProcs,
		xLabel: "processes, one of them the target", lines: []line{
			under("ours", lineOf("ours", "windows-origins", op, ""))}}
	if network != "rdma" { // there the MPI's own hang
		c.title = title + " over TCP"
		c.lines = append(c.lines, under(messages, lineOf("send/receive design",
			"windows-origins", op, "")))
	}
	for _, n := range []string{"2x1", "3x1", "4x1", "8x1"} {
		c.places = append(c.places, network+"-"+n)
	}
	return c
}

var windows2004 = []paperFigure{
	{id: "003-5", title: "Ping-pong", caption: "Ping-Pong Latency",
		paper: "15.6 us become 12.6 us for small messages; up to 17 us less for large " +
			"ones.",
		claims: []claim{
			{says: "over TCP epochs are ahead of the send/receive design", chart: 1,
				of:   "ours",
				over: []string{"send/receive design"}, least: 1, why: awaited},
			{says: "over TCP 12.6 us instead of 15.6 for small messages", chart: 1,
				of: "ours", over: []string{"send/receive design"},
				least: 15.6 / 12.6, to: 64, why: awaited},
		},
		charts: quoted(windowCharts(chart{title: "Ping-pong by start, put, complete",
			yLabel: "time of one epoch"}, "pingpong-pscw", true),
			quote{name: "paper: one-sided design", x: 8, low: 12.6e3, high: 12.6e3},
			quote{name: "paper: original", x: 8, low: 15.6e3, high: 15.6e3})},
	{id: "003-6", title: "Both put", caption: "Bi-Directional Latency",
		paper: "Two-sided is better for very small messages; the RDMA design is ahead " +
			"of it above 4 KiB.",
		claims: []claim{
			{says: "over RDMA ahead of two-sided messages above 4 KiB", of: "ours",
				over: []string{"two-sided"}, least: 1, from: 4097},
			{says: "over TCP always ahead of the send/receive design", chart: 1,
				of: "ours", over: []string{"send/receive design"}, least: 1,
				why: awaited},
			{says: "over TCP ahead of two-sided messages above 4 KiB", chart: 1,
				of: "ours", over: []string{"two-sided"}, least: 1, from: 4097,
				why: awaited},
		},
		charts: windowCharts(chart{title: "Both put, and fence", yLabel: "time"},
			"bidirectional", true)},
	{id: "003-7", title: "Bandwidth of put", caption: "MPI-Put Bandwidth",
		paper: "Up to 77 % better; 865 MB/s for 256 KiB.",
		claims: []claim{
			{says: "over TCP always ahead of the send/receive design", chart: 1,
				of:   "ours",
				over: []string{"send/receive design"}, least: 1, why: awaited},
			{says: "over TCP up to 77 % ahead", chart: 1, of: "ours",
				over: []string{"send/receive design"}, least: 1.77, some: true},
		},
		charts: quoted(windowCharts(chart{title: "16 puts in an epoch",
			yLabel: "bandwidth"},
			"bandwidth-put", true),
			quote{name: "paper: one-sided design", x: 256 << 10, low: 865, high: 865})},
	{id: "003-8", title: "Bandwidth of get", caption: "MPI-Get Bandwidth",
		paper: "RDMA read is slower than RDMA write for small messages, so the " +
			"original design is ahead there.",
		claims: []claim{
			{says: "over TCP ahead of the send/receive design above 4 KiB", chart: 1,
				of: "ours", over: []string{"send/receive design"}, least: 1,
				from: 4096, why: awaited},
			{says: "over TCP the send/receive design is ahead below", chart: 1,
				of: "send/receive design", over: []string{"ours"}, least: 1,
				to: 4095, why: "Its gets are messages of both sides, as ours are."},
		},
		charts: windowCharts(chart{title: "16 gets in an epoch", yLabel: "bandwidth"},
			"bandwidth-get", true)},
	{id: "003-9", title: "Synchronisation alone", caption: "Synchronization Overhead",
		paper: "16.52 us become 14.78 us with one origin.",
		claims: []claim{
			{says: "over TCP 14.78 us instead of 16.52 with one origin", chart: 1,
				of: "ours", over: []string{"send/receive design"},
				least: 16.52 / 14.78, to: 2, why: awaited},
			{says: "over TCP ahead with several, too", chart: 1, of: "ours",
				over: []string{"send/receive design"}, least: 1, from: 3,
				why: "Eight ranks share two cores, and each origin is awaited " +
					"asleep where two-sided MPI looks."},
		},
		charts: quoted([]chart{
			byOrigins("sync-pscw", "Epochs without operations", "time", "rdma"),
			byOrigins("sync-pscw", "Epochs without operations", "time", "hosts")},
			quote{name: "paper: one-sided design", x: 2, low: 14.78e3, high: 14.78e3},
			quote{name: "paper: original", x: 2, low: 16.52e3, high: 16.52e3})},
	{id: "003-10", title: "Overlap by amount of work", caption: "Overlap Test Results",
		paper: "The RDMA design is not affected by more computation; the original " +
			"design is.",
		claims: []claim{
			{says: "over TCP our epoch is ahead at every amount of work", chart: 1,
				of:   "ours",
				over: []string{"send/receive design"}, least: 1},
			{says: "over TCP work beside the transfer costs nothing", chart: 3,
				of: "ours", share: true, least: 90, why: kernelCopies},
			{says: "over RDMA work beside the transfer costs nothing", chart: 2,
				of: "ours", share: true, least: 90, why: copiesWhenPosted},
		},
		charts: append(windowCharts(chart{title: "16 puts of 64 KiB, work after each",
			yLabel: "time of an epoch", xLabel: "work after each put, us",
			kind: overNumber}, "overlap-time", false),
			windowCharts(chart{title: "Hidden of 16 puts of 64 KiB", yLabel: "hidden",
				xLabel: "work after each put, us", kind: overNumber, hidden: 16},
				"overlap-time", false)...)},
	{id: "003-11", title: "A late target", caption: "Process Skew Test Results",
		paper: "Process skew does not affect the RDMA design at all; the original " +
			"design drops significantly.",
		claims: []claim{
			{says: "over RDMA a late target costs nothing", of: "ours", base: "0",
				least: 0.9},
			{says: "over TCP a late target costs nothing", chart: 1, of: "ours",
				base: "0", least: 0.9, why: "The target's process receives what " +
					"comes for it, and it computes."},
			{says: "the send/receive design drops significantly", chart: 1,
				of: "send/receive design", base: "0", most: 0.5},
		},
		charts: windowCharts(chart{title: "16 puts of 64 KiB to a target that is late",
			yLabel: "bandwidth", xLabel: "the target is late by, ms", kind: overNumber},
			"skew-put", false)},
	{id: "003-12", title: "Several origins",
		caption: "Aggregated Bandwidth with Multiple Origin Processes",
		paper:   "Over 920 MB/s with few origins; 895 MB/s in the original design.",
		claims: []claim{
			{says: "over TCP ahead of the send/receive design by 920 to 895", chart: 1,
				of: "ours", over: []string{"send/receive design"},
				least: 920.0 / 895},
		},
		charts: quoted([]chart{
			byOrigins("origins", "16 puts of 64 KiB by each origin", "bandwidth of all",
				"rdma"),
			byOrigins("origins", "16 puts of 64 KiB by each origin", "bandwidth of all",
				"hosts")}, lineAt("paper: one-sided design", 920),
			lineAt("paper: original", 895))},
}

// quoted adds what the paper says to charts.
func quoted(all []chart, quotes ...quote) []chart {
	for i := range all {
		all[i].quotes = quotes
	}
	return all
}
