// SPDX-License-Identifier: BSD-3-Clause

// Package startup starts core in this process, over the transports of this machine, for every
// shared library that carries its traffic over core: settings, crash reports, job, node. It prints
// why that is impossible, and warnings about settings. How often a library was initialised, and
// what the application is told, is the library's.
//
//	s := startup.Load(library)
//	rt, err := s.Start("ARMCI_Init", nil) // collective; the error has been printed
//	s.Announce(rt, true)
package startup

import (
	"errors"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"libarmci/internal/bootstrap"
	"libarmci/internal/config"
	"libarmci/internal/core"
	"libarmci/internal/drivers"
	"libarmci/internal/guest"
	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// Library is what messages say about the library that is started.
type Library struct {
	Name   string // such as "libarmci"
	Access string // the functions that access memory of other nodes
}

// Startup is one start of the library; a process may start it again after core's Finalize.
type Startup struct {
	Cfg      *config.Set // bad values are replaced by defaults; then Start fails
	library  Library
	problem  error // why this rank cannot take part
	platform *drivers.Platform
}

// Load reads the settings, and prepares the process: crash reports, and how Go uses processors and
// memory.
func Load(l Library) *Startup {
	guest.SetProcs(transport.Procs)
	debug.SetGCPercent(50)
	s := &Startup{library: l}
	s.Cfg, s.problem = config.LoadFrom(bootstrap.Environ())
	if s.problem == nil {
		s.problem = drivers.Check(s.Cfg)
	}
	if s.problem == nil && s.Cfg.Bool("ARMCI_BACKTRACE") {
		s.problem = guest.Watch()
	}
	return s
}

// Start joins the job and starts core, collectively: a rank that has a problem makes all fail. name
// is the function that the application has called, for the message that is printed before an error
// is returned. comm is the communicator whose processes are the ranks; nil: all processes of the
// job.
func (s *Startup) Start(name string, comm *uintptr) (*core.Runtime, error) {
	job, err := bootstrap.Start(s.Cfg, comm)
	if err != nil {
		if !Unconnected(err) {
			log.Errorf("%s: %v", name, err)
			return nil, err
		}
		toldUnconnected.Do(func() {
			// a program may go on, and call what starts the library again
			bootstrap.AwaitUnconnected(s.Cfg.Launcher())
			log.Lastf("%s: %v", name, err)
		})
		return nil, err
	}
	host, _ := os.Hostname()
	log.SetIdentity(job.Rank(), host)
	guest.Identify(job.Rank(), host)
	s.platform = drivers.New(s.Cfg)
	rt, err := s.startIn(job)
	if err != nil {
		refused(name, job, err)
		return nil, err
	}
	return rt, nil
}

var toldUnconnected sync.Once

// Unconnected tells whether Start has failed since the processes of the job cannot find each other.
func Unconnected(err error) bool { return errors.Is(err, bootstrap.ErrUnconnected) }

func (s *Startup) startIn(job bootstrap.Job) (*core.Runtime, error) {
	if s.problem != nil {
		return nil, core.Refuse(s.Cfg, job, s.problem)
	}
	return core.Start(s.Cfg, job, s.platform)
}

// refused prints why the job does not start, and leaves it when the reason has been printed: some
// launchers end all ranks with the first that leaves.
func refused(name string, job bootstrap.Job, err error) {
	var s *core.StartError
	agreed := errors.As(err, &s)
	if !agreed || s.Print {
		log.Lastf("%s: %v", name, err)
		log.AwaitReader(time.Second)
	}
	if agreed {
		_ = bootstrap.Barrier(job) // a rank that has left need not be waited for
	}
	job.Close()
}
