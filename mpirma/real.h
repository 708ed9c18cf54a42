// SPDX-License-Identifier: BSD-3-Clause
// The MPI's own functions, as this library calls them: a table of pointers, filled by real_open
// from PMPI_ names. Handles are uintptr_t (an int parameter takes the low 32 bits); an output
// handle is written into a uintptr_t that was 0 before, an array of handles is as the MPI has it.
// It lists functions, and decides nothing. Part of rma.h, which has the types.
#ifndef MPIRMA_REAL_H
#define MPIRMA_REAL_H

typedef void real_fn(void);

// X(result, name, parameters...). These every MPI-3 has.
#define REAL_ENVIRONMENT(X) \
	X(int, Init, int *, char ***) \
	X(int, Init_thread, int *, char ***, int, int *) \
	X(int, Finalize, void) \
	X(int, Initialized, int *) \
	X(int, Finalized, int *) \
	X(int, Query_thread, int *) \
	X(int, Get_library_version, char *, int *) \
	X(int, Abort, handle, int) \
	X(int, Alloc_mem, aint, handle info, void *where) \
	X(int, Free_mem, void *) \
	X(int, Error_class, int, int *) \
	X(int, Error_string, int, char *, int *) \
	X(int, Add_error_class, int *) \
	X(int, Add_error_code, int, int *) \
	X(int, Add_error_string, int, const char *) \
	X(int, Errhandler_free, handle *) \
	X(int, Info_create, handle *) \
	X(int, Info_dup, handle, handle *) \
	X(int, Info_free, handle *) \
	X(int, Info_get, handle, const char *key, int length, char *value, int *flag) \
	X(int, Info_get_valuelen, handle, const char *key, int *length, int *flag) \
	X(int, Info_set, handle, const char *key, const char *value) \
	X(int, Info_get_nkeys, handle, int *) \
	X(int, Info_get_nthkey, handle, int, char *key)

#define REAL_COMMUNICATORS(X) \
	X(int, Comm_rank, handle, int *) \
	X(int, Comm_size, handle, int *) \
	X(int, Comm_dup, handle, handle *) \
	X(int, Comm_free, handle *) \
	X(int, Comm_group, handle, handle *) \
	X(int, Comm_compare, handle, handle, int *) \
	X(int, Comm_test_inter, handle, int *) \
	X(int, Comm_remote_size, handle, int *) \
	X(int, Comm_split_type, handle, int type, int key, handle info, handle *) \
	X(int, Comm_call_errhandler, handle, int) \
	X(int, Comm_get_errhandler, handle, handle *) \
	X(int, Comm_set_errhandler, handle, handle) \
	X(int, Comm_create_keyval, void *copy, void *destroy, int *keyval, void *extra) \
	X(int, Comm_free_keyval, int *) \
	X(int, Comm_set_attr, handle, int keyval, void *) \
	X(int, Group_size, handle, int *) \
	X(int, Group_rank, handle, int *) \
	X(int, Group_translate_ranks, handle from, int n, const int *ranks, handle to, int *out) \
	X(int, Group_incl, handle, int n, const int *ranks, handle *) \
	X(int, Group_union, handle, handle, handle *) \
	X(int, Group_free, handle *) \
	X(int, Barrier, handle) \
	X(int, Bcast, void *, int, handle type, int root, handle) \
	X(int, Allreduce, const void *, void *, int, handle type, handle op, handle) \
	X(int, Allgather, const void *, int, handle type, void *, int, handle type2, handle) \
	X(int, Allgatherv, const void *, int, handle type, void *, const int *counts, \
		const int *places, handle type2, handle) \
	X(int, Iprobe, int rank, int tag, handle, int *flag, void *status) \
	X(int, Send, const void *, int, handle type, int rank, int tag, handle) \
	X(int, Irecv, void *, int, handle type, int rank, int tag, handle, handle *request)

#define REAL_TYPES(X) \
	X(int, Type_size, handle, int *) \
	X(int, Type_size_x, handle, count_t *) \
	X(int, Type_get_extent, handle, aint *lb, aint *extent) \
	X(int, Type_get_extent_x, handle, count_t *lb, count_t *extent) \
	X(int, Type_get_true_extent, handle, aint *lb, aint *extent) \
	X(int, Type_get_true_extent_x, handle, count_t *lb, count_t *extent) \
	X(int, Type_get_envelope, handle, int *ints, int *aints, int *types, int *combiner) \
	X(int, Type_get_contents, handle, int, int, int, int *ints, aint *aints, void *types) \
	X(int, Type_create_keyval, void *copy, void *destroy, int *keyval, void *extra) \
	X(int, Type_free_keyval, int *) \
	X(int, Type_set_attr, handle, int keyval, void *) \
	X(int, Type_get_attr, handle, int keyval, void *, int *flag) \
	X(int, Type_dup, handle, handle *) \
	X(int, Type_free, handle *) \
	X(int, Op_commutative, handle, int *) \
	X(int, Grequest_start, void *query, void *release, void *cancel, void *extra, \
		handle *request) \
	X(int, Grequest_complete, handle) \
	X(int, Request_free, handle *) \
	X(int, Request_get_status, handle, int *flag, void *status) \
	X(int, Status_set_elements, void *, handle type, int) \
	X(int, Status_set_cancelled, void *, int)

