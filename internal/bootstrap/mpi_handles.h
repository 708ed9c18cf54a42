/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The MPI calls that take or give handles, for one type of handle. mpi_abi.c
 * includes this twice, having defined HANDLE (the type), NAME(verb) and BYTE
 * (MPI_BYTE of the flavour); hence no include guard. No other file may include it.
 */

static int NAME(rank_size)(uintptr_t comm, int *rank, int *size)
{
	int rc = ((int (*)(HANDLE, int *))mpi.MPI_Comm_rank)(NAME(from)(comm), rank);
	return rc ? rc : ((int (*)(HANDLE, int *))mpi.MPI_Comm_size)(NAME(from)(comm), size);
}

static int NAME(dup)(uintptr_t comm, uintptr_t *out)
{
	HANDLE made;
	int rc = ((int (*)(HANDLE, HANDLE *))mpi.MPI_Comm_dup)(NAME(from)(comm), &made);
	if (rc == 0)
		*out = NAME(to)(made);
	return rc;
}

static int NAME(free)(uintptr_t comm)
{
	HANDLE h = NAME(from)(comm);
	return ((int (*)(HANDLE *))mpi.MPI_Comm_free)(&h);
}

static void NAME(free_group)(HANDLE group)
{
	((int (*)(HANDLE *))mpi.MPI_Group_free)(&group);
}

static int NAME(create_from)(uintptr_t comm, HANDLE group, int tag, uintptr_t *out)
{
	HANDLE made;
	int rc = ((int (*)(HANDLE, HANDLE, int, HANDLE *))mpi.MPI_Comm_create_group)(
		NAME(from)(comm), group, tag, &made);
	if (rc == 0)
		*out = NAME(to)(made);
	return rc;
}

static int NAME(create_group)(uintptr_t comm, const int *ranks, int n, int tag, uintptr_t *out)
{
	HANDLE everybody;
	int rc = ((int (*)(HANDLE, HANDLE *))mpi.MPI_Comm_group)(NAME(from)(comm), &everybody);
	if (rc)
		return rc;
	HANDLE members;
	rc = ((int (*)(HANDLE, int, const int *, HANDLE *))mpi.MPI_Group_incl)(
		everybody, n, ranks, &members);
	if (rc == 0) {
		rc = NAME(create_from)(comm, members, tag, out);
		NAME(free_group)(members);
	}
	NAME(free_group)(everybody);
	return rc;
}

static int NAME(split)(uintptr_t comm, int color, int key, uintptr_t *out)
{
	HANDLE made;
	int rc = ((int (*)(HANDLE, int, int, HANDLE *))mpi.MPI_Comm_split)(NAME(from)(comm), color,
		key, &made);
	if (rc == 0)
		*out = NAME(to)(made);
	return rc;
}

static int NAME(bcast)(void *bytes, int n, uintptr_t comm)
{
	return ((int (*)(void *, int, HANDLE, int, HANDLE))mpi.MPI_Bcast)(bytes, n, BYTE, 0,
		NAME(from)(comm));
}

static int NAME(allgather)(const void *mine, int bytes, void *all, uintptr_t comm)
{
	return ((int (*)(const void *, int, HANDLE, void *, int, HANDLE, HANDLE))mpi.MPI_Allgather)(
		mine, bytes, BYTE, all, bytes, BYTE, NAME(from)(comm));
}

static int NAME(allgatherv)(const void *mine, int bytes, void *all, const int *counts,
                            const int *displacements, uintptr_t comm)
{
	return ((int (*)(const void *, int, HANDLE, void *, const int *, const int *, HANDLE,
	                 HANDLE))mpi.MPI_Allgatherv)(
		mine, bytes, BYTE, all, counts, displacements, BYTE, NAME(from)(comm));
}

static int NAME(probe)(uintptr_t comm)
{
	int me, size, there;
	char status[256]; /* more than any MPI's; "ignored" is another address in each */
	int rc = NAME(rank_size)(comm, &me, &size);
	return rc ? rc : ((int (*)(int, int, HANDLE, int *, void *))mpi.MPI_Iprobe)(
		me, UNUSUAL_TAG, NAME(from)(comm), &there, status);
}

static int NAME(abort)(int code)
{
	return ((int (*)(HANDLE, int))mpi.MPI_Abort)(NAME(from)(boot_mpi_comm_world()), code);
}

#undef HANDLE
#undef NAME
#undef BYTE
