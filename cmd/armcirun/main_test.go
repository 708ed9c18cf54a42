// SPDX-License-Identifier: BSD-3-Clause

// Tests of the command itself: its command line, and what only a whole process
// can show: signals, a terminal, and its own violent death. The test program
// starts itself as armcirun.

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"libarmci/internal/bootstrap/launch"
	"libarmci/internal/config"
	"libarmci/internal/testutil/leaktest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "as-armcirun" {
		os.Args = os.Args[1:]
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func armcirun(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"as-armcirun"}, args...)...)
	cmd.Env = append(cmd.Environ(), "GORACE=atexit_sleep_ms=0")
	return cmd
}

// TestParse reads command lines, and refuses wrong ones.
func TestParse(t *testing.T) {
	o, err := parse([]string{"-n", "4", "--nodes", "2", "-v", "prog", "-x", "-n"})
	if err != nil || o.Ranks != 4 || o.Nodes != 2 || !o.Verbose ||
		!slices.Equal(o.Argv, []string{"prog", "-x", "-n"}) {
		t.Errorf("%+v, error %v", o, err)
	}
	o, err = parse([]string{"-np", "3", "--", "-odd"})
	if err != nil || o.Ranks != 3 || o.Nodes != 0 || !slices.Equal(o.Argv, []string{"-odd"}) {
		t.Errorf("%+v, error %v", o, err)
	}
	for line, want := range map[string][4]int{ // ranks, nodes, ranks a node, hosts
		"-n2 p": {2, 0, 0, 0}, "-np3 p -n4": {3, 0, 0, 0}, "--n2 -ppn1 p": {2, 2, 1, 0},
		"-label -n2 -map block -n3 p": {3, 0, 0, 0},
		"p":                           {1, 0, 0, 0}, "-ppn 2 p": {2, 1, 2, 0},
		"-n 5 -ppn 2 p":       {5, 3, 2, 0},
		"-nodes 3 -ppn 2 p":   {6, 3, 2, 0},
		"-hosts a:2,n[1-3] p": {5, 0, 0, 4}, "-hosts a,b p": {2, 0, 0, 2},
		"-hosts a,b -ppn 3 p": {6, 0, 0, 2}, "-n 3 -hosts a,b p": {3, 0, 0, 2},
	} {
		o, err := parse(strings.Fields(line))
		if got := [4]int{o.Ranks, o.Nodes, o.PerNode, len(o.Remote.Hosts)}; err != nil ||
			got != want {
			t.Errorf("%s: %v, error %v", line, got, err)
		}
	}
	o, err = parse(strings.Fields("-hosts a -agent rsh -x HOME -x A=b=c -x NOT_THERE -ports " +
		"5-9 -interface eth0 p"))
	if r := o.Remote; err != nil || !slices.Equal(r.Agent, []string{"rsh"}) ||
		r.Ports.Low != 5 || r.Ports.High != 9 ||
		r.Interface != "eth0" || !slices.Contains(r.Env, "A=b=c") ||
		!slices.Contains(r.Env, "HOME="+os.Getenv("HOME")) {
		t.Errorf("%+v, error %v", o.Remote, err)
	}
	if o, err = parse(
		strings.Fields("-n 4 -nodes 2 -map cyclic -label -timeout 1m30s p")); err != nil ||
		!o.Cyclic || !o.Label || o.Timeout != 90*time.Second {
		t.Errorf("%+v, error %v", o, err)
	}
	if o, err = parse(strings.Fields("-n 4 -bind core -gdb 3 p")); err != nil ||
		o.Bind != launch.BindCore || *o.Debug != 3 {
		t.Errorf("%+v, error %v", o, err)
	}
	for _, line := range []string{"-bind what p", "-gdb 1 p", "-gdb -1 p", "-gdb x p",
		"-gdb 0 -label p", "-nodes 2 -hosts a,b p", "-hosts a -hostfile b p",
		"-hostfile /nowhere p", "-hosts , p",
		"-hosts a -agent= p", "-hosts a -ports 9-5 p", "-hosts a -ports 5 p", "-ppn 0 p",
		"-n 5 -nodes 2 -ppn 2 p", "-n 4 -nodes 4 -ppn 2 p",
		"-map random p", "-timeout 5 p", "-timeout -5s p", "-timeout soon p"} {
		if _, err := parse(strings.Fields(line)); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
	for _, line := range []string{"", "-n 0 p", "-n -1 p", "-n 5000 p", "-n x p", "-nodes 2 p",
		"-nodes -1 p", "-n 2", "-what p"} {
		if _, err := parse(strings.Fields(line)); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}

// In a batch job the hosts are its, unless others are named or pretended; its agent reaches no
// others.
func TestBatchJob(t *testing.T) {
	self, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	path := t.TempDir()
	if err := os.WriteFile(path+"/srun", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path+":"+os.Getenv("PATH"))
	for _, c := range []struct {
		nodes, tasks, args string
		ranks, hosts       int
		agent              string // its first word
	}{
		{"n[1-2]", "3,1", "p", 4, 2, "srun"},
		{"n[1-2]", "3,1", "-n 2 p", 2, 2, "srun"},
		{"n[1-2]", "3,1", "-ppn 2 p", 4, 2, "srun"},
		{"n[1-2]", "3,1", "-agent ssh p", 4, 2, "ssh"},
		{"n[1-2]", "3,1", "-hosts n2 p", 1, 1, "srun"},
		{"n[1-2]", "3,1", "-hosts n2,elsewhere p", 2, 2, "ssh"},
		{"n[1-2]", "3,1", "-nodes 1 -n 3 p", 3, 0, "ssh"},
		{"n[1-2", "3,1", "-hosts n2 p", 1, 1, "ssh"},
		{self, "3", "p", 3, 0, "ssh"},
		{self, "3", "-n 8 p", 8, 0, "ssh"},
	} {
		t.Setenv("SLURM_JOB_NODELIST", c.nodes)
		t.Setenv("SLURM_TASKS_PER_NODE", c.tasks)
		o, err := parse(strings.Fields(c.args))
		if err != nil || o.Ranks != c.ranks || len(o.Remote.Hosts) != c.hosts ||
			o.Remote.Agent[0] != c.agent ||
			o.Remote.NoShell != (c.agent == "srun") {
			t.Errorf("%s in a job of %s (%s): %d ranks, %d hosts, %v, error %v", c.args,
				c.nodes, c.tasks, o.Ranks, len(o.Remote.Hosts),
				o.Remote.Agent, err)
		}
	}
	t.Setenv("SLURM_JOB_NODELIST", "n[1-2")
	if _, err := parse([]string{"p"}); err == nil ||
		!strings.Contains(err.Error(), "SLURM_JOB_NODELIST of Slurm: ") {
		t.Errorf("a list that cannot be read: error %v", err)
	}
}

// TestStatusAndOutput compares status and output of jobs, and of command lines that start none.
func TestStatusAndOutput(t *testing.T) {
	for _, c := range []struct {
		args           string
		status         int
		stdout, stderr string // parts
	}{
		{"-n 2 true", 0, "", ""},
		{"-n 3 echo hello", 0, "hello\nhello\nhello\n", ""},
		{"false", 1, "", "exited with status 1"},
		{"no-such-program-anywhere", 127, "", "no-such-program-anywhere"},
		{"/dev/null", 126, "", "permission denied"},
		{"-n 0 true", 2, "", "armcirun: -n 0: must be 1..4096; see armcirun -h\n"},
		{"-what true", 2, "", "armcirun: unknown option -what; see armcirun -h\n"},
		{"--genv true", 2, "",
			"armcirun: unknown option -genv; did you mean -x NAME=VALUE?; see " +
				"armcirun -h\n"},
		{"--oversubscribe -n2 true", 2, "", "unknown option -oversubscribe: leave it out"},
		{"-n", 2, "", "armcirun: a value is missing behind: -n; see armcirun -h\n"},
		{"-n two true", 2, "",
			"armcirun: invalid value \"two\" for -n: must be a whole number; see " +
				"armcirun -h\n"},
		{"-n2 echo -n2", 0, "-n2\n-n2\n", ""},
		{"-hosts no-such-host.invalid true", 126, "",
			"armcirun: unknown host no-such-host.invalid"},
		{"-map random true", 2, "",
			"armcirun: -map random: must be block or cyclic; see armcirun -h\n"},
		{"-label -n 1 printf a\\nb", 0, "[0] a\n[0] b\n", ""},
		{"-timeout 200ms sleep 60", 124, "",
			"armcirun: the job has not ended within 200ms\n"},
		{"-version", 0, "armcirun (libarmci) " + config.Version + "\n", ""},
		{"-h", 0, "usage: armcirun", ""},
		{"-v -bind none -n 2 -nodes 2 true", 0, "", " on node1) started\n"},
	} {
		var stdout, stderr bytes.Buffer
		cmd := armcirun(strings.Fields(c.args)...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != c.status {
			t.Errorf("%s: status %d, want %d", c.args, got, c.status)
		}
		if !strings.Contains(stdout.String(), c.stdout) ||
			!strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("%s: printed %q and %q", c.args, stdout.String(), stderr.String())
		}
		if strings.Count(stderr.String(), "\n") > 1 && !strings.HasPrefix(c.args, "-v") {
			t.Errorf("%s: more than one line of error: %q", c.args, stderr.String())
		}
		if c.stderr == "" && stderr.Len() > 0 {
			t.Errorf("%s: %q on standard error", c.args, stderr.String())
		}
	}
}

// A program of this directory is not started, but named: the directory is not in PATH.
func TestDidYouMean(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, mode := range map[string]os.FileMode{"here": 0o755, "plain": 0o644} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"here": "; did you mean ./here?\n", "nowhere": "not found in $PATH\n",
		"plain": "; ./plain is there, but not executable: chmod +x plain\n",
	} {
		text, err := armcirun("-n2", name).CombinedOutput()
		if code := err.(*exec.ExitError).ExitCode(); code != 127 ||
			!strings.HasSuffix(string(text), want) {
			t.Errorf("%s: status %d, %q", name, code, text)
		}
	}
}

// TestWhereLibrariesAre compares the advice for a program that does not find a library.
func TestWhereLibrariesAre(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string
	}{
		{nil, "if x.so was not found: LD_LIBRARY_PATH must name its directory"},
		{[]string{"/p/lib/x.so"},
			"if x.so was not found: it is in /p/lib; type LD_LIBRARY_PATH=/p/lib " +
				"before armcirun"},
		{[]string{"/p/lib/a/x.so", "/p/lib/b/x.so"},
			"it is in /p/lib/a and in /p/lib/b; type LD_LIBRARY_PATH=/p/lib/a before"},
	} {
		if got := whereIs("x.so", c.files); !strings.Contains(got, c.want) {
			t.Errorf("%q: %q", c.files, got)
		}
	}
	if got := missingLibrary("sh"); got != "" {
		t.Errorf("sh: %q", got)
	}
}

