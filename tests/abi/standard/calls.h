// SPDX-License-Identifier: BSD-3-Clause
// The functions of the stub that translate more than their parameters: arrays, callbacks,
// attributes, and those that answer themselves. Part of stub.c.
#ifndef STANDARD_CALLS_H
#define STANDARD_CALLS_H

/* what it is ----------------------------------------------------------------------------------- */

// STANDARD_ABI=MAJOR.MINOR: another version than 1.0.
DEFINE(int, Abi_get_version, int *major, int *minor)
{
	const char *other = getenv("STANDARD_ABI");
	*major = 1;
	*minor = 0;
	return other && sscanf(other, "%d.%d", major, minor) != 2;
}

DEFINE(int, Get_library_version, char *text, int *length)
{
	return REAL(Get_library_version)(text, length);
}

DEFINE(int, Init, int *argc, char ***argv) { return out_code(REAL(Init)(argc, argv)); }

DEFINE(int, Init_thread, int *argc, char ***argv, int level, int *got)
{
	int code = REAL(Init_thread)(argc, argv, in_level(level), got);
	*got = out_level(*got);
	return out_code(code);
}

DEFINE(double, Wtime, void) { return REAL(Wtime)(); }
DEFINE(MPI_Aint, Aint_add, MPI_Aint a, MPI_Aint b) { return a + b; }
DEFINE(MPI_Aint, Aint_diff, MPI_Aint a, MPI_Aint b) { return a - b; }
DEFINE(int, Comm_toint, std comm) { return in_comm(comm); }
DEFINE(std, Comm_fromint, int comm) { return out_comm(comm); }
DEFINE(int, Win_toint, std win) { return in_win(win); }
DEFINE(std, Win_fromint, int win) { return out_win(win); }

/* arrays --------------------------------------------------------------------------------------- */

enum { MANY = 64 }; // requests, or datatypes, in one call

static int *in_requests(int n, const std *from, int *to)
{
	if (n > MANY)
		abort();
	for (int i = 0; i < n; i++)
		to[i] = in_request(from[i]);
	return to;
}

static int out_requests(int code, int n, std *to, const int *from)
{
	for (int i = 0; i < n; i++)
		to[i] = out_request(from[i]);
	return out_code(code);
}

static void out_statuses(int n, struct std_status *to, const MPI_Status *from)
{
	for (int i = 0; to && i < n; i++)
		out_status(&to[i], &from[i]);
}

DEFINE(int, Waitall, int n, std *requests, struct std_status *statuses)
{
	int native[MANY];
	MPI_Status got[MANY] = { 0 };
	int code = REAL(Waitall)(n, in_requests(n, requests, native), got);
	out_statuses(n, statuses, got);
	return out_requests(code, n, requests, native);
}

DEFINE(int, Testall, int n, std *requests, int *flag, struct std_status *statuses)
{
	int native[MANY];
	MPI_Status got[MANY] = { 0 };
	int code = REAL(Testall)(n, in_requests(n, requests, native), flag, got);
	out_statuses(n, statuses, got);
	return out_requests(code, n, requests, native);
}

DEFINE(int, Waitany, int n, std *requests, int *which, struct std_status *status)
{
	int native[MANY];
	MPI_Status got = { 0 };
	int code = REAL(Waitany)(n, in_requests(n, requests, native), which, &got);
	out_status(status, &got);
	return out_requests(code, n, requests, native);
}

DEFINE(int, Testany, int n, std *requests, int *which, int *flag, struct std_status *status)
{
	int native[MANY];
	MPI_Status got = { 0 };
	int code = REAL(Testany)(n, in_requests(n, requests, native), which, flag, &got);
	out_status(status, &got);
	return out_requests(code, n, requests, native);
}

