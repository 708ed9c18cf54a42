// SPDX-License-Identifier: BSD-3-Clause

// Expectations of tests of faults: operations end, and a loss is reported once or not at all.
package transporttest

import (
	"strings"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// Caller checks the expectations of a test.
type Caller struct {
	T        testing.TB
	Patience time.Duration // far more than any operation takes
	Losses   chan string   // the reasons that OpenInfo.OnLoss was called with
}

// Started starts a transfer with peer 1. The channel gets the error that it ends with.
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

// Within waits for the end of an operation. It fails the test after c.Patience.
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

// ExpectLoss waits for the report of a loss with these words, and checks that it is the only one.
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

// ExpectNoLoss checks that no loss has been reported.
func (c *Caller) ExpectNoLoss() {
	c.T.Helper()
	select {
	case got := <-c.Losses:
		c.T.Errorf("a loss was reported: %s", got)
	default:
	}
}
