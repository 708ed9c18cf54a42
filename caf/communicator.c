/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI communicator of a team, for programs that also use MPI: what the module opencoarrays of
 * OpenCoarrays calls. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "caf.h"

/* armci.h was included without MPI: a handle is an int or a pointer, the same as an integer
 * register */
#ifndef ARMCI_MPI_COMM_
extern uintptr_t armci_group_comm(ARMCI_Group *group);
#endif

/* Returns the Fortran handle. Collective over the team the first time. A null team means the
 * current one. */
CAF_API int _gfortran_caf_get_communicator(const void *team)
{
	struct caf_team *t = caf_team_of(team);
	if (!t)
		caf_fatal("get_communicator: not a team that this image has formed");
	if (!dlsym(RTLD_DEFAULT, "MPI_Init"))
		caf_fatal("get_communicator: the program is not linked with MPI");
	int (*to_fortran)(uintptr_t);
	/* of Open MPI; of MPI 5's standard ABI; MPICH's handles are those of Fortran */
	void *conversion = dlsym(RTLD_DEFAULT, "MPI_Comm_c2f");
	*(void **)&to_fortran = conversion ? conversion : dlsym(RTLD_DEFAULT, "MPI_Comm_toint");
	uintptr_t comm = (uintptr_t)armci_group_comm(&t->group);
	return to_fortran ? to_fortran(comm) : (int)comm;
}
