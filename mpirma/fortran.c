// SPDX-License-Identifier: BSD-3-Clause
// What Fortran programs need beside the C functions. The Fortran libraries of both MPIs call C for
// everything that is one-sided, with one exception: attributes of windows are read from the MPI's
// own window, which knows nothing of ours. Open MPI does so in mpi_win_get_attr_ (which mpi_f08
// calls by its pmpi_ name), MPICH in MPII_Win_get_attr, for all of its Fortran interfaces. Both are
// asked first, which sets the flag as the compiler wants it; then the value is ours.
#include "rma.h"

typedef void get_attr(const int *win, const int *keyval, aint *value, int *flag, int *ierror);
typedef int get_attr_of_mpich(handle win, int keyval, void *value, int *flag, int kind);

static int function_missing(const char *name)
{
	return abi_open() ? rma_error(NULL, name, abi.err_other, "the MPI does not have it") : 1;
}

// The value of a predefined attribute, as Fortran has it: not its address.
static void predefined(struct rma_win *w, int keyval, aint *value)
{
	void *c;
	if (rma_attribute(w, keyval, &c))
		*value = keyval == abi.win_base ? (aint)c :
			keyval == abi.win_size  ? *(aint *)c :
						  *(int *)c;
}

static void by_open_mpi(const char *name, const int *win, const int *keyval, aint *value, int *flag,
	int *ierror)
{
	get_attr *mpi = abi_open() ? (get_attr *)real_function(name) : NULL;
	if (!mpi) {
		*ierror = function_missing(name);
		return;
	}
	mpi(win, keyval, value, flag, ierror);
	struct rma_win *w = abi.pointers && real.Win_f2c ? rma_known(real.Win_f2c(*win)) : NULL;
	if (w)
		predefined(w, *keyval, value);
}

PUBLIC get_attr mpi_win_get_attr_, pmpi_win_get_attr_;
PUBLIC get_attr_of_mpich MPII_Win_get_attr;

void mpi_win_get_attr_(const int *win, const int *keyval, aint *value, int *flag, int *ierror)
{
	by_open_mpi("mpi_win_get_attr_", win, keyval, value, flag, ierror);
}

void pmpi_win_get_attr_(const int *win, const int *keyval, aint *value, int *flag, int *ierror)
{
	by_open_mpi("pmpi_win_get_attr_", win, keyval, value, flag, ierror);
}

// Fortran's keyvals are C's and 1. MPICH may call this function for C, too. All bits of the handle
// are passed on: its libmpi_abi has the function, too.
int MPII_Win_get_attr(handle win, int keyval, void *value, int *flag, int kind)
{
	get_attr_of_mpich *mpi = abi_open() ?
		(get_attr_of_mpich *)real_function("MPII_Win_get_attr") :
		NULL;
	if (!mpi)
		return function_missing("MPII_Win_get_attr");
	int failed = mpi(win, keyval, value, flag, kind);
	struct rma_win *w = failed ? NULL : rma_known(rma_handle(win));
	if (w)
		predefined(w, keyval - 1, value);
	return failed;
}