// sleepers starts armcirun with n ranks that say their pid and sleep.
func sleepers(t *testing.T, n int, attr *syscall.SysProcAttr) (cmd *exec.Cmd, pids []int,
	stderr *bytes.Buffer) {
	t.Helper()
	cmd = armcirun("-n", fmt.Sprint(n), "sh", "-c", "echo $$; exec sleep 60")
	stderr = new(bytes.Buffer)
	cmd.Stderr, cmd.SysProcAttr = stderr, attr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for range n {
		var pid int
		if _, err := fmt.Fscanln(lines, &pid); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	go io.Copy(io.Discard, out)
	return cmd, pids, stderr
}

// TestSignalsEndTheJob shows that a signal to armcirun ends all ranks soon, and is its status.
func TestSignalsEndTheJob(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		cmd, pids, stderr := sleepers(t, 3, nil)
		began := time.Now()
		cmd.Process.Signal(s)
		cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != 128+int(s) {
			t.Errorf("%v: status %d", s, got)
		}
		if took := time.Since(began); took > 2500*time.Millisecond {
			// less than ranks have to obey
			t.Errorf("%v: took %v", s, took)
		}
		if want := fmt.Sprintf("armcirun: received signal %d (%v)\n", int(s),
			s); stderr.String() != want {
			t.Errorf("%v: printed %q", s, stderr.String())
		}
		leaktest.AllEnd(t, pids)
	}
}