DEFINE(int, Type_create_struct, int n, const int *lengths, const MPI_Aint *places, const std *types,
	std *made)
{
	int native[MANY], type = 0;
	if (n > MANY)
		abort();
	for (int i = 0; i < n; i++)
		native[i] = in_type(types[i]);
	int code = REAL(Type_create_struct)(n, lengths, places, native, &type);
	*made = out_type(type);
	return out_code(code);
}

DEFINE(int, Type_create_darray, int size, int rank, int n, const int *sizes, const int *how,
	const int *arguments, const int *grid, int order, std type, std *made)
{
	int native[MANY], given[MANY], built = 0;
	if (n > MANY)
		abort();
	for (int i = 0; i < n; i++) {
		native[i] = in_distribution(how[i]);
		given[i] = arguments[i] == STANDARD_DEFAULT ? MPI_DISTRIBUTE_DFLT_DARG :
							      arguments[i];
	}
	int code = REAL(Type_create_darray)(size, rank, n, sizes, native, given, grid,
		in_order(order), in_type(type), &built);
	*made = out_type(built);
	return out_code(code);
}

// The order, and how a dimension is distributed, are among the integers. STANDARD_ARRAYS=openmpi:
// they have the numbers of Open MPI's own ABI, as in its libmpi_abi of version 6.0.
static void out_integers(int combiner, int n, int *ints)
{
	const char *numbers = getenv("STANDARD_ARRAYS");
	int open = numbers && strcmp(numbers, "openmpi") == 0, *order = &ints[n - 1];
	if (combiner != MPI_COMBINER_SUBARRAY && combiner != MPI_COMBINER_DARRAY)
		return;
	*order = open ? *order != MPI_ORDER_C : out_order(*order);
	if (combiner != MPI_COMBINER_DARRAY)
		return;
	int dimensions = ints[2], *how = ints + 3 + dimensions, *given = how + dimensions;
	for (int i = 0; i < dimensions; i++) {
		int number = how[i] == MPI_DISTRIBUTE_BLOCK ? 0 :
			how[i] == MPI_DISTRIBUTE_CYCLIC ? 1 : 2;
		how[i] = open ? number : out_distribution(how[i]);
		if (given[i] == MPI_DISTRIBUTE_DFLT_DARG)
			given[i] = open ? -1 : STANDARD_DEFAULT;
	}
}

DEFINE(int, Type_get_contents, std type, int n, int naints, int ntypes, int *ints, MPI_Aint *aints,
	std *types)
{
	int native[MANY], a, b, c, combiner;
	if (ntypes > MANY)
		abort();
	int code = REAL(Type_get_contents)(in_type(type), n, naints, ntypes, ints, aints, native);
	if (code != MPI_SUCCESS)
		return out_code(code);
	REAL(Type_get_envelope)(in_type(type), &a, &b, &c, &combiner);
	out_integers(combiner, n, ints);
	for (int i = 0; i < ntypes; i++)
		types[i] = out_type(native[i]);
	return MPI_SUCCESS;
}

/* attributes ----------------------------------------------------------------------------------- */

// Values of MPI_WIN_CREATE_FLAVOR and MPI_WIN_MODEL are addresses of what is to be translated.
DEFINE(int, Win_get_attr, std win, int keyval, void *value, int *flag)
{
	static int flavors[LENGTH(flavor)], models[LENGTH(model)];
	int native = in_keyval(keyval);
	int code = REAL(Win_get_attr)(in_win(win), native, value, flag);
	if (code != MPI_SUCCESS || !*flag)
		return out_code(code);
	int **at = value;
	for (size_t i = 0; native == MPI_WIN_CREATE_FLAVOR && i < LENGTH(flavor); i++)
		if (**at == native_flavor[i]) {
			flavors[i] = (int)standard_flavor[i];
			*at = &flavors[i];
			break;
		}
	for (size_t i = 0; native == MPI_WIN_MODEL && i < LENGTH(model); i++)
		if (**at == native_model[i]) {
			models[i] = (int)standard_model[i];
			*at = &models[i];
			break;
		}
	return MPI_SUCCESS;
}

