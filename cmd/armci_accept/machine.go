// SPDX-License-Identifier: BSD-3-Clause

// What a node is made of: facts from /proc, /sys and the C library. The transports that it can use
// are in probe.go.

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/config"
)

// describe is this node, with these transports, or all if there are none. It is called at its first
// rank.
func describe(cfg *config.Set, asked []string) Node {
	some, err := probeAll(asked)
	n := Node{Transports: some, Facts: factsOf(cfg, some)}
	if err != nil {
		n.Facts = append(n.Facts, Fact{noProviders, err.Error()})
	}
	return n
}

// factsOf are the facts of this node; probes tell which libraries they have loaded.
func factsOf(cfg *config.Set, probes []Probe) (all []Fact) {
	add := func(name, value string) { all = append(all, Fact{name, value}) }
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		add("kernel", unix.ByteSliceToString(u.Release[:])+" "+
			unix.ByteSliceToString(u.Machine[:]))
	}
	add("distribution", lineOf("/etc/os-release", "PRETTY_NAME="))
	add("C library", output("getconf", "GNU_LIBC_VERSION"))
	add("processor", processor())
	add("processors", fmt.Sprintf("%s online, %d for a rank; threads of a core: %s",
		lineOf("/sys/devices/system/cpu/online", ""), runtime.NumCPU(),
		lineOf("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "")))
	add("NUMA nodes", lineOf("/sys/devices/system/node/online", ""))
	add("memory", memory())
	add("large pages", lineOf("/sys/kernel/mm/transparent_hugepage/enabled", ""))
	loaded := loadedLibraries()
	for _, p := range probes {
		loaded = append(loaded, p.loaded...)
	}
	for _, soname := range []string{"libibverbs.so.1", "librdmacm.so.1", "libfabric.so.1",
		"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1"} {
		add(soname, libraryOf(soname, loaded))
	}
	all = append(all, devices(cfg.String("ARMCI_RDMA_SYSFS"))...)
	all = append(all, limits()...)
	some := slices.DeleteFunc(settings(), // a launcher has set it
		func(entry string) bool { return strings.HasPrefix(entry, "ARMCI_NODE=") })
	if slices.Sort(some); len(some) > 0 {
		add("settings", strings.Join(some, " "))
	}
	return all
}

// lineOf is what follows a beginning in the first line of a file that has it, without quotation
// marks; "" if there is none.
func lineOf(file, begin string) string {
	text, _ := os.ReadFile(file) // what is not there is not known
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			return strings.Trim(strings.TrimSpace(rest), `"`)
		}
	}
	return ""
}

// output is what a command prints; "" if it fails.
func output(name string, args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

var cpuName = regexp.MustCompile(`(?m)^(?:model name|cpu|uarch|CPU part)\s*: (.*)$`)

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	if m := cpuName.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return "unknown"
}

// memory is that of the machine in GiB, so that nodes of the same kind have the same.
func memory() string {
	var kib int64
	if _, err := fmt.Sscan(lineOf("/proc/meminfo", "MemTotal:"), &kib); err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%d GiB", (kib+1<<19)>>20)
}

// libraryOf is the file of a library with its version: one that this process or a probe has loaded,
// or one that lies where libraries do.
func libraryOf(soname string, loaded []string) string {
	for _, file := range loaded {
		if strings.HasPrefix(filepath.Base(file), soname) {
			return filepath.Base(file)
		}
	}
	for _, dir := range []string{"/usr/lib64", "/lib64", "/usr/lib", "/usr/lib/*"} {
		found, _ := filepath.Glob(filepath.Join(dir, soname))
		for _, file := range found {
			if real, err := filepath.EvalSymlinks(file); err == nil {
				return filepath.Base(real) + ", not loaded"
			}
		}
	}
	return "none"
}

// devices are the ports of verbs devices, other devices of networks, and network interfaces that
// are up.
func devices(class string) (all []Fact) {
	if class == "" {
		class = "/sys/class/infiniband"
	}
	ports, _ := filepath.Glob(filepath.Join(class, "*", "ports", "*"))
	for _, port := range ports {
		device := filepath.Dir(filepath.Dir(port))
		of := func(file string) string { return lineOf(filepath.Join(device, file), "") }
		at := func(file string) string { return lineOf(filepath.Join(port, file), "") }
		text := fmt.Sprintf("%s, %s, %s; %s %s, firmware %s, NUMA node %s", at("state"),
			at("link_layer"), at("rate"), of("hca_type"), of("board_id"), of("fw_ver"),
			of("device/numa_node"))
		all = append(all, Fact{"verbs " + filepath.Base(device) + " port " +
			filepath.Base(port), text})
	}
	for _, pattern := range []string{"cxi/*", "hfi1/*", "infiniband_verbs/*"} {
		found, _ := filepath.Glob("/sys/class/" + pattern)
		for _, file := range found {
			all = append(all, Fact{"device " + filepath.Base(file),
				filepath.Base(filepath.Dir(file))})
		}
	}
	interfaces, _ := filepath.Glob("/sys/class/net/*")
	for _, file := range interfaces {
		name := filepath.Base(file)
		of := func(what string) string { return lineOf(filepath.Join(file, what), "") }
		if of("operstate") == "up" && !strings.HasPrefix(name, "veth") { // of containers
			all = append(all, Fact{"interface " + name,
				fmt.Sprintf("%s Mb/s, mtu %s", of("speed"), of("mtu"))})
		}
	}
	return all
}

// limits are those of this process, and the size of /dev/shm, which libfabric and MPIs use.
func limits() (all []Fact) {
	text := func(n uint64) string {
		if n == unix.RLIM_INFINITY {
			return "unlimited"
		}
		return fmt.Sprint(n)
	}
	for _, l := range []struct {
		name  string
		which int
	}{{"memlock", unix.RLIMIT_MEMLOCK}, {"nofile", unix.RLIMIT_NOFILE},
		{"address space", unix.RLIMIT_AS}} {
		var r unix.Rlimit
		if unix.Getrlimit(l.which, &r) == nil {
			all = append(all, Fact{"limit " + l.name, text(r.Cur) + ", at most " +
				text(r.Max)})
		}
	}
	var fs unix.Statfs_t
	if unix.Statfs("/dev/shm", &fs) == nil {
		all = append(all, Fact{"limit /dev/shm",
			fmt.Sprintf("%d MiB", int64(fs.Blocks)*fs.Bsize>>20)})
	}
	return all
}

// settings are those of the library in the environment, NAME=value, which the ranks of a job have,
// too.
func settings() []string {
	return slices.DeleteFunc(config.Passed(nil),
		func(entry string) bool { return !strings.HasPrefix(entry, "ARMCI_") })
}
