// SPDX-License-Identifier: BSD-3-Clause
// model.c - random use of windows against a model: in each round all ranks draw, from the same
// random numbers, a kind of window, a synchronisation and operations with random types, datatypes
// and operators, on areas that do not conflict or with operators that commute; every rank computes
// what all windows must contain, and compares its own after the round.
//
//   MODEL_SEED=n repeats a run, MODEL_ROUNDS=n and MODEL_SECONDS=n say how long it is (whichever is
//   over first).
#include "check.h"
#include "oracle.h"

// A window is AREAS areas of AREA bytes; the last one is common: all origins add to it.
enum { AREAS = 16, AREA = 1024, BYTES = AREAS * AREA, SHAPES = 6, MOST_OPS = 24 };
enum kind { CREATE, ALLOCATE, DYNAMIC, KINDS };
enum sync { FENCE, PSCW, LOCK, LOCK_ALL, SYNCS };
enum action { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH, ADD_COMMON, ACTIONS };

static const char *const sync_name[SYNCS] = {"fence", "post-start", "lock", "lock_all and flush"};
static const char *const kind_name[KINDS] = {"create", "allocate", "dynamic"};
static const char *const action_name[ACTIONS] = {"put", "get", "accumulate", "get_accumulate",
	"fetch_and_op", "add to the common area"};

struct operation {
	enum action action;
	// at: bytes from the window's base; here, there: shapes of the two sides
	int origin, target, op, n, at, here, there;
	const struct oracle *o;
	uint64_t salt; // of the data
};

static struct oracle table[64]; // the types that are used
static int types, common_type, area_type[AREAS];
static char *model; // np windows, as they must be
static char *memory;
static MPI_Win win;
static MPI_Aint *address; // of dynamic windows; 0 in all others
static uint64_t seed;

// n elements of a type, with or without gaps: the datatype, committed, and where element i is (in
// elements).
static MPI_Datatype shape(int kind, int n, MPI_Datatype element, int *place)
{
	MPI_Datatype type;
	int lengths[AREA], i;
	for (i = 0; i < n; i++) {
		static const int spread[SHAPES] = {1, 1, 2, 3, 1, 2};
		place[i] = i * spread[kind] + (kind == 3 ? i / 4 : 0);
		lengths[i] = 1;
	}
	if (kind == 4) { // backward
		for (i = 0; i < n; i++)
			place[i] = n - 1 - i;
	}
	if (kind == 0)
		return element;
	if (kind == 1)
		CHECK_MPI(MPI_Type_contiguous(n, element, &type));
	else if (kind == 2)
		CHECK_MPI(MPI_Type_vector(n, 1, 2, element, &type));
	else if (kind == 5)
		CHECK_MPI(MPI_Type_create_indexed_block(n, 1, place, element, &type));
	else
		CHECK_MPI(MPI_Type_indexed(n, lengths, place, element, &type));
	CHECK_MPI(MPI_Type_commit(&type));
	return type;
}

static void free_shape(int kind, MPI_Datatype *type)
{
	if (kind != 0)
		CHECK_MPI(MPI_Type_free(type));
}

// Element i of the data of an operation.
static void element(const struct operation *p, int i, void *to)
{
	uint64_t state = p->salt + (uint64_t)i * 977;
	p->o->set(to, check_between(&state, 0, 40));
}

// Draws an operation on an area that is the origin's alone in this round.
static void draw(struct operation *p, uint64_t *random, int origin, int area)
{
	p->origin = origin;
	p->target = check_between(random, 0, np - 1);
	p->action = (enum action)check_between(random, 0, ACTIONS - 1);
	p->o = &table[area_type[area]];
	do
		p->op = check_between(random, 0, O_OPS - 1);
	while (!(p->o->ops & BIT(p->op)) || (p->op == O_NO_OP && p->action == ACCUMULATE));
	p->salt = check_random(random);
	p->here = check_between(random, 0, SHAPES - 1);
	p->there = check_between(random, 0, SHAPES - 1);
	int most = AREA / ((int)p->o->size * 4) - 1;
	p->n = p->action == FETCH ? 1 : check_between(random, 1, most > 60 ? 60 : most);
	p->at = area * AREA + (int)p->o->size * check_between(random, 0, 2);
	if (p->action == FETCH)
		p->here = p->there = 0;
	if (p->action == ADD_COMMON) { // of 64-bit integers, anywhere
		p->o = &table[common_type];
		p->op = O_SUM;
		p->n = check_between(random, 1, 30);
		p->at = (AREAS - 1) * AREA + 8 * check_between(random, 0, 20);
	}
}