#define REAL_WINDOWS(X) \
	X(int, Win_create, void *base, aint, int unit, handle info, handle comm, handle *) \
	X(int, Win_allocate, aint, int unit, handle info, handle comm, void *where, handle *) \
	X(int, Win_allocate_shared, aint, int unit, handle info, handle comm, void *where, \
		handle *) \
	X(int, Win_create_dynamic, handle info, handle comm, handle *) \
	X(int, Win_attach, handle, void *, aint) \
	X(int, Win_detach, handle, const void *) \
	X(int, Win_free, handle *) \
	X(int, Win_get_attr, handle, int keyval, void *, int *flag) \
	X(int, Win_set_attr, handle, int keyval, void *) \
	X(int, Win_delete_attr, handle, int keyval) \
	X(int, Win_create_keyval, void *copy, void *destroy, int *keyval, void *extra) \
	X(int, Win_free_keyval, int *) \
	X(int, Win_get_group, handle, handle *) \
	X(int, Win_get_name, handle, char *, int *) \
	X(int, Win_set_name, handle, const char *) \
	X(int, Win_get_info, handle, handle *) \
	X(int, Win_set_info, handle, handle) \
	X(int, Win_create_errhandler, void *, handle *) \
	X(int, Win_set_errhandler, handle, handle) \
	X(int, Win_get_errhandler, handle, handle *) \
	X(int, Win_call_errhandler, handle, int) \
	X(int, Win_shared_query, handle, int rank, aint *, int *unit, void *where)

#define REAL_EPOCHS(X) \
	X(int, Win_fence, int assert, handle) \
	X(int, Win_post, handle group, int assert, handle) \
	X(int, Win_start, handle group, int assert, handle) \
	X(int, Win_complete, handle) \
	X(int, Win_wait, handle) \
	X(int, Win_test, handle, int *flag) \
	X(int, Win_lock, int type, int rank, int assert, handle) \
	X(int, Win_unlock, int rank, handle) \
	X(int, Win_lock_all, int assert, handle) \
	X(int, Win_unlock_all, handle) \
	X(int, Win_flush, int rank, handle) \
	X(int, Win_flush_all, handle) \
	X(int, Win_flush_local, int rank, handle) \
	X(int, Win_flush_local_all, handle) \
	X(int, Win_sync, handle)

// The operations, with counts of type N: REAL_OPERATIONS(X, int, ) and, in MPI-4,
// REAL_OPERATIONS(X, count_t, _c).
#define REAL_OPERATIONS(X, N, c) \
	X(int, Put##c, const void *, N, handle type, int rank, aint at, N, handle type2, \
		handle win) \
	X(int, Get##c, void *, N, handle type, int rank, aint at, N, handle type2, handle win) \
	X(int, Accumulate##c, const void *, N, handle type, int rank, aint at, N, handle type2, \
		handle op, handle win) \
	X(int, Get_accumulate##c, const void *, N, handle type, void *, N, handle type2, int rank, \
		aint at, N, handle type3, handle op, handle win) \
	X(int, Rput##c, const void *, N, handle type, int rank, aint at, N, handle type2, \
		handle win, handle *) \
	X(int, Rget##c, void *, N, handle type, int rank, aint at, N, handle type2, handle win, \
		handle *) \
	X(int, Raccumulate##c, const void *, N, handle type, int rank, aint at, N, handle type2, \
		handle op, handle win, handle *) \
	X(int, Rget_accumulate##c, const void *, N, handle type, void *, N, handle type2, \
		int rank, aint at, N, handle type3, handle op, handle win, handle *)

#define REAL_ELEMENTS(X) \
	X(int, Fetch_and_op, const void *, void *, handle type, int rank, aint at, handle op, \
		handle win) \
	X(int, Compare_and_swap, const void *, const void *, void *, handle type, int rank, \
		aint at, handle win)

// These may be NULL. Conversions are macros in MPICH's header, not functions.
#define REAL_OPTIONAL(X) \
	REAL_OPERATIONS(X, count_t, _c) \
	X(int, Win_create_c, void *base, aint, aint unit, handle info, handle comm, handle *) \
	X(int, Win_allocate_c, aint, aint unit, handle info, handle comm, void *where, handle *) \
	X(int, Win_allocate_shared_c, aint, aint unit, handle info, handle comm, void *where, \
		handle *) \
	X(int, Win_shared_query_c, handle, int rank, aint *, aint *unit, void *where) \
	X(int, Type_get_envelope_c, handle, count_t *ints, count_t *aints, count_t *large, \
		count_t *types, int *combiner) \
	X(int, Type_get_contents_c, handle, count_t, count_t, count_t, count_t, int *ints, \
		aint *aints, count_t *large, void *types) \
	X(int, Win_c2f, handle) \
	X(handle, Win_f2c, int)

#define REAL_NEEDED(X) \
	REAL_ENVIRONMENT(X) \
	REAL_COMMUNICATORS(X) \
	REAL_TYPES(X) \
	REAL_WINDOWS(X) \
	REAL_EPOCHS(X) \
	REAL_OPERATIONS(X, int, ) \
	REAL_ELEMENTS(X)

struct real {
#define REAL_MEMBER(result, name, ...) result (*name)(__VA_ARGS__);
	REAL_NEEDED(REAL_MEMBER)
	REAL_OPTIONAL(REAL_MEMBER)
#undef REAL_MEMBER
	// MPICH's generalised requests, which MPI_Wait and MPI_Test poll, and Open MPI's callbacks
	// of its progress engine.
	int (*grequest_poll)(void *query, void *release, void *cancel, void *poll, void *wait,
		void *extra, handle *request);
	int (*progress_register)(int (*)(void));
};
extern struct real real;

// Fills the table; false if there is no MPI in the process yet, or one that lacks a needed
// function, whose name is then at `missing`.
bool real_open(const char **missing);
// The address of a function or object of the MPI by its name; NULL: it has none. After real_open.
void *real_symbol(const char *name);
real_fn *real_function(const char *name);
void *real_object(const char *name);

#endif
