// SPDX-License-Identifier: BSD-3-Clause

// The part of the command line that is about other hosts.

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"libarmci/internal/bootstrap/batch"
	"libarmci/internal/bootstrap/launch"
	"libarmci/internal/config"
	"libarmci/internal/sys"
)

// serveFlag makes this program the proxy of a host; its launch message comes on
// standard input. Not for users.
const serveFlag = "-serve"

const agent = "ssh"

// hostFlags defines the flags; the function it returns reads what they said, or, if they name no
// host, what a batch system says. slots is how many ranks that gives to this host, if to no other;
// 0: as many as are asked for.
func hostFlags(flags *flag.FlagSet, r *launch.Remote) func(given map[string]bool) (slots int,
	err error) {
	var names []string
	list := flags.String("hosts", "", "")
	file := flags.String("hostfile", "", "")
	command := flags.String("agent", agent, "")
	ports := flags.String("ports", "", "")
	flags.StringVar(&r.Interface, "interface", "", "")
	flags.Func("x", "", func(name string) error {
		names = append(names, name)
		return nil
	})
	return func(given map[string]bool) (slots int, err error) {
		switch {
		case given["hosts"] && given["hostfile"]:
			return 0, errors.New("-hosts and -hostfile: only one of them")
		case given["hosts"]:
			r.Hosts, err = launch.ParseHosts(*list)
		case given["hostfile"]:
			r.Hosts, err = readHosts(*file)
		}
		if err != nil {
			return 0, fmt.Errorf("hosts: %w", err)
		}
		r.Agent = strings.Fields(*command)
		if !given["nodes"] { // else they are pretended
			slots, err = allocated(r, given["agent"])
		}
		if err != nil || len(r.Hosts) == 0 {
			return slots, err
		}
		if len(r.Agent) == 0 {
			return 0, errors.New("-agent: empty")
		}
		self, err := os.Executable()
		if err != nil {
			return 0, err
		}
		r.Proxy = []string{self, serveFlag}
		r.Env = config.Passed(names)
		if s, err := config.LoadFrom(r.Env); err == nil { // else the ranks say so
			r.Outage = s.Duration("ARMCI_TIMEOUT")
		}
		return 0, parsePorts(*ports, &r.Ports)
	}
}

// allocated takes the hosts of a batch job where none are named, and the agent of its batch system
// for hosts that are its.
func allocated(r *launch.Remote, agentGiven bool) (slots int, err error) {
	named := len(r.Hosts) > 0
	a, err := batch.Current()
	if err != nil && !named {
		return 0, fmt.Errorf("%w (-hosts or -nodes says where ranks run)", err)
	}
	if a == nil || err != nil {
		return 0, nil
	}
	if !named && a.IsThisHost() {
		return a.Hosts[0].Slots, nil
	}
	if !named {
		r.Hosts, r.Source = a.Hosts, a.Variable
	}
	if !agentGiven && a.Agent != nil && a.Has(r.Hosts) {
		r.Agent, r.NoShell = a.Agent, a.NoShell
	}
	return 0, nil
}

// readHosts reads a file of hosts; errors name the file.
func readHosts(name string) ([]launch.Host, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	hosts, err := launch.ReadHosts(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return hosts, nil
}

func parsePorts(text string, p *sys.Ports) error {
	if text == "" {
		return nil
	}
	var err error
	if *p, err = sys.ParsePorts(text); err != nil || !strings.Contains(text, "-") {
		return fmt.Errorf("-ports %s: must be LOW-HIGH, of 1..65535", text)
	}
	return nil
}
