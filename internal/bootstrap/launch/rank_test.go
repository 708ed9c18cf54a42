// SPDX-License-Identifier: BSD-3-Clause

// What the ranks of the tests do: the test program starts itself with the
// argument as-rank and the name of one of these.

package launch

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/bootstrap"
	"libarmci/internal/config"
)

const aLongTime = time.Minute

var rankPrograms = map[string]func(j bootstrap.Job, arg string) int{
	"meet":   greetAll,
	"exit":   func(_ bootstrap.Job, arg string) int { return number(arg) },
	"fail":   fail,
	"abort":  abort,
	"raise":  raise,
	"vanish": exitWithoutBye,
	"sleep":  func(bootstrap.Job, string) int { time.Sleep(aLongTime); return 0 },
	"deaf":   ignoreSignals,
	"stay":   endOnlyByKill,
	"obey":   printSignal,
	"parent": parentOfSleep,
	"stdin":  stdin,
	"node":   node0,
	"chat":   writeHalfLines,
	"bound":  boundTo,
	"bytes":  givenBytes,
}

// TestMain runs the tests, or is a rank, an agent or a proxy of them.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "as-rank" {
		os.Exit(runRank(os.Args[2], append(os.Args[3:], "")[0]))
	}
	if len(os.Args) > 2 && os.Args[1] == "as-agent" {
		syscall.Exec("/bin/sh", []string{"sh", "-c", strings.Join(os.Args[3:], " ")},
			os.Environ())
	}
	if len(os.Args) == 2 && os.Args[1] == "as-proxy" {
		os.Exit(Serve(os.Stderr))
	}
	os.Exit(m.Run())
}

// runRank joins the job and runs a program of rankPrograms.
func runRank(name, arg string) int {
	s, err := config.Load()
	if err == nil {
		var j bootstrap.Job
		if j, err = bootstrap.Start(s, nil); err == nil {
			status := rankPrograms[name](j, arg)
			if status == 0 && name != "exit" && name != "vanish" {
				j.Close()
			}
			return status
		}
	}
	fmt.Println(err)
	return 99
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// all waits for all ranks: two are a node.
func all(j bootstrap.Job) error {
	if _, _, err := j.Split(strconv.Itoa(j.Rank() / 2)); err != nil {
		return err
	}
	return bootstrap.Barrier(j)
}

// greetAll lets every rank greet every other and leaves in good order.
func greetAll(j bootstrap.Job, _ string) int {
	if _, _, err := j.Split(strconv.Itoa(j.Rank())); err != nil {
		fmt.Println(err)
		return 1
	}
	all, err := j.ExchangeLeaders([]byte(strconv.Itoa(j.Rank())))
	if err != nil || len(all) != j.Size() {
		fmt.Println(err)
		return 1
	}
	for r, name := range all {
		if string(name) != strconv.Itoa(r) {
			return 2
		}
	}
	fmt.Printf("rank %d met %d\n", j.Rank(), len(all))
	if j.Close() != nil {
		return 3
	}
	return 0
}

// fail has the given rank exit with status 3 after all have met; the others notice that it has left
// and exit with 4.
func fail(j bootstrap.Job, arg string) int {
	all(j)
	if j.Rank() == number(arg) {
		return 3
	}
	if bootstrap.Barrier(j) != nil {
		j.Die(4)
	}
	return 0
}

func abort(j bootstrap.Job, arg string) int {
	all(j)
	if j.Rank() == number(arg) {
		j.Abort(42)
	}
	time.Sleep(aLongTime)
	return 0
}

// raise has the given rank kill itself; the others notice and die, as the library does.
func raise(j bootstrap.Job, arg string) int {
	all(j)
	if j.Rank() == number(arg) {
		syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	}
	bootstrap.Barrier(j)
	j.Die(7)
	return 0
}

// exitWithoutBye has the given rank end with status 0 without a bye, as by _exit; the others do not
// notice.
func exitWithoutBye(j bootstrap.Job, arg string) int {
	all(j)
	if j.Rank() == number(arg) {
		// not os.Exit, which runs C's exit functions under the race detector
		syscall.Exit(0)
	}
	time.Sleep(aLongTime)
	return 0
}

// ignoreSignals has rank 0 fail, while the others ignore SIGTERM.
func ignoreSignals(j bootstrap.Job, _ string) int {
	signal.Ignore(syscall.SIGTERM)
	all(j)
	if j.Rank() == 0 {
		return 5
	}
	time.Sleep(aLongTime)
	return 0
}

// endOnlyByKill ends only by SIGKILL.
func endOnlyByKill(bootstrap.Job, string) int {
	signal.Ignore(syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("ready")
	time.Sleep(aLongTime)
	return 0
}

// printSignal prints the first signal it gets.
func printSignal(j bootstrap.Job, _ string) int {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1)
	all(j)
	fmt.Println("ready")
	fmt.Println(<-got)
	j.Close()
	return 0
}

// parentOfSleep has every rank start a process of its own; then rank 0 dies.
func parentOfSleep(j bootstrap.Job, _ string) int {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("pid", cmd.Process.Pid)
	all(j)
	if j.Rank() == 0 {
		syscall.Kill(syscall.Getpid(), syscall.SIGSEGV)
	}
	time.Sleep(aLongTime)
	return 0
}

const chatLines = 3000

// writeHalfLines writes lines in two halves; the last has no end.
func writeHalfLines(j bootstrap.Job, _ string) int {
	for n := range chatLines {
		fmt.Printf("rank %d line ", j.Rank())
		fmt.Printf("%d end\n", n)
	}
	fmt.Printf("rank %d line %d", j.Rank(), chatLines)
	return 0
}

func stdin(j bootstrap.Job, _ string) int {
	text, err := io.ReadAll(os.Stdin)
	fmt.Printf("rank %d read %q %v\n", j.Rank(), text, err)
	return 0
}

func node0(j bootstrap.Job, _ string) int {
	s, err := config.Load()
	if err != nil {
		return 1
	}
	fmt.Printf("rank %d is on %s\n", j.Rank(), s.String("ARMCI_NODE"))
	return 0
}

// boundTo prints on which processors it may run.
func boundTo(j bootstrap.Job, _ string) int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return 1
	}
	var cpus []int
	for cpu := range 1024 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	fmt.Printf("rank %d on %v\n", j.Rank(), cpus)
	return 0
}

// givenBytes prints what it was given, by bytes.
func givenBytes(_ bootstrap.Job, arg string) int {
	dir, _ := os.Getwd()
	fmt.Printf("%+q %+q %+q\n", arg, os.Getenv("LAUNCH_TEST_BYTES"), filepath.Base(dir))
	return 0
}
