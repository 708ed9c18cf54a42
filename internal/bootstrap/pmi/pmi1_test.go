// SPDX-License-Identifier: BSD-3-Clause

// The client of PMI-1 against peers that play the launcher, good ones and bad ones. Launchers
// themselves are in tests/pmi1 and tests/slurm.
package pmi

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// quick is a limit for answers that are to come, short one for those that do not.
const quick, short = 10 * time.Second, 50 * time.Millisecond

// sockets returns the descriptor that the client has inherited, and the launcher's end.
func sockets(t *testing.T) (client int, launcher *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	launcher = os.NewFile(uintptr(fds[1]), "launcher")
	t.Cleanup(func() {
		unix.Close(fds[0])
		launcher.Close()
	})
	return fds[0], launcher
}

func inherited(fd int, timeout time.Duration) Server {
	return Server{Address: fmt.Sprint(fd), Rank: 1, Size: 4, Timeout: timeout}
}

// play answers each line by the text of its command, and passes the lines on. It ends with the
// connection, or at a command without a text.
func play(launcher *os.File, answers map[string]string) <-chan string {
	lines := make(chan string, 200)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(launcher)
		for in.Scan() {
			lines <- in.Text()
			command := strings.TrimPrefix(strings.Fields(in.Text())[0], "cmd=")
			text, known := answers[command]
			if !known {
				return
			}
			launcher.WriteString(text)
		}
	}()
	return lines
}

// with is the answers of a good launcher, with some others.
func with(others ...string) map[string]string {
	all := map[string]string{
		"init":           "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
		"get_maxes":      "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n",
		"get_my_kvsname": "cmd=my_kvsname kvsname=kvs_7_0\n",
		"put":            "cmd=put_result rc=0 msg=success\n",
		"barrier_in":     "cmd=barrier_out rc=0\n",
		"get":            "cmd=get_result rc=0 msg=success value=1.eA\n", // "x"
	}
	for i := 0; i < len(others); i += 2 {
		all[others[i]] = others[i+1]
	}
	return all
}

// What a rank sends, and what it makes of the answers.
func TestPMI1Lines(t *testing.T) {
	fd, launcher := sockets(t)
	lines := play(launcher, with())
	c, err := join(inherited(fd, quick))
	if err != nil || c.Rank != 1 || c.Size != 4 {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := errors.Join(c.Put("key", "x"), c.Fence()); err != nil {
		t.Fatal(err)
	}
	if value, err := c.Get(0, "key"); err != nil || value != "x" {
		t.Errorf("got %q, %v", value, err)
	}
	c.job.abort(7, "a message that no line has room for")
	for _, want := range []string{"cmd=init pmi_version=1 pmi_subversion=1", "cmd=get_maxes",
		"cmd=get_my_kvsname", "cmd=put kvsname=kvs_7_0 key=key.0 value=1.eA",
		"cmd=barrier_in", "cmd=get kvsname=kvs_7_0 key=key.0", "cmd=abort exitcode=7"} {
		if got := <-lines; got != want {
			t.Errorf("line %q, want %q", got, want)
		}
	}
}

// store is a launcher that stores values, of so many bytes at most. It fails the test if a value is
// longer, or a line of more than 1 KiB, or of bytes that launchers do not take.
func store(t *testing.T, launcher *os.File, vallen int) {
	values := map[string]string{}
	answers := with("get_maxes", fmt.Sprintf("cmd=maxes rc=0 vallen_max=%d keylen_max=64\n",
		vallen), "get_my_kvsname", "cmd=my_kvsname kvsname="+strings.Repeat("k", 255)+"\n")
	in := bufio.NewScanner(launcher)
	for in.Scan() {
		a, err := parseAnswer(in.Text())
		if err != nil || len(in.Text()) >= 1024 || len(a["value"]) >= vallen {
			t.Errorf("%d bytes: %s, %v", len(in.Text()), in.Text(), err)
		}
		text := answers[a["cmd"]]
		switch a["cmd"] {
		case "put":
			if _, again := values[a["key"]]; again || !strings.HasSuffix(in.Text(),
				" value="+a["value"]) {
				t.Errorf("not to be stored: %s", in.Text())
			}
			values[a["key"]] = a["value"]
		case "get":
			text = "cmd=get_result value=" + values[a["key"]] + "\n"
		}
		for i := range len(text) { // in many pieces
			launcher.WriteString(text[i : i+1])
		}
	}
}

// Values of any length and any bytes come back, whatever the launcher's limit.
func TestPMI1ValuesAreSplit(t *testing.T) {
	for _, vallen := range []int{33, 64, 256, 1024, 1 << 20} {
		fd, launcher := sockets(t)
		go store(t, launcher, vallen)
		c, err := join(inherited(fd, quick))
		if err != nil {
			t.Fatal(err)
		}
		for i, value := range []string{"", "x", "two words\n= \\ \xff", strings.Repeat("a ",
			MaxValue/2), strings.Repeat("z", MaxValue)} {
			key := fmt.Sprint("libarmci-", i)
			if err := c.Put(key, value); err != nil {
				t.Fatalf("at most %d: %v", vallen, err)
			}
			got, err := c.Get(0, key)
			if err != nil || got != value {
				t.Errorf("at most %d: %q became %q, %v", vallen, value, got, err)
			}
		}
	}
}

// What cannot be stored is refused before it is sent.
func TestPMI1TooLong(t *testing.T) {
	fd, launcher := sockets(t)
	lines := play(launcher, with("get_my_kvsname", "cmd=my_kvsname kvsname="+
		strings.Repeat("k", 1100)+"\n"))
	c, err := join(inherited(fd, quick))
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"PMI-1: a value of 1024 bytes is too long": c.Put("k", strings.Repeat("v", 1024)),
		"takes keys of less than 64 bytes":         c.Put(strings.Repeat("k", 62), "v"),
		"a request of 1135 bytes is longer than":   c.Put("k", "v"),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("error %v, want %s", err, what)
		}
	}
	if n := len(lines); n != 3 {
		t.Errorf("%d lines were sent, 3 of them before", n)
	}
}

