// SPDX-License-Identifier: BSD-3-Clause

// What a caller in a test of faults expects: that operations end, and that a loss is told once or
// not at all.
package transporttest

import (
	"strings"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// Caller is who expects it.
type Caller struct {
	T        testing.TB
	Patience time.Duration // far more than anything takes
	Losses   chan string   // reasons that Lost was told
}

// Started starts a transfer with peer 1 and gives what it ends with.
func Started(start func(transport.Peer, *transport.Xfer) error, x *transport.Xfer) chan error {
	done := make(chan error, 1)
	x.Done = func(err error) { done <- err }
	go func() {
		if err := start(1, x); err != nil {
			done <- err
		}
	}()
	return done
}

// Within waits for an end that must come.
func (c *Caller) Within(done chan error) error {
	c.T.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(c.Patience):
		c.T.Fatal("the operation hangs")
		return nil
	}
}

// ExpectLoss waits for the report of a loss with these words; there is only one.
func (c *Caller) ExpectLoss(words string) {
	c.T.Helper()
	select {
	case got := <-c.Losses:
		if !strings.Contains(got, words) {
			c.T.Errorf("the loss is reported as %q, expected %q", got, words)
		}
	case <-time.After(c.Patience):
		c.T.Error("no loss was reported")
	}
	c.ExpectNoLoss()
}

// ExpectNoLoss looks whether a loss has been reported.
func (c *Caller) ExpectNoLoss() {
	c.T.Helper()
	select {
	case got := <-c.Losses:
		c.T.Errorf("a loss was reported: %s", got)
	default:
	}
}
