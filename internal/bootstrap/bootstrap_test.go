// SPDX-License-Identifier: BSD-3-Clause

// Tests of how a job is chosen without MPI in the process, and of armcirun's
// job from the ranks' side; the server runs in the test. Jobs under a real MPI
// are the C programs' matter, processes that die package launch's.

package bootstrap

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"libarmci/internal/bootstrap/jobserver"
	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/config"
	"libarmci/internal/log"
	"libarmci/internal/testutil/leaktest"
)

func settings(t *testing.T, environ ...string) *config.Set {
	t.Helper()
	s, err := config.LoadFrom(environ)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A process without a launcher is a job of one rank.
func TestSingle(t *testing.T) {
	j, err := Start(settings(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if j.Kind() != "single" || j.Rank() != 0 || j.Size() != 1 || j.WorldComm() != 0 {
		t.Errorf("%s: rank %d of %d, communicator %#x", j.Kind(), j.Rank(), j.Size(),
			j.WorldComm())
	}
	mine := []byte("mine")
	if local, size, err := j.Split("here"); local != 0 || size != 1 || err != nil {
		t.Errorf("rank %d of %d of its node, error %v", local, size, err)
	}
	for _, exchange := range []func([]byte) ([][]byte, error){j.GatherNode, j.ExchangeLeaders} {
		all, err := exchange(mine)
		if err != nil || len(all) != 1 || string(all[0]) != "mine" ||
			&all[0][0] == &mine[0] {
			t.Errorf("exchange gave %q, error %v", all, err)
		}
	}
	if comm, err := j.GroupComm([]int{0}, 1); comm != 0 || err != nil {
		t.Errorf("communicator %#x, error %v", comm, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// Without MPI in the process the functions about it do nothing, and a communicator is refused.
func TestNoMPIInTheProcess(t *testing.T) {
	if v := MPIVersion(); v != "" {
		t.Fatalf("this test was linked with %s", v)
	}
	if NullComm() != 0 {
		t.Error("MPI_COMM_NULL of no MPI must be 0")
	}
	if level, running := ThreadLevel(); level != 0 || running {
		t.Errorf("thread level %d, running %v", level, running)
	}
	if err := InitMPI(nil, nil); err != nil {
		t.Error(err)
	}
	FinalizeMPI()
	comm := uintptr(0x44000000)
	if _, err := Start(settings(t), &comm); err == nil {
		t.Error("a communicator without MPI is accepted")
	}
}

// Under a launcher of several processes, a program without MPI is refused with the reason.
func TestAnMPILauncherWithoutMPI(t *testing.T) {
	mayBorrow = false
	defer func() { mayBorrow = true }()
	for _, c := range []struct {
		environ, complaint string
	}{
		{"PMI_RANK=0 PMI_SIZE=4",
			"mpiexec started this as process 0 of 4 (PMI_RANK is set)"},
		{"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2",
			"mpirun started this as process 1 of 2"},
		{"SLURM_PROCID=1 SLURM_NTASKS=4",
			"srun started this as process 1 of 4 (SLURM_PROCID is set)"},
		{"SLURM_PROCID=0 SLURM_NTASKS=4", "without PMI: use srun --mpi=pmi2 or --mpi=pmix"},
		{"PMI_RANK=2 PMI_SIZE=4", "start it with armcirun -n 4"},
		{"PMIX_RANK=1", "prterun started this as process 1 (PMIX_RANK is set)"},
		{"PMI_RANK=1", "mpiexec started this as process 1 (PMI_RANK is set)"},
		{"PMI_RANK=0 PMI_SIZE=1", ""},
		{"PMIX_RANK=0", ""},
		{"SLURM_PROCID=0 SLURM_NTASKS=1", ""},
	} {
		j, err := Start(settings(t, strings.Fields(c.environ)...), nil)
		switch {
		case c.complaint == "" && (err != nil || j.Size() != 1):
			t.Errorf("%s: error %v", c.environ, err)
		case c.complaint != "" && (!errors.Is(err, ErrUnconnected) ||
			!strings.Contains(err.Error(), c.complaint)):
			t.Errorf("%s: error %v", c.environ, err)
		}
	}
}

// Environ has the variables of the start of the process, and later changes by C.
func TestEnvironIsWhatGoStartedWith(t *testing.T) {
	got := Environ()
	for _, entry := range os.Environ() {
		if !slices.Contains(got, entry) {
			t.Errorf("%s is missing", strings.Split(entry, "=")[0])
		}
	}
	t.Setenv("ARMCI_TEST_LATE", "1") // cgo passes this on to C
	if !slices.Contains(Environ(), "ARMCI_TEST_LATE=1") {
		t.Error("a later change is not seen")
	}
}

// The exit status of an error is the low 8 bits of its code, and never 0.
func TestExitStatusIsNeverSuccess(t *testing.T) {
	for code, want := range map[int]int{5: 5, 0: 1, 256: 1, -1: 255, 300: 44} {
		if got := exitStatus(code); got != want {
			t.Errorf("code %d ends with %d, want %d", code, got, want)
		}
	}
}

// server starts a job server whose aborts are collected.
func server(t *testing.T, size int) (*jobserver.Server, chan string) {
	t.Helper()
	leaktest.Check(t)
	aborts := make(chan string, 10)
	s, err := jobserver.New(size,
		func(rank, status int, _ []int) { aborts <- fmt.Sprintf("%d/%d", rank, status) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, aborts
}

// joinAll joins as all ranks of a job server.
func joinAll(t *testing.T, s *jobserver.Server, size int) []Job {
	t.Helper()
	jobs := make([]Job, size)
	for r := range jobs {
		j, err := Start(settings(t, s.Env(0, r)...), nil)
		if err != nil {
			t.Fatal(err)
		}
		jobs[r] = j
	}
	return jobs
}

// together runs f for every rank at once.
func together(jobs []Job, f func(j Job)) {
	var wg sync.WaitGroup
	for _, j := range jobs {
		wg.Go(func() { f(j) })
	}
	wg.Wait()
}

// Die reports to armcirun before the process exits, also during an exchange.
func TestDieTellsArmcirunFirst(t *testing.T) {
	s, aborts := server(t, 2)
	jobs := joinAll(t, s, 2)
	j := jobs[1].(*armcirunJob)
	left := make(chan int, 1)
	j.exit = func(status int) { left <- status }
	waiting := make(chan error)
	go func() {
		_, _, err := j.Split("x") // Die must get through while this waits
		waiting <- err
	}()
	time.Sleep(20 * time.Millisecond)
	j.Die(0)
	if got := <-left; got != 1 {
		t.Errorf("exits with %d, want 1", got)
	}
	select {
	case got := <-aborts:
		if got != "1/1" {
			t.Errorf("armcirun heard %s", got)
		}
	default:
		t.Error("exits before armcirun knows")
	}
	if err := <-waiting; err == nil {
		t.Error("the exchange of a dying rank succeeds")
	}
	j.conn.Close()
	jobs[0].Close()
}

// What watches losses is told that armcirun is gone, and prints it or not; nothing else does.
func TestArmcirunGoneIsReported(t *testing.T) {
	s, _ := server(t, 1)
	set := settings(t, s.Env(0, 0)...)
	secret, err := jobwire.ParseSecret(set.String("ARMCI_JOB_SECRET"))
	if err != nil {
		t.Fatal(err)
	}
	printed := make(chan string, 10)
	defer log.SetSink(func(line []byte) { printed <- string(line) })()
	heard, ended, left := make(chan string, 1), make(chan int), make(chan int, 1)
	j, err := dialArmcirun(set.String("ARMCI_JOB_ADDR"), time.Second, secret, 0, 1,
		func(status int) { left <- status })
	if err != nil {
		t.Fatal(err)
	}
	defer j.conn.Close()
	j.OnLoss(func(_ int, reason string) {
		heard <- reason
		<-ended
	})
	s.Close()
	if got := <-heard; !strings.Contains(got, "armcirun is gone") {
		t.Errorf("reported: %q", got)
	}
	j.Die(1) // as what is told does
	if got := <-left; got != 1 || len(printed) > 0 {
		t.Errorf("exits with %d, %d lines", got, len(printed))
	}
	close(ended)
	<-left // of a process that does not end in the test
}

// Each rank ends; rank 0 alone says why.
func TestArmcirunGoneEndsTheRank(t *testing.T) {
	for rank, want := range []int{1, 0} {
		lines := armcirunGone(t, rank, 2)
		if len(lines) != want || want == 1 && !strings.Contains(lines[0],
			"armcirun is gone") {
			t.Errorf("rank %d said %q", rank, lines)
		}
	}
}

// armcirunGone is what a rank says when armcirun ends.
func armcirunGone(t *testing.T, rank, size int) (lines []string) {
	t.Helper()
	s, _ := server(t, size)
	var mu sync.Mutex
	defer log.SetSink(func(line []byte) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, string(line))
	})()
	secret, err := jobwire.ParseSecret(settings(t,
		s.Env(0, rank)...).String("ARMCI_JOB_SECRET"))
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan int, 1)
	addr := settings(t, s.Env(0, rank)...).String("ARMCI_JOB_ADDR")
	j, err := dialArmcirun(addr, time.Second, secret, rank, size,
		func(status int) { left <- status })
	if err != nil {
		t.Fatal(err)
	}
	defer j.conn.Close()
	s.Close()
	if got := <-left; got != 1 {
		t.Errorf("rank %d exits with %d", rank, got)
	}
	mu.Lock()
	defer mu.Unlock()
	return lines
}

// A rank with a wrong secret or address is refused, and so is a second process of a rank.
func TestJoinIsRefused(t *testing.T) {
	s, _ := server(t, 2)
	env := s.Env(0, 0)
	other := slices.Clone(env)
	other[3] = "ARMCI_JOB_SECRET=" + jobwire.NewSecret().String()
	short := slices.Clone(env)
	short[3] = "ARMCI_JOB_SECRET=1234"
	away := slices.Clone(env)
	away[0] = "ARMCI_JOB_ADDR=" + jobwire.NewAddress()
	for complaint, environ := range map[string][]string{
		"wrong secret": other, "job secret": short, "connect": away,
	} {
		if _, err := Start(settings(t, environ...), nil); err == nil ||
			!strings.Contains(err.Error(), complaint) {
			t.Errorf("want %q, error %v", complaint, err)
		}
	}
	j := joinAll(t, s, 1)[0]
	if _, err := Start(settings(t, env...), nil); err == nil ||
		!strings.Contains(err.Error(), "already taken") {
		t.Errorf("the same rank twice: %v", err)
	}
	j.Close()
}