// Each bad answer is an error that says what is wrong, and none of them a crash or a wait.
func TestPMI1BadAnswers(t *testing.T) {
	for _, c := range []struct{ to, answer, complaint string }{
		{"init", "", "does not answer in time (ARMCI_TIMEOUT)"},
		{"init", "cmd=response_to_init", "does not answer in time"}, // half a line
		{"init", "\n", `answers "", which is not a line of PMI-1`},
		{"init", "    24cmd=fullinit-response;rc=0;\n", "which is not a line of PMI-1"},
		{"init", "cmd=maxes\n", `answers "cmd=maxes" where cmd=response_to_init`},
		{"init", strings.Repeat("x", maxAnswer+1), "a line of more than 64 KiB"},
		{"init", "cmd=response_to_init rc=-1\n", "does not answer to PMI-1"},
		{"init", "cmd=response_to_init rc=0 pmi_version=2\n", "does not answer to PMI-1"},
		{"get_maxes", "cmd=maxes rc=0\n", `keylen_max=""`},
		{"get_maxes", "cmd=maxes keylen_max=64 vallen_max=x\n", `vallen_max="x"`},
		{"get_maxes", "cmd=maxes keylen_max=64 vallen_max=32\n", `vallen_max="32"`},
		{"get_maxes", "cmd=maxes keylen_max=-1 vallen_max=256\n", `keylen_max="-1"`},
		{"get_my_kvsname", "cmd=my_kvsname\n", "does not name the job's values"},
		{"put", "cmd=put_result rc=-1 msg=no_room\n", "msg=no_room"},
		{"barrier_in", "cmd=barrier_out rc=1\n", "cmd=barrier_out rc=1"},
		{"get", "cmd=get_result rc=-1 msg=key_not_found\n", "key_not_found"},
		{"get", "cmd=get_result found=FALSE value=1.eA\n", "has no value of k.0"},
		{"get", "cmd=get_result rc=0\n", "has no value of k.0"},
		{"get", "cmd=get_result value=eA\n", "not one of this library"},
		{"get", "cmd=get_result value=0.\n", "not one of this library"},
		{"get", "cmd=get_result value=9999999.eA\n", "not one of this library"},
		{"get", "cmd=get_result value=1.e%\n", "not one of this library"},
		{"get", "cmd=get_result value=2.eA\n", "not one of this library"}, // 2.eA2.eA
	} {
		fd, launcher := sockets(t)
		play(launcher, with(c.to, c.answer))
		limit := quick
		if !strings.HasSuffix(c.answer, "\n") {
			limit = short
		}
		client, err := join(inherited(fd, limit))
		if errors.Is(err, ErrUnavailable) != strings.Contains(c.complaint, "to PMI-1") {
			t.Errorf("%q: unavailable: %v", c.answer, err)
		}
		if err == nil {
			err = errors.Join(client.Put("k", "v"), client.Fence())
			_, another := client.Get(0, "k")
			err = errors.Join(err, another)
		}
		if err == nil || !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%q: error %v, want %s", c.answer, err, c.complaint)
		}
	}
}

