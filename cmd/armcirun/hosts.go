// SPDX-License-Identifier: BSD-3-Clause

// The part of the command line that is about other hosts.

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"libarmci/internal/bootstrap/launch"
	"libarmci/internal/config"
	"libarmci/internal/hostnet"
)

// serveFlag makes this program the proxy of a host; its launch message comes on
// standard input. Not for users.
const serveFlag = "-serve"

const agent = "ssh"

// hostFlags defines the flags; the function it returns reads what they said.
func hostFlags(flags *flag.FlagSet, r *launch.Remote) func(given map[string]bool) error {
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
	return func(given map[string]bool) (err error) {
		switch {
		case given["hosts"] && given["hostfile"]:
			return errors.New("-hosts and -hostfile: only one of them")
		case given["hosts"]:
			r.Hosts, err = launch.ParseHosts(*list)
		case given["hostfile"]:
			r.Hosts, err = readHosts(*file)
		default:
			return nil
		}
		if err != nil {
			return fmt.Errorf("hosts: %w", err)
		}
		if r.Agent = strings.Fields(*command); len(r.Agent) == 0 {
			return errors.New("-agent: empty")
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		r.Proxy = []string{self, serveFlag}
		r.Env = config.Passed(names)
		return parsePorts(*ports, &r.Ports)
	}
}

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

func parsePorts(text string, p *hostnet.Ports) error {
	if text == "" {
		return nil
	}
	var err error
	if *p, err = hostnet.ParsePorts(text); err != nil || !strings.Contains(text, "-") {
		return fmt.Errorf("-ports %s: must be LOW-HIGH, of 1..65535", text)
	}
	return nil
}
