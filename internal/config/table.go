// SPDX-License-Identifier: BSD-3-Clause

// The table of settings: one row per variable that this library honours.
// It must hold data only; parsing lives in parse.go, former names in former.go,
// names of other ARMCI implementations in foreign.go.

package config

// Kind says how the value of a setting is written.
type Kind int

// The kinds of settings. KindAny is never parsed: it is what variables of
// other implementations have, which are accepted without effect.
const (
	KindBool     Kind = iota // y n yes no 1 0 true false on off
	KindInt                  // whole number, not negative
	KindSize                 // bytes: 4096, 64k, 1m, 2g, 16t (powers of 1024)
	KindDuration             // 5ms, 2s, 1m30s
	KindString               // any text
	KindChoice               // one of Row.Choices
	KindAddress              // virtual address, hexadecimal: 0x400000000000
	KindAny                  // not parsed
)

// Class is the kind of reader that a setting is for.
type Class int

// The classes of settings.
const (
	ClassUser   Class = iota // set by users
	ClassExpert              // for tests and measurements: users are not expected to need it
	ClassJob                 // set by armcirun for the ranks it starts, never by hand
	// former name of a setting: still works, with a warning (former.go)
	ClassFormer
	ClassForeign // of another ARMCI implementation: accepted, no effect
)

// Row describes one setting.
type Row struct {
	Name    string
	Kind    Kind
	Default string // as it would be written in the environment; "" is unset
	Unit    string // of the value; "" where there is none
	Doc     string // what it does, in sentences of one line
	When    string // ends a sentence "Set it if ..."; "" for settings of class job
	Choices []string
	Class   Class
	// Least and Most bound a number, as they would be written in the environment; "" is no
	// bound.
	Least, Most string
	// Auto is what the default "auto" stands for on each network, which then must be named by
	// For to read the setting.
	Auto map[string]string
	// Former names by network: they set the setting for that network alone.
	Former map[string]string
}

