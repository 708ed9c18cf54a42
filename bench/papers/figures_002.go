// SPDX-License-Identifier: BSD-3-Clause

// Paper 002: get by scheme and by network, LU and NWChem.
package main

// schemes are those of paper 001, too.
var schemes = []line{
	lineOf("zero copy", "get-schemes", "get-schemes/zerocopy", "rdma-2x6"),
	lineOf("baseline", "get-schemes", "get-schemes/baseline", "rdma-2x6"),
	lineOf("pipelined", "get-schemes", "get-schemes/buffered", "rdma-2x6"),
}

var myrinet2000 = []paperFigure{
	{id: "002-3", title: "Get by scheme, and the models",
		caption: "Performance of three implementations of the ARMCI get operation",
		paper: "Baseline, pipelined, and pipelined with overlapped registration: up to " +
			"73.5 MB/s, 30 MB/s more than the baseline. The models predict 43.0, " +
			"51.7 and 60.5 MB/s.",
		claims: []claim{
			{says: "pipelining is ahead of the baseline", of: "pipelined",
				over: []string{"baseline"}, least: 1, why: oneCopy},
			{says: "with overlapped registration it is the best, by 30 MB/s of 73.5",
				of: "the same, overlapped", over: []string{"baseline", "pipelined"},
				least: 73.5 / 43.5, why: "This device copies when a request is " +
					"posted, so nothing is left to overlap."},
			{says: "what the library chooses is the best", of: "chosen",
				over: []string{"baseline", "pipelined", "the same, overlapped",
					"registered each time"}, least: 0.95, why: "The model " +
					"knows medians of the device, not of each size."},
			{says: "the model predicts the baseline", chart: 1, of: "baseline",
				over: []string{"model: two copies"}, least: 0.8, most: 1.25,
				why: "The target's memory is registered once and read in place: " +
					"there is one copy."},
			{says: "the model of one copy does", chart: 1, of: "baseline",
				over: []string{"model: one copy"}, least: 0.8, most: 1.25,
				why: "The model has no cost of a request, which counts when " +
					"short."},
			{says: "the model predicts overlapped registration", chart: 1,
				of: "overlapped", over: []string{"model: overlapped"}, least: 0.8,
				most: 1.25, why: "This device copies when a request is posted, " +
					"so " +
					"nothing is left to overlap."},
		},
		charts: []chart{
			{title: "Get by scheme over " + softRDMA, yLabel: "bandwidth",
				rate: true, quotes: []quote{lineAt("paper: overlapped", 73.5),
					lineAt("paper: baseline", 43.5)},
				lines: append(schemes[1:3:3],
					lineOf("the same, overlapped", "get-schemes",
						"get-schemes/overlap",
						"rdma-2x6"),
					lineOf("registered each time", "get-schemes",
						"get-schemes/register", "rdma-2x6"),
					lineOf("chosen", "get-schemes", "get-schemes/auto",
						"rdma-2x6"))},
			{title: "What the paper's models make of the rates measured here, and " +
				"the scheme", yLabel: "bandwidth", rate: true, quotes: []quote{
				lineAt("paper: model, two copies", 43.0),
				lineAt("paper: model, registration", 51.7),
				lineAt("paper: model, overlapped", 60.5)}, lines: []line{
				lineOf("baseline", "get-schemes", "get-schemes/baseline",
					"rdma-2x6"),
				lineOf("model: two copies", "get-schemes",
					"get-schemes/model-baseline", "rdma-2x6"),
				lineOf("model: one copy", "get-schemes",
					"get-schemes/model-baseline-here", "rdma-2x6"),
				lineOf("registration", "get-schemes", "get-schemes/register",
					"rdma-2x6"),
				lineOf("model: one registration", "get-schemes",
					"get-schemes/model-register-here", "rdma-2x6"),
				lineOf("overlapped", "get-schemes", "get-schemes/overlap",
					"rdma-2x6"),
				lineOf("model: overlapped", "get-schemes",
					"get-schemes/model-overlap", "rdma-2x6")}},
		}},
	{id: "002-4", title: "Get by transport",
		caption: "Performance of the ARMCI get operation using Myrinet and Ethernet",
		paper:   "Get over GM is ahead of TCP/IP on Myrinet and on Ethernet.",
		claims: []claim{
			{says: "shared memory is ahead of RDMA", of: "shared memory",
				over: []string{"RDMA in software"}, least: 1},
			{says: "RDMA is ahead of TCP", of: "RDMA in software",
				over: []string{"TCP"}, least: 1},
		},
		charts: []chart{{title: "Get by transport", yLabel: "bandwidth", rate: true,
			lines: []line{
				lineOf("shared memory", "transfer", "transfer/get", "node-2"),
				lineOf("RDMA in software", "transfer", "transfer/get", "rdma-2x1"),
				lineOf("TCP", "transfer", "transfer/get", "hosts-2x1")}}}},
	{id: "002-lu", title: "Blocked LU",
		caption: "SPLASH-2 LU, matrix size of 3072 and block size of 32, block cyclic " +
			"and block distributions (section 4, application study)",
		paper: "On several nodes the block distribution is better; GM is always better " +
			"than IP, which is poor with the block cyclic distribution.",
		claims: []claim{
			{says: "between nodes blocks are better than the cyclic distribution",
				of: "armci-block", over: []string{"armci-cyclic"}, least: 1,
				at: labels(far)},
			{says: "RDMA is ahead of IP, two nodes", of: "armci-block",
				base: "tcp 2x1", least: 1, at: []string{"rdma 2x1"}},
			{says: "RDMA is ahead of IP, four nodes", of: "armci-block",
				base: "tcp 4x1", least: 1, at: []string{"rdma 4x1"}},
		},
		charts: []chart{
			{title: "LU of 3072 x 3072, blocks of 32", yLabel: "time", kind: overPlaces,
				places: allPlaces,
				lines: versions("lu", "lu", "", "mpi", "mpi-block", "armci-cyclic",
					"armci-cyclic-nb", "armci-block", "armci-block-nb")},
			{title: "LU: communication of each rank, 4 hosts over TCP", yLabel: "time",
				kind: overRanks,
				lines: at("hosts-4x1", versions("lu", "lu", ":comm", "mpi",
					"mpi-block", "armci-cyclic", "armci-block"))},
		}},
	{id: "002-5", title: "NWChem, SiOSi3",
		caption: "Scaling of NWChem, DFT SiOSi3, from 1 to 16 processors",
		paper: "The program scales well from 1 to 16 processors; TCP over Myrinet is " +
			"much slower than over Ethernet.",
		claims: []claim{
			{says: "the program scales from one rank to two", of: "libarmci",
				base:  "node 1",
				least: 1.5, at: []string{"node 2"}},
			{says: "and over two hosts", of: "libarmci", base: "node 1", least: 1.5,
				at: []string{"tcp 2x1"}},
		},
		charts: []chart{
			{title: "NWChem, dft_siosi3", yLabel: "time", kind: overPlaces,
				places: []string{"node-1", "node-2", "node-4", "hosts-2x1",
					"hosts-2x2"}, lines: []line{
					{name: "libarmci", experiment: "nwchem",
						op: "nwchem/libarmci"},
					{name: "ARMCI-MPI", experiment: "nwchem-armci-mpi",
						op: "nwchem/armci-mpi"},
					{name: "ARMCI-MPI, osc/pt2pt",
						experiment: "nwchem-armci-mpi-hosts",
						op:         "nwchem/armci-mpi"}}},
			{title: "NWChem, dft_he2+ over " + softRDMA, kind: asTable,
				places: []string{"rdma-2x1"}, lines: []line{
					{name: "libarmci", experiment: "nwchem-rdma",
						op: "nwchem/libarmci"}}},
		}},
}
