// SPDX-License-Identifier: BSD-3-Clause

// Command armcirun starts a program on several ranks, of this machine or of
// others, without MPI. Here and in hosts.go is only its command line; package
// launch does the work.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"time"

	"libarmci/internal/bootstrap/launch"
	"libarmci/internal/config"
)

const usage = `usage: armcirun [-n RANKS] [-ppn RANKS]
                [-nodes NODES | -hosts HOST,... | -hostfile FILE]
                [-agent COMMAND] [-x NAME[=VALUE]]... [-interface WHERE] [-ports LOW-HIGH]
                [-map block|cyclic] [-bind auto|none|core|socket] [-label] [-timeout TIME]
                [-gdb RANK] [-v] [--] PROGRAM [ARGUMENT]...
       armcirun -version | -h

Starts RANKS copies of PROGRAM as one ARMCI job: on this machine (default 1), or
on other hosts (default as many as these take). In a job of Slurm, PBS, LSF or Grid Engine
the hosts are the job's, and the agent its own; -nodes keeps the ranks here.

  -n RANKS         number of ranks (also -np, and -n4)
  -ppn RANKS       ranks for each node or host
  -nodes NODES     pretend NODES hosts: ARMCI_NODE=node0, node1, ...
  -hosts HOST,...  start the ranks on these hosts; HOST may be HOST:RANKS, and stand for several:
                   n[1-4,7]
  -hostfile FILE   on those of FILE: a line for each, "HOST [slots=RANKS] [max_slots=RANKS]"
  -agent COMMAND   what brings a command to a host: COMMAND HOST command... (ssh, or the batch
                   system's)
  -x NAME[=VALUE]  also give the ranks on hosts this variable (beside ARMCI_* and LD_LIBRARY_PATH)
  -interface WHERE where hosts connect to armcirun: name, address or network in CIDR notation
  -ports LOW-HIGH  ports to listen on for that
  -map HOW         how ranks are dealt out to nodes or hosts: block (0 1 2 3 go to 0 0 1 1), or
                   cyclic (0 1 0 1)
  -bind HOW        where each rank may run: auto (the default: on cores of its own, where there are
                   enough that nothing else is bound to), none (anywhere), core (on one core of
                   its own), socket (ranks in blocks to sockets)
  -gdb RANK        run this rank under gdb, which reads the standard input; Ctrl-C is gdb's
  -label           output by whole lines, each behind the rank that wrote it, as [3]
  -timeout TIME    end the job after that, with exit status 124: 90s, 5m, 1h30m
  -v               print when ranks start and end
  -version         print the version
  -h               print this

Rank 0 reads the standard input (with -gdb, gdb); the output of all ranks is left as it is, unless
-label is given. When a rank fails, the others are ended: they have 1 s to notice it, 2 s after
SIGTERM, then SIGKILL. Signals are forwarded. The exit status is that of the rank that failed
first, 128 and the number of the signal that killed it, 126 or 127 if PROGRAM cannot be started,
2 for a wrong command line.
`

// Exit statuses of our own, as shells use them.
const (
	statusUsage     = 2
	statusCannotRun = 126
	statusNotFound  = 127
	mostRanks       = 4096
)

var errVersion = errors.New("the version is wanted")

// main runs a job and exits with its status, or is the proxy of a host (serveFlag).
func main() {
	if len(os.Args) == 2 && os.Args[1] == serveFlag {
		os.Exit(launch.Serve(os.Stderr))
	}
	options, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		return
	}
	if errors.Is(err, errVersion) {
		fmt.Printf("armcirun (libarmci) %s\n", config.Version)
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "armcirun: %v; see armcirun -h\n", err)
		os.Exit(statusUsage)
	}
	os.Exit(run(options))
}

