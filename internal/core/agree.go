// SPDX-License-Identifier: BSD-3-Clause

// How the ranks learn at the start that one of them cannot take part, so that none waits for it, and so that the same
// reason is not printed once per rank.
package core

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// StartError is why the library cannot start. Every rank gets one; the one that is to print it has Tell set.
type StartError struct {
	Text string
	Tell bool
}

func (e *StartError) Error() string { return e.Text }

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// consequence marks the report of a rank that failed only because another one did.
const consequence = "consequence: "

func isConsequence(err error) bool {
	for _, of := range []error{io.EOF, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNREFUSED, os.ErrDeadlineExceeded} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// agree is collective: it succeeds if all ranks have come so far without an error.
func (r *Runtime) agree(err error) error {
	_, err = r.agreeOn(nil, err)
	return err
}

// agreeOn also shows every rank a few bytes of all ranks.
func (r *Runtime) agreeOn(mine []byte, err error) ([][]byte, error) {
	text := textOf(err)
	if err != nil && isConsequence(err) {
		text = consequence + text
	}
	reports := []report{{text, mine}}
	if r.N > 1 {
		all, lost := swapJSON(r, reports[0])
		if lost != nil {
			return nil, errors.Join(err, lost)
		}
		reports = all
	}
	texts, bytes := make([]string, len(reports)), make([][]byte, len(reports))
	for i, rep := range reports {
		texts[i], bytes[i] = rep.Problem, rep.Bytes
	}
	return bytes, verdict(texts, int(r.Me))
}

// report is what a rank has to say at a step of the start.
type report struct {
	Problem string
	Bytes   []byte
}

// verdict is what a rank makes of all reports: of the causes, or of the consequences if there is nothing else, the lowest
// rank's is told, and how many ranks say something else.
func verdict(reports []string, me int) error {
	text, from := firstOf(reports, false)
	if text == "" {
		text, from = firstOf(reports, true)
	}
	if text == "" {
		return nil
	}
	return &StartError{strings.TrimPrefix(text, consequence) + others(reports, text, from), from == me}
}

// firstOf is the first report that is a consequence, or that is none.
func firstOf(reports []string, effect bool) (string, int) {
	for rank, text := range reports {
		if text != "" && strings.HasPrefix(text, consequence) == effect {
			return text, rank
		}
	}
	return "", -1
}

// others tells that further ranks have causes of their own.
func others(reports []string, told string, from int) string {
	count, example := 0, -1
	for rank, text := range reports {
		if text != "" && text != told && !strings.HasPrefix(text, consequence) {
			count++
			if example < 0 {
				example = rank
			}
		}
	}
	switch count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (and rank %d: %s)", example, reports[example])
	}
	return fmt.Sprintf(" (and %d more ranks have other reasons; rank %d: %s)", count, example, reports[example])
}
