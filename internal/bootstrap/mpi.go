// SPDX-License-Identifier: BSD-3-Clause

// The MPI in the process, if any: finding it, its state, MPI_Init and
// MPI_Finalize. Every call is made on the caller's thread, so
// MPI_THREAD_SINGLE is enough. After MPI_Finalize nothing but MPI_Finalized
// may be called; callers check active first.

package bootstrap

/*
#cgo LDFLAGS: -ldl
#include "mpi_abi.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"libarmci/internal/config"
)

// mpiLibrary is the MPI that was found; its methods wrap the C calls.
type mpiLibrary struct {
	flavour C.int
}

func findMPI() *mpiLibrary { return &mpiLibrary{C.boot_mpi_find()} }

// mayBorrow is false in tests that pretend that no MPI is installed.
var mayBorrow = true

// loadLauncherMPI loads the MPI of the launcher. It is for a program that was started as several
// processes but from which the linker has dropped the unused MPI library. It tells whether there is
// an MPI then.
func (m *mpiLibrary) loadLauncherMPI(launch config.Launch) bool {
	switch {
	case m.present() || launch.Size == 1 || launch.PMIFirst || !mayBorrow:
	case launch.Name == "mpirun":
		m.flavour = C.boot_mpi_load(C.BOOT_MPI_OPEN)
	case launch.Name == "mpiexec":
		m.flavour = C.boot_mpi_load(C.BOOT_MPI_MPICH)
	}
	return m.present()
}

// loadMPICHForPMI loads an MPI that can join the job of a launcher with an unusable interface:
// MPICH has its own PMI.
func (m *mpiLibrary) loadMPICHForPMI(launch config.Launch) {
	ofMPICH := launch.PMI == "pmi1" || launch.PMI == "pmi2"
	if !m.present() && ofMPICH && launch.Size != 1 && mayBorrow {
		m.flavour = C.boot_mpi_load(C.BOOT_MPI_MPICH)
	}
}

// WhileWaiting is a C function without arguments, nil if there is no MPI. A thread has to call it
// now and then while it waits, so that MPI makes progress.
func WhileWaiting() unsafe.Pointer {
	if !findMPI().usable() {
		return nil
	}
	return C.boot_mpi_go_on
}

func (m *mpiLibrary) present() bool { return m.flavour != C.BOOT_MPI_NONE }
func (m *mpiLibrary) usable() bool {
	return m.present() && m.flavour != C.BOOT_MPI_UNKNOWN
}
func (m *mpiLibrary) initialised() bool { return m.present() && C.boot_mpi_initialized() != 0 }
func (m *mpiLibrary) finalized() bool   { return m.present() && C.boot_mpi_finalized() != 0 }

// active tells whether MPI may be called now.
func (m *mpiLibrary) active() bool { return m.initialised() && !m.finalized() }

// version returns the first line of the library's own description.
func (m *mpiLibrary) version() string {
	var text [128]C.char
	C.boot_mpi_version(&text[0], C.int(len(text)))
	return strings.Join(strings.Fields(C.GoString(&text[0])), " ")
}

func (m *mpiLibrary) unusable() error {
	var major, minor C.int
	which := ""
	if C.boot_mpi_abi_version(&major, &minor) != 0 {
		which = fmt.Sprintf(", standard ABI %d.%d", major, minor)
	}
	return fmt.Errorf("the MPI in this process (%q%s) is none that this library knows: %s",
		m.version(), which, C.BOOT_MPI_KNOWN)
}

// isOpenMPI tells whether Open MPI's launcher starts programs of this MPI, whatever its ABI.
func (m *mpiLibrary) isOpenMPI() bool { return m.name() == openMPI }

const openMPI = "Open MPI"

// name is that of the implementation.
func (m *mpiLibrary) name() string {
	switch {
	case m.flavour == C.BOOT_MPI_OPEN:
		return openMPI
	case m.flavour != C.BOOT_MPI_STANDARD:
		return "MPICH"
	}
	version := m.version()
	for _, name := range []string{openMPI, "MPICH"} {
		if strings.HasPrefix(version, name) {
			return name
		}
	}
	return version
}

// kind is the name, and the ABI where it is not the implementation's own.
func (m *mpiLibrary) kind() string {
	if m.flavour == C.BOOT_MPI_STANDARD {
		return m.name() + ", standard ABI"
	}
	return m.name()
}

func (m *mpiLibrary) world() uintptr { return uintptr(C.boot_mpi_comm_world()) }
func (m *mpiLibrary) null() uintptr  { return uintptr(C.boot_mpi_comm_null()) }

func (m *mpiLibrary) rankSize(comm uintptr) (rank, size int, err error) {
	var r, n C.int
	err = mpiError("MPI_Comm_size", C.boot_mpi_rank_size(C.uintptr_t(comm), &r, &n))
	return int(r), int(n), err
}

// initialise calls MPI_Init, and arranges for MPI_Finalize at a regular exit of
// a program that does not call it.
func (m *mpiLibrary) initialise(argc, argv unsafe.Pointer) error {
	if err := mpiError("MPI_Init", C.boot_mpi_init(argc, argv)); err != nil {
		return err
	}
	C.boot_mpi_finalize_at_exit()
	return nil
}

func mpiError(function string, code C.int) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s failed with code %d", function, int(code))
}

// InitMPI calls MPI_Init with the addresses of main's arguments (int *, char ***; nil is allowed).
// It does so if MPI is in the process or an MPI launcher started it, MPI is not initialised, and
// armcirun did not start it. The caller's thread becomes MPI's main thread.
func InitMPI(argc, argv unsafe.Pointer) error {
	mpi := findMPI()
	mpi.loadLauncherMPI(config.Launcher())
	if !mpi.present() || mpi.initialised() || config.Launcher().Name == "armcirun" {
		return nil
	}
	return mpi.initialise(argc, argv)
}

// FinalizeMPI calls MPI_Finalize if MPI is running, initialised by this library or not.
func FinalizeMPI() {
	if mpi := findMPI(); mpi.active() {
		C.boot_mpi_finalize()
	}
}

// MPIVersion returns one line about the MPI in the process, "" if there is none.
func MPIVersion() string {
	if mpi := findMPI(); mpi.present() {
		return mpi.version()
	}
	return ""
}

// NullComm returns MPI_COMM_NULL of the MPI in the process, which is not 0; without a usable MPI,
// 0.
func NullComm() uintptr {
	if mpi := findMPI(); mpi.usable() {
		return mpi.null()
	}
	return 0
}

// CommBytes returns the size of a communicator in C of the MPI in the process; without one, of the
// larger kind.
func CommBytes() int {
	if findMPI().flavour == C.BOOT_MPI_MPICH {
		return int(unsafe.Sizeof(C.int(0)))
	}
	return int(unsafe.Sizeof(uintptr(0)))
}

// ThreadLevel returns the result of MPI_Query_thread, in the numbers of that MPI (which ascend, and
// are other ones in the standard ABI), and whether MPI is running.
func ThreadLevel() (level int, running bool) {
	mpi := findMPI()
	if !mpi.active() || !mpi.usable() {
		return 0, false
	}
	var l C.int
	if C.boot_mpi_thread_level(&l) != 0 {
		return 0, false
	}
	return int(l), true
}