// The number of an origin's operations of a round is that of the areas it has at all targets.
static int draw_round(struct operation *list, uint64_t *random)
{
	int per = (AREAS - 1) / np, count = 0;
	for (int origin = 0; origin < np; origin++) {
		for (int k = 0; k < per && k < MOST_OPS / 4 + 1; k++)
			draw(&list[count++], random, origin, origin * per + k);
	}
	return count;
}

// The buffers of an operation of mine: data on its way, and what comes back.
static char origins[AREAS][4 * AREA], results[AREAS][4 * AREA];

static void issue(const struct operation *p, int slot)
{
	int place[AREA], ignored[AREA], many = p->here != 0, to_many = p->there != 0;
	MPI_Datatype here = shape(p->here, p->n, p->o->type, place),
		     there = shape(p->there, p->n, p->o->type, ignored);
	int n = many ? 1 : p->n, m = to_many ? 1 : p->n;
	MPI_Aint at = address[p->target] + p->at;
	char *data = origins[slot], *result = results[slot];
	MPI_Op op = oracle_op(p->op);
	memset(result, 0, 4 * AREA);
	for (int i = 0; i < p->n; i++)
		element(p, i, data + p->o->size * (size_t)place[i]);
	switch (p->action) {
	case PUT: CHECK_MPI(MPI_Put(data, n, here, p->target, at, m, there, win)); break;
	case GET: CHECK_MPI(MPI_Get(result, n, here, p->target, at, m, there, win)); break;
	case ADD_COMMON:
	case ACCUMULATE:
		CHECK_MPI(MPI_Accumulate(data, n, here, p->target, at, m, there, op, win));
		break;
	case GET_ACCUMULATE:
		CHECK_MPI(MPI_Get_accumulate(data, n, here, result, n, here, p->target, at, m,
			there, op, win));
		break;
	case FETCH: CHECK_MPI(MPI_Fetch_and_op(data, result, here, p->target, at, op, win)); break;
	case ACTIONS: break;
	}
	free_shape(p->here, &here);
	free_shape(p->there, &there);
}

// What the operation does to the model, and, if it is mine, what must have come back.
static void apply(const struct operation *p, int slot)
{
	int here[AREA], there[AREA];
	MPI_Datatype a = shape(p->here, p->n, p->o->type, here),
		     b = shape(p->there, p->n, p->o->type, there);
	for (int i = 0; i < p->n; i++) {
		_Alignas(16) char value[32];
		char where[128],
			*target = model + (size_t)p->target * BYTES + p->at +
			p->o->size * (size_t)there[i];
		element(p, i, value);
		if (p->origin == me &&
			(p->action == GET || p->action == GET_ACCUMULATE || p->action == FETCH)) {
			snprintf(where, sizeof where, "seed %" PRIu64 ": result of %s at rank %d",
				seed, action_name[p->action], p->target);
			oracle_check(p->o, results[slot] + p->o->size * (size_t)here[i], target, 1,
				where);
		}
		if (p->action == PUT)
			memcpy(target, value, p->o->size);
		else if (p->action != GET)
			p->o->apply(p->op, target, value);
	}
	free_shape(p->here, &a);
	free_shape(p->there, &b);
}

// Types without padding, which may change or not. Products of complex numbers may be rounded in
// more than one way, and products of other floating point numbers make negative zeros, which are
// neither larger nor smaller than zero.
static void choose_types(void)
{
	int all;
	const struct oracle *o = oracle_table(&all);
	for (int t = 0; t < all; t++) {
		if (o[t].bytes != o[t].size || o[t].gap_end > o[t].gap)
			continue;
		if (o[t].type == MPI_INT64_T)
			common_type = types;
		table[types] = o[t];
		if (!(o[t].ops & BIT(O_BAND)))
			table[types].ops &= ~BIT(O_PROD);
		types++;
	}
}