// A launcher that ends while ranks wait for the others ends the wait.
func TestPMI1LauncherEnds(t *testing.T) {
	for _, at := range []string{"init", "get_my_kvsname", "barrier_in"} {
		fd, launcher := sockets(t)
		answers := with()
		delete(answers, at)
		lines := play(launcher, answers)
		go func() {
			for range lines {
			}
			launcher.Close()
		}()
		c, err := join(inherited(fd, quick))
		if err == nil {
			err = c.Fence()
		}
		if err == nil || !strings.Contains(err.Error(), "closed its connection") ||
			errors.Is(err, ErrUnavailable) {
			t.Errorf("at %s: error %v", at, err)
		}
	}
}

// A launcher that reads nothing is an error once the socket is full, not a wait.
func TestPMI1LauncherDoesNotRead(t *testing.T) {
	fd, _ := sockets(t)
	w := wire{fd: fd}
	var err error
	for sent := 0; sent < 64<<20 && err == nil; sent += 1000 {
		err = w.send(strings.Repeat("x", 1000))
	}
	if err == nil || err.Error() != "the launcher does not read what it is sent" {
		t.Errorf("error %v", err)
	}
}

// A descriptor that was closed, or that is something else by now, is an error at once.
func TestPMI1WrongDescriptor(t *testing.T) {
	fd, _ := sockets(t)
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	closed, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 500)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(closed)
	for _, wrong := range []int{-1, closed, int(file.Fd())} {
		if _, err := join(inherited(wrong, quick)); err == nil ||
			!strings.Contains(err.Error(), "socket was closed before") {
			t.Errorf("descriptor %d: error %v", wrong, err)
		}
	}
}

// The socket's flags are as they were: an MPI may use it afterwards.
func TestPMI1LeavesTheSocketBlocking(t *testing.T) {
	fd, launcher := sockets(t)
	play(launcher, with())
	if _, err := join(inherited(fd, quick)); err != nil {
		t.Fatal(err)
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil ||
		flags&unix.O_NONBLOCK != 0 {
		t.Errorf("flags %#x, %v", flags, err)
	}
}

// A launcher with a port says there which rank a process is; three lines come with one answer.
func TestPMI1Port(t *testing.T) {
	const set = "cmd=initack\ncmd=set size=4\ncmd=set rank=2\ncmd=set debug=0\n"
	for _, c := range []struct{ answer, complaint string }{
		{set, ""},
		{strings.Replace(set, "size=4", "size=0", 1), `size="0"`},
		{strings.Replace(set, "set rank=2", "rank", 1), `answers "cmd=rank"`},
		{"cmd=initack rc=-1\n", "rc=-1"},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		lines := make(chan (<-chan string), 1)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			file, _ := conn.(*net.TCPConn).File()
			conn.Close()
			lines <- play(file, with("initack", c.answer))
		}()
		client, err := join(Server{Address: l.Addr().String(), Rank: 7, Timeout: quick})
		if got := <-<-lines; got != "cmd=initack pmiid=7" {
			t.Errorf("line %q", got)
		}
		switch {
		case c.complaint == "" && (err != nil || client.Rank != 2 || client.Size != 4):
			t.Errorf("%+v, %v", client, err)
		case c.complaint != "" && (err == nil ||
			!strings.Contains(err.Error(), c.complaint)):
			t.Errorf("%q: error %v", c.answer, err)
		}
		l.Close()
		if _, err := join(Server{Address: l.Addr().String(), Timeout: quick}); err == nil ||
			!strings.Contains(err.Error(), "PMI_PORT") {
			t.Errorf("no launcher: error %v", err)
		}
	}
}
