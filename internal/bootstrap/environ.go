// SPDX-License-Identifier: BSD-3-Clause

// The environment as C sees it. Go's copy is from the start of the process and
// misses what the application, or MPI_Init, has set since. config parses it.

package bootstrap

/*
extern char **environ;
static char *environ_entry(int i) { return environ ? environ[i] : 0; }
*/
import "C"

// Environ returns the current entries, of the form NAME=value, for config.LoadFrom.
// No other thread may change the environment meanwhile.
func Environ() []string {
	var entries []string
	for i := C.int(0); ; i++ {
		entry := C.environ_entry(i)
		if entry == nil {
			return entries
		}
		entries = append(entries, C.GoString(entry))
	}
}