static void open_window(enum kind kind)
{
	if (kind == ALLOCATE)
		CHECK_MPI(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	else
		memory = check_alloc(BYTES);
	if (kind == CREATE)
		CHECK_MPI(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	for (int r = 0; r < np; r++)
		address[r] = 0;
	if (kind == DYNAMIC) {
		MPI_Aint mine;
		CHECK_MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
		CHECK_MPI(MPI_Win_attach(win, memory, BYTES));
		CHECK_MPI(MPI_Get_address(memory, &mine));
		CHECK_MPI(MPI_Allgather(&mine, 1, MPI_AINT, address, 1, MPI_AINT, MPI_COMM_WORLD));
	}
}

static void close_window(enum kind kind)
{
	if (kind == DYNAMIC)
		CHECK_MPI(MPI_Win_detach(win, memory));
	CHECK_MPI(MPI_Win_free(&win));
	if (kind != ALLOCATE)
		free(memory);
}

static void begin(enum sync sync, MPI_Group world)
{
	switch (sync) {
	case FENCE: CHECK_MPI(MPI_Win_fence(0, win)); break;
	case PSCW:
		CHECK_MPI(MPI_Win_post(world, 0, win));
		CHECK_MPI(MPI_Win_start(world, 0, win));
		break;
	case LOCK_ALL:
		barrier();
		CHECK_MPI(MPI_Win_lock_all(0, win));
		break;
	default: barrier();
	}
}

static void end(enum sync sync)
{
	switch (sync) {
	case FENCE: CHECK_MPI(MPI_Win_fence(0, win)); break;
	case PSCW:
		CHECK_MPI(MPI_Win_complete(win));
		CHECK_MPI(MPI_Win_wait(win));
		break;
	case LOCK_ALL:
		CHECK_MPI(MPI_Win_flush_all(win));
		CHECK_MPI(MPI_Win_unlock_all(win));
		barrier();
		break;
	default: barrier();
	}
}

// My window is read under a lock, which is allowed with every synchronisation.
static void compare(const char *what, int round)
{
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
	CHECK_MEM(memory, model + (size_t)me * BYTES, BYTES,
		"seed %" PRIu64 ", round %d: my window after %s", seed, round, what);
	CHECK_MPI(MPI_Win_unlock(me, win));
	barrier();
}

static void one_round(enum sync sync, int round, uint64_t *random, MPI_Group world)
{
	static struct operation list[AREAS + 64];
	int count = draw_round(list, random), locks = check_between(random, 0, 1);
	begin(sync, world);
	for (int i = 0, slot = 0; i < count; i++) {
		if (list[i].origin != me)
			continue;
		if (sync == LOCK)
			CHECK_MPI(MPI_Win_lock(locks ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED,
				list[i].target, 0, win));
		issue(&list[i], slot++);
		if (sync == LOCK)
			CHECK_MPI(MPI_Win_unlock(list[i].target, win));
	}
	end(sync);
	for (int i = 0, slot = 0; i < count; i++) {
		apply(&list[i], slot);
		slot += list[i].origin == me;
	}
	compare(sync_name[sync], round);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK(np < AREAS);
	int rounds = (int)check_setting("MODEL_ROUNDS", 1000000), round = 0, more = 1;
	double began = MPI_Wtime(), seconds = check_setting("MODEL_SECONDS", 1.5);
	seed = (uint64_t)check_setting("MODEL_SEED",
		(double)((uint64_t)getpid() * 7919 + (uint64_t)(MPI_Wtime() * 1e3) % 1000003));
	CHECK_MPI(MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
	uint64_t random = seed;
	choose_types();
	model = check_alloc((size_t)np * BYTES);
	address = check_alloc(sizeof(MPI_Aint) * (size_t)np);
	MPI_Group world;
	CHECK_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
	while (more) {
		enum kind kind = (enum kind)check_between(&random, 0, KINDS - 1);
		open_window(kind);
		// An area has one type as long as the window is there: every type finds values that
		// it can have.
		for (int i = 0; i < AREAS; i++)
			area_type[i] = check_between(&random, 0, types - 1);
		memset(model, 0, (size_t)np * BYTES);
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
		memset(memory, 0, BYTES);
		CHECK_MPI(MPI_Win_unlock(me, win));
		barrier();
		for (int i = 0; i < 8; i++, round++)
			one_round((enum sync)check_between(&random, 0, SYNCS - 1), round, &random,
				world);
		more = round < rounds && MPI_Wtime() - began < seconds;
		CHECK_MPI(MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD));
		if (me == 0 && check_setting("MODEL_TELL", 0) != 0)
			printf("rounds up to %d, %s\n", round, kind_name[kind]);
		close_window(kind);
	}
	if (me == 0)
		printf("model: seed %" PRIu64 ", %d rounds\n", seed, round);
	CHECK_MPI(MPI_Group_free(&world));
	free(model);
	free(address);
	return check_end("model");
}