var table = []Row{
	{Name: "ARMCI_VERBOSE", Kind: KindBool, Default: "n",
		Doc: "Prints one line at initialisation: launcher, ranks, nodes, transport, " +
			"arena and fast path. Informational messages are printed, too.",
		When: "you want to see which transport a job uses"},
	{Name: "ARMCI_ERRORS", Kind: KindChoice, Default: "auto",
		Choices: []string{"auto", "return", "abort"},
		Doc: "What a wrong argument of a call does. return: the call returns the error " +
			"code of the header. abort: the job ends with one line. auto: abort " +
			"under the ARMCI-MPI ABI, else return.",
		When: "a program ignores error codes (abort)"},
	{Name: "ARMCI_FASTPATH", Kind: KindBool, Class: ClassExpert, Default: "y",
		Doc: "Completes plain calls in C (the fast path), without entering the " +
			"library's Go code.",
		When: "you suspect the fast path of a fault (n), or measure what it saves"},
	{Name: "ARMCI_STATS", Kind: KindBool, Default: "n",
		Doc: "Counts calls, bytes and time, and prints tables at finalize. armci_info " +
			"-s shows them while the job runs.",
		When: "you ask where the time of a program goes"},
	{Name: "ARMCI_TRACE", Kind: KindString, Default: "n",
		Doc: "A file name: begin and end of each call are written to it, in Chrome's " +
			"trace format, which Perfetto reads. y: each call is a printed line, and " +
			"the fast path is off.",
		When: "the order of calls matters, or the last one before a failure (y)"},
	{Name: "ARMCI_TRACE_LIMIT", Kind: KindSize, Class: ClassExpert, Least: "68k", Default: "1g",
		Unit: "bytes",
		Doc: "Largest file that a rank writes for ARMCI_TRACE. Later calls are left " +
			"out, and their number is printed.",
		When: "a long run is to be traced to its end, or the disk is small"},
	{Name: "ARMCI_BACKTRACE", Kind: KindBool, Default: "y",
		Doc: "Reports a crash inside the library with the rank, the host, and the C and " +
			"Go functions that led to it.",
		When: "the program repairs faults in a signal handler of its own (n)"},
	{Name: "ARMCI_SPIN", Kind: KindInt, Class: ClassExpert, Most: "1000000000", Default: "0",
		Unit: "polls",
		Doc: "How often a waiting rank of a node looks before it yields its core. 0: " +
			"for about as long as a wake-up takes, and hardly at all with more ranks " +
			"than cores.",
		When: "waiting itself is measured or tested"},
	{Name: "ARMCI_NODE", Kind: KindString,
		Doc: "Name of a pretended node. Ranks with different names behave as if they " +
			"were on different hosts.",
		When: "traffic between nodes is to be tested on one host, and armcirun -nodes " +
			"cannot be used"},
	{Name: "ARMCI_ALONE", Kind: KindBool, Class: ClassExpert, Default: "n",
		Doc: "y: the variables of a launcher are ignored. The process is a job of one " +
			"rank, or of the processes of its MPI. Under armcirun, the MPI of each " +
			"rank may then be a job of one process.",
		When: "a rank of an MPI job starts the program as a job of its own"},
	{Name: "ARMCI_TRANSPORT", Kind: KindChoice, Default: "auto",
		Choices: []string{"auto", "rdma", "ofi", "tcp"},
		Doc: "Transport between nodes: rdma (verbs), ofi (libfabric) or tcp. auto: the " +
			"first of these that every rank can use.",
		When: "transports are compared, or one of them fails"},
	{Name: "ARMCI_TIMEOUT", Kind: KindDuration, Least: "100ms", Default: "10s",
		Former: formerly("TIMEOUT"),
		Doc: "Time after which a node that does not answer is given up. The job then " +
			"ends.",
		When: "hosts or their network may pause for longer without being lost"},
	{Name: "ARMCI_RECONNECT", Kind: KindBool, Class: ClassExpert, Default: "y",
		Doc: "A connection over TCP or RDMA that is lost while both processes live is " +
			"made again within ARMCI_TIMEOUT, and the job goes on. n: its loss ends " +
			"the job.",
		When: "a job is to end at the first fault of the network, or machines in " +
			"between end TCP connections themselves"},
	{Name: "ARMCI_POLL", Kind: KindDuration, Most: "1m", Default: "auto",
		Auto:   map[string]string{"tcp": "20us", "rdma": "200us", "ofi": "200us"},
		Former: formerly("POLL"),
		Doc: "Longest time for which a data server polls for the next request before it " +
			"sleeps. auto: 20us over TCP, 200us over RDMA and libfabric. There it " +
			"polls only while requests come that soon after each other.",
		When: "latency matters more than idle processors (more), or the other way round " +
			"(less)"},
	{Name: "ARMCI_EAGER", Kind: KindSize, Most: "64k", Default: "8k", Unit: "bytes",
		Former: formerly("EAGER"),
		Doc: "Largest put or accumulate to another node that is copied at the call. The " +
			"caller may then change its memory at once. Over RDMA and libfabric: " +
			"puts only, of at most 16k.",
		When: "many small nonblocking stores wait for completion (more), or the copies " +
			"cost time (less)"},
	{Name: "ARMCI_BUFFER", Kind: KindSize, Least: "1m", Default: "16m", Unit: "bytes",
		Former: formerly("BUFFER"),
		Doc: "Most memory of a process in buffers for other nodes, which is pinned over " +
			"RDMA and libfabric. Over these, a process that runs no data server " +
			"takes a quarter.",
		When: "memory, or memory that may be pinned (ulimit -l), is scarce"},
	{Name: "ARMCI_CONNECTIONS", Kind: KindInt, Class: ClassExpert, Most: "1000000",
		Default: "4096", Unit: "connections",
		Doc: "Connections that a data server keeps, and as many that a process keeps to " +
			"other nodes. Beyond that, idle ones are closed, and made again at their " +
			"next use. Over TCP, a quarter of RLIMIT_NOFILE at most. 0: any number.",
		When: "ARMCI_STATS reports many connections made again"},
	{Name: "ARMCI_SHM_ARENA", Kind: KindSize, Most: "128t", Default: "16t", Unit: "bytes",
		Doc: "Address space that a node reserves for the memory its ranks share (the " +
			"arena). No memory is used before it is allocated. Less is reserved " +
			"where RLIMIT_AS or RLIMIT_FSIZE allows less.",
		When: "initialisation says that it is too small or cannot be had, or the program " +
			"runs in an emulator"},
	{Name: "ARMCI_SHM_BASE", Kind: KindAddress, Class: ClassExpert, Default: "0x400000000000",
		Doc:  "Address to which the arena is mapped, unless something else is there.",
		When: "something else in the process needs that address"},
	{Name: "ARMCI_SHM_KEEP", Kind: KindSize, Default: "256m", Unit: "bytes",
		Doc: "Freed memory, per rank, that keeps its pages for the next allocation.",
		When: "large arrays are freed and allocated in turns (more), or memory is " +
			"scarce (less)"},
	{Name: "ARMCI_SHM_MARGIN", Kind: KindSize, Default: "256m", Unit: "bytes",
		Doc: "Memory that allocations always leave to the machine. Unless it is set, it " +
			"is never more than an eighth of the machine's memory.",
		When: "other programs on the machine need more"},
	{Name: "ARMCI_SHM_VM", Kind: KindBool, Class: ClassExpert, Default: "y",
		Doc: "Has the kernel copy (process_vm_readv) where a rank accesses memory of " +
			"another rank of its node that is not in the arena. n: a thread of the " +
			"owner copies, as where the kernel refuses.",
		When: "you suspect the kernel's copy of a fault, or of being slow (n)"},
	{Name: "ARMCI_CAF_ACCESSORS", Kind: KindChoice, Class: ClassExpert, Default: "caller",
		Choices: []string{"caller", "target"},
		Doc: "Which image of a node runs an access to a derived type, as gfortran 15 " +
			"and later compile it. caller: the image that accesses. target: the " +
			"image accessed, which takes longer.",
		When: "components are pointers to memory that is not a coarray's (target)"},
	{Name: "ARMCI_TCP_SERVERS", Kind: KindInt, Class: ClassExpert, Most: "4096", Default: "0",
		Unit: "data servers",
		Doc: "Number of data servers of a node, which its first ranks run. 0: one in " +
			"each rank, or fewer where the job would need more connections than " +
			"ARMCI_CONNECTIONS.",
		When: "large jobs are tested, or processors are scarce"},
	{Name: "ARMCI_TCP_INTERFACE", Kind: KindString,
		Doc: "Network interface that leads to the other hosts, by its name (eth0) or " +
			"network (10.0.0.0/8). Unset: the one by which the kernel would reach " +
			"them.",
		When: "hosts have several networks, and the wrong one is used"},
	{Name: "ARMCI_TCP_PORTS", Kind: KindString,
		Doc:  "Ports at which data servers may listen, such as 7000-7100. Unset: any.",
		When: "a firewall between the hosts leaves some ports open"},
	{Name: "ARMCI_TCP_CONGESTION", Kind: KindString, Class: ClassExpert, Default: "auto",
		Doc: "Congestion control of connections, by the kernel's name. auto: the " +
			"system's, but cubic or reno in the place of one that paces (bbr).",
		When: "the network asks for a certain one, such as dctcp"},
	{Name: "ARMCI_RDMA_DEVICE", Kind: KindString,
		Doc: "RDMA device (mlx5_0), or one of its ports (mlx5_0:1). Unset: one near the " +
			"rank's cores; ranks of a node take several such in turn.",
		When: "a host has several, and another one is to be used"},
	{Name: "ARMCI_RDMA_GID", Kind: KindString,
		Doc: "Index of the port's address (GID) in the device's table. Unset: the " +
			"library chooses, RoCE v2 and IPv4 first.",
		When: "a port has several addresses (VLANs), and the hosts reach each other by " +
			"another"},
	{Name: "ARMCI_CONTIGUOUS", Kind: KindChoice, Class: ClassExpert, Default: "auto",
		Former: formerlyRDMA("ARMCI_RDMA_CONTIGUOUS"),
		Choices: []string{"auto", "buffered", "zerocopy", "baseline", "register",
			"overlap"},
		Doc: "How contiguous transfers over RDMA and libfabric use the caller's memory. " +
			"buffered: copied through registered buffers. zerocopy: registered, and " +
			"kept so. For comparison, baseline: through one buffer after the other. " +
			"register: registered for each transfer. overlap: the same, while the " +
			"transfer before travels. auto: by size and kind of memory.",
		When: "the protocols are compared, or one is suspected of a fault"},
	{Name: "ARMCI_STRIDED", Kind: KindChoice, Class: ClassExpert, Default: "auto",
		Former:  formerlyRDMA("ARMCI_RDMA_STRIDED"),
		Choices: []string{"auto", "nic", "host", "host-atomic", "push"},
		Doc: "How strided and vector transfers over RDMA and libfabric travel. nic: a " +
			"request of the device for each row. host: rows are packed into " +
			"messages. host-atomic: into buffers that the origin claims by atomics " +
			"(libfabric: as host). push: the target's data server writes the rows of " +
			"a get, and puts are as in auto. auto: by a cost model, which armci_info " +
			"-d prints.",
		When: "the protocols are compared, or one is suspected of a fault"},
	{Name: "ARMCI_COST_MODEL", Kind: KindString, Class: ClassExpert, Default: "auto",
		Former: formerlyRDMA("ARMCI_RDMA_MODEL"),
		Doc: "Parameters of the cost model for rows, as armci_info -d prints them. " +
			"Those left out have the values built into the code. auto: measured by " +
			"the first transfer that needs them.",
		When: "a run is to choose protocols as another one did"},
	{Name: "ARMCI_RDMA_ACC", Kind: KindChoice, Class: ClassExpert, Default: "server",
		Choices: []string{"server", "device"},
		Doc: "Which side accumulates in memory of another node. server: the data server " +
			"there. device: the origin, by atomics, reads and writes of the devices, " +
			"without a processor of the target. All ranks must agree.",
		When: "the data server's processor is needed by the program (device)"},
	{Name: "ARMCI_RDMA_SYSFS", Kind: KindString, Class: ClassExpert,
		Doc: "Directory in which RDMA devices are looked for. Unset: " +
			"/sys/class/infiniband.",
		When: "a device in software is tested"},
	{Name: "ARMCI_PIN", Kind: KindSize, Default: "0", Unit: "bytes",
		Former: formerlyRDMA("ARMCI_RDMA_PIN"),
		Doc: "Most memory of the program that a process keeps registered (pinned) " +
			"between transfers over RDMA and libfabric. 0: half of the machine's " +
			"memory divided by the ranks on it, and at most a quarter of " +
			"RLIMIT_MEMLOCK.",
		When: "other libraries pin memory, too (less), or large arrays are used again " +
			"and again (more)"},
	{Name: "ARMCI_OFI_PROVIDER", Kind: KindString,
		Doc: "Provider of libfabric for ARMCI_TRANSPORT=ofi, as fi_info names it " +
			"(tcp;ofi_rxm). Unset: the best one of the networks that the kernel " +
			"reports.",
		When: "providers are compared, or the kernel does not report the network"},
	{Name: "ARMCI_OFI_DOMAIN", Kind: KindString, Class: ClassExpert,
		Doc: "Domain of the provider, an interface or device, as fi_info names it. " +
			"Unset: the library chooses.",
		When: "a host has several, and another one is to be used"},
	{Name: "ARMCI_PMI", Kind: KindChoice, Class: ClassExpert, Default: "auto",
		Choices: []string{"auto", "pmix", "pmi2", "pmi1", "n"},
		Doc: "Interface to a launcher by which ranks without MPI find each other: pmix " +
			"(PMIx), pmi2 (PMI-2), pmi1 (PMI-1), or n (none). With one of the first " +
			"three, a program that is not linked with MPI does not load the " +
			"launcher's. auto: what the launcher offers.",
		When: "a launcher offers one that does not work"},
	{Name: "ARMCI_JOB_ADDR", Kind: KindString, Class: ClassJob,
		Doc: "Address of armcirun's job server: an abstract unix socket, or host:port."},
	{Name: "ARMCI_JOB_RANK", Kind: KindInt, Default: "0", Class: ClassJob,
		Doc: "Rank of this process."},
	{Name: "ARMCI_JOB_SIZE", Kind: KindInt, Default: "1", Unit: "ranks", Class: ClassJob,
		Doc: "Number of ranks of the job."},
	{Name: "ARMCI_JOB_SECRET", Kind: KindString, Class: ClassJob,
		Doc: "Proof to the job server that a process belongs to the job, in " +
			"hexadecimal. It is never printed."},
}

// lookup finds the row of a name, or nil.
func lookup(name string) *Row {
	for _, rows := range [][]Row{table, former, foreign} {
		for i := range rows {
			if rows[i].Name == name {
				return &rows[i]
			}
		}
	}
	return nil
}
