// SPDX-License-Identifier: BSD-3-Clause

// Test of armcirun at a terminal: rank 0 may read what is typed, and Ctrl-C
// ends the job.

package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/testutil/leaktest"
)

// terminal opens a pseudo terminal: the keyboard's end and the program's end.
func terminal(t *testing.T) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("no pseudo terminal to be had: %v", err)
	}
	t.Cleanup(func() { tty.Close() })
	return keyboard, tty
}

// TestTerminal shows that one rank reads from the terminal, and that its Ctrl-C ends the job.
func TestTerminal(t *testing.T) {
	keyboard, tty := terminal(t)
	cmd := armcirun("-n", "2", "sh", "-c",
		`echo pid $$; if read line; then echo "got $line"; fi; exec sleep 60`)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	stuck := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
	defer stuck.Stop()
	screen := bufio.NewScanner(keyboard) // ends with an error once the terminal is closed
	var pids []int
	var text strings.Builder
	keyboard.WriteString("typed\n")
	for screen.Scan() {
		line := strings.TrimRight(screen.Text(), "\r")
		text.WriteString(line + "\n")
		var pid int
		if n, _ := fmt.Sscanf(line, "pid %d", &pid); n == 1 {
			pids = append(pids, pid)
		}
		if len(pids) == 2 && strings.Contains(text.String(), "got typed") {
			keyboard.WriteString("\x03") // Ctrl-C
			break
		}
	}
	for screen.Scan() {
		text.WriteString(screen.Text() + "\n")
	}
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 128+int(syscall.SIGINT) {
		t.Errorf("status %d", got)
	}
	if len(pids) != 2 || strings.Count(text.String(), "got typed") != 1 {
		t.Errorf("on the screen: %q", text.String())
	}
	leaktest.AllEnd(t, pids)
}
