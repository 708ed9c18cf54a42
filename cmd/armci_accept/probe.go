// SPDX-License-Identifier: BSD-3-Clause

// Which transports a node can use. Each is probed by a process of its own, since a library of a
// network may crash or hang.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"libarmci/internal/config"
	"libarmci/internal/drivers"
	"libarmci/internal/ofi/libfabric"
)

// probeOption makes a process one that probes a transport; its name follows.
const probeOption = "-probe-transport"

// probed is what a process that probes prints.
type probed struct {
	Usable    bool
	Text      string
	Loaded    []string // files of libraries of networks
	Providers []string // of libfabric, if they were asked for
}

// providers asks for the providers of libfabric.
const providers = "providers"

// noProviders is the name of a fact: why libfabric has no provider.
const noProviders = "libfabric"

// probeAll probes TCP, RDMA, and the providers of libfabric that were asked for; all of them if
// nothing was. The error says why libfabric has none.
func probeAll(asked []string) (all []Probe, err error) {
	names := []string{"tcp", "rdma"}
	listed := probeAlone(providers)
	if !listed.Usable {
		err = errors.New(listed.Text)
	}
	for _, name := range listed.Providers {
		if name = "ofi:" + name; len(asked) == 0 || slices.Contains(asked, name) ||
			slices.Contains(asked, "ofi") {
			names = append(names, name)
		}
	}
	for _, name := range names {
		p := probeAlone(name)
		all = append(all, Probe{name, p.Usable, p.Text, p.Loaded})
	}
	return all, err
}

// probeAlone probes one transport in another process.
func probeAlone(name string) (p probed) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return probed{Text: err.Error()}
	}
	cmd := exec.CommandContext(ctx, self, probeOption, name)
	cmd.WaitDelay = time.Second
	p, err = answerOf(cmd)
	if ctx.Err() != nil {
		return probed{Text: "probing it takes too long"}
	}
	if err != nil {
		return probed{Text: fmt.Sprintf("probing it fails: %v", err)}
	}
	return p
}

// answerOf runs a process that probes. The error of one that crashes has its first line.
func answerOf(cmd *exec.Cmd) (p probed, err error) {
	text, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = fmt.Errorf("%w: %s", err, firstLine(string(exit.Stderr)))
	}
	return p, err
}

// probe is the process that probes a transport.
func probe(out io.Writer, name string) error {
	var p probed
	if name == providers {
		err := libfabric.Load()
		if err == nil {
			p.Providers, err = libfabric.Providers()
		}
		if p.Usable = err == nil; err != nil {
			p.Text = err.Error()
		}
	} else {
		t, err := parseTransport(name)
		if err != nil {
			return err
		}
		p.Text, err = tryTransport(t)
		if p.Usable = err == nil; err != nil {
			p.Text = err.Error()
		}
	}
	p.Loaded = loadedLibraries()
	return json.NewEncoder(out).Encode(p)
}

// unmeasured is a cost model as it is built in: to measure it takes a slow provider most of a
// minute.
const unmeasured = "ARMCI_COST_MODEL=wake=30000,0,0"

// tryTransport opens a transport here, and says what it would use.
func tryTransport(t transport) (notes string, err error) {
	environ := append(config.Passed(nil), t.settings()...)
	if t.name == "ofi" {
		environ = append(environ, unmeasured)
	}
	cfg, err := config.LoadFrom(environ)
	if err == nil {
		err = drivers.Check(cfg)
	}
	if err != nil {
		return "", err
	}
	for _, w := range drivers.New(cfg).Providers() {
		if w.Name == t.name {
			if err := w.Probe(); err != nil {
				return "", err
			}
			notes = w.Notes()
			if t.name == "ofi" {
				notes, _, _ = strings.Cut(notes, "; cost model")
			}
			return notes, nil
		}
	}
	return "", errors.New("there is no such transport")
}

var networkLibrary = regexp.MustCompile(
	`(?m) (/\S*/lib(?:ibverbs|rdmacm|fabric|mpi|mpich|mpi_abi)\.so\S*)$`)

// loadedLibraries are the files of libraries of networks and MPIs in this process.
func loadedLibraries() (all []string) {
	maps, _ := os.ReadFile("/proc/self/maps")
	for _, m := range networkLibrary.FindAllSubmatch(maps, -1) {
		if file := string(m[1]); !slices.Contains(all, file) {
			all = append(all, file)
		}
	}
	return all
}