// parse reads the command line, and derives the numbers of ranks and nodes that it leaves out.
func parse(args []string) (launch.Options, error) {
	streams := launch.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	o := launch.Options{Streams: streams, Report: os.Stderr}
	flags := flag.NewFlagSet("armcirun", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.IntVar(&o.Ranks, "n", 0, "")
	flags.IntVar(&o.Ranks, "np", 0, "")
	flags.IntVar(&o.Remote.PerHost, "ppn", 0, "")
	flags.IntVar(&o.Nodes, "nodes", 0, "")
	flags.BoolVar(&o.Verbose, "v", false, "")
	flags.BoolVar(&o.Label, "label", false, "")
	placement := flags.String("map", "block", "")
	timeout := flags.String("timeout", "", "")
	flags.StringVar(&o.Bind, "bind", launch.BindAuto, "")
	debug := flags.Int("gdb", 0, "")
	version := flags.Bool("version", false, "")
	hosts := hostFlags(flags, &o.Remote)
	if err := flags.Parse(separated(flags, args)); errors.Is(err, flag.ErrHelp) {
		return o, err
	} else if err != nil {
		return o, reworded(err)
	}
	if *version {
		return o, errVersion
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	o.Argv = flags.Args()
	err := conduct(&o, given, *placement, *timeout)
	slots := 0
	if err == nil {
		slots, err = hosts(given)
	}
	if err == nil {
		err = count(&o, given, slots)
	}
	if err == nil && given["gdb"] {
		o.Debug = debug
		err = debugs(&o)
	}
	if err == nil && len(o.Argv) == 0 {
		err = errors.New("no program given")
	}
	return o, err
}

// conduct reads how ranks are placed, and how long the job may take.
func conduct(o *launch.Options, given map[string]bool, placement, timeout string) (err error) {
	if placement != "block" && placement != "cyclic" {
		return fmt.Errorf("-map %s: must be block or cyclic", placement)
	}
	o.Cyclic = placement == "cyclic"
	if !slices.Contains([]string{launch.BindAuto, launch.BindNone, launch.BindCore,
		launch.BindSocket}, o.Bind) {
		return fmt.Errorf("-bind %s: must be auto, none, core or socket", o.Bind)
	}
	if given["timeout"] {
		if o.Timeout, err = time.ParseDuration(timeout); err != nil || o.Timeout <= 0 {
			return fmt.Errorf("-timeout %q: must be a time such as 90s or 5m", timeout)
		}
	}
	return nil
}

// debugs readies a job of which one rank is debugged. Its node does not answer while it is stopped:
// no other gives it up for that.
func debugs(o *launch.Options) error {
	switch rank := *o.Debug; {
	case rank < 0 || rank >= o.Ranks:
		return fmt.Errorf("-gdb %d: must be 0..%d, a rank", rank, o.Ranks-1)
	case o.Label:
		return errors.New("-gdb and -label: only one of them, since gdb's prompt is no " +
			"line")
	}
	if !config.Given("ARMCI_TIMEOUT") {
		o.Env = append(o.Env, "ARMCI_TIMEOUT="+debugTimeout)
	}
	return nil
}

// debugTimeout is longer than a session of debugging lasts.
const debugTimeout = "24h"

// count settles how many ranks there are, and on how many nodes. A batch system may have given
// slots for ranks here.
func count(o *launch.Options, given map[string]bool, slots int) error {
	r := &o.Remote
	switch {
	case given["ppn"] && (r.PerHost < 1 || r.PerHost > mostRanks):
		return fmt.Errorf("-ppn %d: must be 1..%d", r.PerHost, mostRanks)
	case given["n"] || given["np"]:
	case len(r.Hosts) > 0:
		o.Ranks = r.Slots()
	case given["ppn"]:
		o.Ranks = max(o.Nodes, 1) * r.PerHost
	default:
		o.Ranks = max(slots, 1)
	}
	if o.Ranks < 1 || o.Ranks > mostRanks {
		return fmt.Errorf("-n %d: must be 1..%d", o.Ranks, mostRanks)
	}
	if len(r.Hosts) > 0 {
		if given["nodes"] {
			return errors.New("-nodes pretends hosts, -hosts and -hostfile name real " +
				"ones: only one of them")
		}
		return nil
	}
	if given["ppn"] {
		nodes := (o.Ranks + r.PerHost - 1) / r.PerHost
		if given["nodes"] && (o.Nodes != nodes || o.Ranks != nodes*r.PerHost) {
			return fmt.Errorf("%d ranks are not %d nodes of %d", o.Ranks, o.Nodes,
				r.PerHost)
		}
		o.Nodes, o.PerNode = nodes, r.PerHost
	}
	if o.Nodes < 0 || o.Nodes > o.Ranks {
		return fmt.Errorf("-nodes %d: must be 1..%d, the number of ranks", o.Nodes, o.Ranks)
	}
	return nil
}

// run starts a job, passes signals on to it, and returns its status.
func run(o launch.Options) int {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, launch.Signals()...)
	o.Signals = signals
	job, err := launch.Start(o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "armcirun: %v\n", err)
		return statusOf(err)
	}
	go func() {
		for s := range signals {
			job.Signal(s)
		}
	}()
	status := job.Wait()
	if status == statusNotFound {
		if where := missingLibrary(o.Argv[0]); where != "" {
			fmt.Fprintf(os.Stderr, "armcirun: %s\n", where)
		}
	}
	return status
}

func statusOf(err error) int {
	if stopped := (launch.Interrupted{}); errors.As(err, &stopped) {
		return 128 + int(stopped.Signal)
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return statusNotFound
	}
	return statusCannotRun
}
