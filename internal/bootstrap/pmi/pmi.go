// SPDX-License-Identifier: BSD-3-Clause

// Package pmi asks a launcher, by PMI-1, PMI-2 or PMIx, which rank of which job this process is,
// and lets the ranks exchange short strings. PMI-1 is spoken here, over the launcher's socket. The
// libraries of the others are found at run time, never linked: libpmi2.so.0 and libpmix.so.2.
package pmi

import (
	"errors"
	"fmt"
	"time"
)

// MaxValue is the most bytes of a value. Values have no byte 0.
const MaxValue = 1023

// Interface is one of those to a launcher.
type Interface int

// The interfaces.
const (
	PMI1 Interface = iota
	PMI2
	PMIx
)

func (i Interface) String() string { return [...]string{"PMI-1", "PMI-2", "PMIx"}[i] }

// Server is where a launcher answers to PMI-1, and what it has said in the environment. The
// libraries of PMI-2 and PMIx look there themselves.
type Server struct {
	// Address is the number of a socket that this process has inherited (PMI_FD), or the
	// launcher's host:port (PMI_PORT).
	Address string
	// Rank is that of this process, or what the launcher at a port calls it (PMI_ID).
	Rank int
	Size int // ranks of the job; not used with a port
	// Timeout limits each answer but that to Fence.
	Timeout time.Duration
}

// ErrUnavailable is the error of an interface that the launcher does not offer, or that has no
// library here. The launcher can be asked by another one then.
var ErrUnavailable = errors.New("the launcher does not offer this interface")

// unavailable is why an interface is.
type unavailable string

func (u unavailable) Error() string     { return string(u) }
func (u unavailable) Is(err error) bool { return err == ErrUnavailable }

// Client is this process as a rank of the launcher's job. All methods but Abort are for one thread
// at a time.
type Client struct {
	Interface
	Rank, Size int
	Local      int // ranks on this host, 0 if not known
	job        exchange
}

// exchange is one interface, once the job has been joined.
type exchange interface {
	put(key, value string) error
	fence() error
	get(rank int, key string) (string, error)
	abort(status int, message string)
}

// Open joins the job; a process that opens it again gets the same job. It is left at exit.
func Open(i Interface, s Server) (*Client, error) {
	open := openLibrary
	if i == PMI1 {
		open = openWire
	}
	c, err := open(i, s)
	if err != nil {
		return nil, err
	}
	if c.Rank < 0 || c.Rank >= c.Size {
		return nil, fmt.Errorf("the launcher calls this rank %d of %d", c.Rank, c.Size)
	}
	return c, nil
}

// Put stores a value of at most MaxValue bytes under a key that no rank uses again.
func (c *Client) Put(key, value string) error {
	if len(value) > MaxValue {
		return fmt.Errorf("%v: a value of %d bytes is too long", c.Interface, len(value))
	}
	return c.named(c.job.put(key, value))
}

// Fence is collective: what any rank has put before can be got after it. It lasts until all ranks
// have called it; the launcher ends the job, or the connection, when one of them ends.
func (c *Client) Fence() error { return c.named(c.job.fence()) }

// Get returns what a rank has put.
func (c *Client) Get(rank int, key string) (string, error) {
	value, err := c.job.get(rank, key)
	return value, c.named(err)
}

// Abort has the launcher end all ranks, if it can, and this process has not left. It may return.
func (c *Client) Abort(status int, message string) {
	if inJob() {
		c.job.abort(status, message)
	}
}

func (c *Client) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%v: %w", c.Interface, err)
}