// What a keyval's callbacks get as extra state; never freed.
struct callbacks {
	int (*copy)(std, int, void *, void *, void *, int *);
	int (*destroy)(std, int, void *, void *);
	void *extra;
};

// For one kind of object: its callbacks, and the function that makes a keyval.
#define KEYVALS(Object, kind) \
	static int copy_##kind(int h, int keyval, void *extra, void *in, void *out, int *flag) \
	{ \
		struct callbacks *c = extra; \
		*flag = 0; \
		return c->copy ? c->copy(out_##kind(h), keyval, c->extra, in, out, flag) : 0; \
	} \
	static int destroy_##kind(int h, int keyval, void *value, void *extra) \
	{ \
		struct callbacks *c = extra; \
		return c->destroy ? c->destroy(out_##kind(h), keyval, value, c->extra) : 0; \
	} \
	DEFINE(int, Object##_create_keyval, void *copy, void *destroy, int *keyval, void *extra) \
	{ \
		struct callbacks *c = malloc(sizeof *c); \
		*c = (struct callbacks){ copy, destroy, extra }; \
		return out_code(REAL(Object##_create_keyval)(copy_##kind, destroy_##kind, keyval, \
			c)); \
	}
KEYVALS(Comm, comm)
KEYVALS(Type, type)
KEYVALS(Win, win)

/* other callbacks ------------------------------------------------------------------------------ */

typedef void std_handler(std *, int *, ...);

// Error handlers have no extra state: each takes one of a few functions.
enum { HANDLERS = 8 };
static std_handler *handlers[HANDLERS];

static void call_errhandler(int slot, int win, int code)
{
	std h = out_win(win);
	int class = out_code(code);
	handlers[slot](&h, &class);
}
#define HANDLER(slot) \
	static void handle_##slot(int *win, int *code, ...) { call_errhandler(slot, *win, *code); }
HANDLER(0) HANDLER(1) HANDLER(2) HANDLER(3) HANDLER(4) HANDLER(5) HANDLER(6) HANDLER(7)

DEFINE(int, Win_create_errhandler, std_handler *function, std *made)
{
	static MPI_Win_errhandler_function *const each[] = { handle_0, handle_1, handle_2, handle_3,
		handle_4, handle_5, handle_6, handle_7 };
	static int used;
	int native = 0, slot = used++ % HANDLERS;
	handlers[slot] = function;
	int code = REAL(Win_create_errhandler)(each[slot], &native);
	*made = out_errhandler(native);
	return out_code(code);
}

DEFINE(int, Op_create, void *function, int commutes, std *made)
{
	int native = 0;
	int code = REAL(Op_create)(function, commutes, &native); // never called
	*made = out_op(native);
	return out_code(code);
}

// What a generalised request's callbacks get as extra state; release_request frees it.
struct request_callbacks {
	int (*query)(void *, struct std_status *);
	int (*release)(void *);
	int (*cancel)(void *, int);
	void *extra;
};

static int query_request(void *extra, MPI_Status *status)
{
	struct request_callbacks *c = extra;
	struct std_status got = { 0 };
	int code = c->query(c->extra, &got);
	*status = in_status(&got);
	return code;
}

static int release_request(void *extra)
{
	struct request_callbacks *c = extra;
	int code = c->release(c->extra);
	free(c);
	return code;
}

static int cancel_request(void *extra, int complete)
{
	struct request_callbacks *c = extra;
	return c->cancel(c->extra, complete);
}

DEFINE(int, Grequest_start, void *query, void *release, void *cancel, void *extra, std *made)
{
	struct request_callbacks *c = malloc(sizeof *c);
	int native = 0;
	*c = (struct request_callbacks){ query, release, cancel, extra };
	int code = REAL(Grequest_start)(query_request, release_request, cancel_request, c, &native);
	*made = out_request(native);
	return out_code(code);
}

#endif