func TestKilledArmcirunLeavesNothing(t *testing.T) {
	cmd, pids, _ := sleepers(t, 3, nil)
	cmd.Process.Kill()
	cmd.Wait()
	leaktest.AllEnd(t, pids)
}

// TestStopAndContinue shows that stopping and continuing armcirun does the same to the ranks.
func TestStopAndContinue(t *testing.T) {
	cmd, pids, _ := sleepers(t, 2, nil)
	stopped := func(want bool) {
		t.Helper()
		end := time.Now().Add(3 * time.Second)
		for _, pid := range append(pids, cmd.Process.Pid) {
			for strings.Contains(leaktest.State(pid), "T") != want {
				if time.Now().After(end) {
					t.Errorf("process %d: state %q, stopped wanted: %v", pid,
						leaktest.State(pid), want)
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
	}
	cmd.Process.Signal(syscall.SIGTSTP)
	stopped(true)
	cmd.Process.Signal(syscall.SIGCONT)
	stopped(false)
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	leaktest.AllEnd(t, pids)
}

// TestIgnoredSignalsStayIgnored shows that a signal that armcirun was started to ignore does not
// end the job.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	cmd := exec.Command("sh", "-c",
		`trap "" HUP; exec "$0" as-armcirun -n 1 sh -c 'echo up; sleep 0.3'`, os.Args[0])
	cmd.Env = append(cmd.Environ(), "GORACE=atexit_sleep_ms=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewReader(out).ReadString('\n')
	cmd.Process.Signal(syscall.SIGHUP)
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}
