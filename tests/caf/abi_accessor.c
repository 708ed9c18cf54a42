/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that programs of gfortran 15 and later call, called as the compiler's documentation
 * says, with the coarrays and accessors of abi_program.h: gfortran 12 generates none.
 */
#include "abi_program.h"

static int get_int(const struct caf_desc *d, void *token, int image, int index, int subscript,
	int *stat)
{
	struct subscripts add = {1, {subscript, 0, 0}};
	int room = -1;
	void *to = &room;
	_gfortran_caf_get_from_remote(token, d, NULL, image, sizeof(int), &to, NULL, NULL, false,
		index, &add, sizeof add, stat, NULL, NULL);
	return *(int *)to;
}

static void test_get(void)
{
	int stat = 77, buffer[5] = {-1, 0, 0, 0, -1};
	check(get_int(&a, a_token, next, at[ELEMENT], 7, &stat) == 1000 * next + 7 && stat == 0,
		"element");
	check(get_int(&a, a_token, me, at[ELEMENT], N, NULL) == 1000 * me + N,
		"element of the image itself");
	check(get_int(&a, a_token, next, at[CALLER], 0, NULL) == me, "the caller's image");
	struct caf_desc d, part = a;
	part.base = (int *)a.base + 10;
	check(get_int(&part, a_token, next, at[ELEMENT], 7, NULL) == 1000 * next + 17,
		"element of a part of the coarray");

	struct subscripts add = {3, {5, N, 1}};
	void *to = &buffer[1];
	describe(&d, CAF_INTEGER, sizeof(int), 0);
	d.base = to;
	d.offset = 0;
	d.dim[0] = (struct caf_dim){1, 0, 2}; /* temporaries have the lower bound 0 */
	_gfortran_caf_get_from_remote(a_token, &a, NULL, next, 3 * sizeof(int), &to, NULL, &d,
		false, at[VECTOR], &add, sizeof add, NULL, NULL, NULL);
	check(to == &buffer[1] && d.base == to && d.dim[0].lower == 0, "the buffer stays");
	check(buffer[1] == 1000 * next + 5 && buffer[2] == 1000 * next + N &&
			buffer[3] == 1000 * next + 1,
		"vector subscript");
	check(buffer[0] == -1 && buffer[4] == -1, "beside the buffer");

	memset(&d.dim, 0x55, sizeof d.dim); /* undefined */
	d.base = to = NULL;
	_gfortran_caf_get_from_remote(a_token, &a, NULL, next, 0, &to, NULL, &d, true, at[VECTOR],
		NULL, 0, NULL, NULL, NULL);
	check(to == d.base && d.dim[0].upper - d.dim[0].lower + 1 == N, "an array of any size");
	for (int i = 0; i < N; i++)
		check(((int *)to)[i] == 1000 * next + i + 1, "element of a large array");
	free(to);

	d.base = to = NULL;
	_gfortran_caf_get_from_remote(b_token, NULL, NULL, next, 0, &to, NULL, &d, true,
		at[COMPONENT], NULL, 0, NULL, NULL, NULL);
	check(to && ((int *)to)[0] == 10 * next && ((int *)to)[3] == 10 * next + 3, "component");
	free(to);

	char text[8];
	size_t length = 8;
	to = text;
	_gfortran_caf_get_from_remote(c_token, NULL, &eight, next, 1, &to, &length, NULL, false,
		at[TEXT], NULL, 0, NULL, NULL, NULL);
	check(length == 8 && memcmp(to, "image ", 6) == 0 && ((char *)to)[6] == '0' + next,
		"character");
}

/* On a node, the accessor must run at the image that the memory belongs to. */
static void test_pointed(void)
{
	const char *setting = getenv("ARMCI_CAF_ACCESSORS");
	int room = -1;
	void *to = &room;
	if (!setting || strcmp(setting, "target") != 0)
		return;
	_gfortran_caf_get_from_remote(b_token, NULL, NULL, next, sizeof(int), &to, NULL, NULL,
		false, at[POINTED], NULL, 0, NULL, NULL, NULL);
	check(*(int *)to == 7 * next, "what a pointer component points to");
}

static void test_present(void)
{
	struct subscripts add = {1, {2, 0, 0}};
	check(_gfortran_caf_is_present_on_remote(b_token, next, at[HAS_COMPONENT], &add,
		      sizeof add),
		"a component is allocated");
	add.i[0] = 3;
	check(!_gfortran_caf_is_present_on_remote(b_token, next, at[HAS_COMPONENT], &add,
		      sizeof add),
		"a component is not allocated");
	check(_gfortran_caf_is_present_on_remote(a_token, next, at[HAS_DESCRIPTOR], NULL, 0),
		"the descriptor of a coarray");
}

static void test_put(void)
{
	int prev = (me + images - 2) % images + 1, value = -me, stat = 77,
	    *large = malloc(N * sizeof *large);
	struct subscripts add = {1, {3, 0, 0}};
	struct caf_desc d;
	_gfortran_caf_send_to_remote(a_token, &a, NULL, next, sizeof value, &value, NULL, NULL,
		at[PUT_ELEMENT], &add, sizeof add, &stat, NULL, NULL);
	check(stat == 0, "stat of a put");
	int gaps[9] = {me, 0, me + 1, 0, me + 2};
	describe(&d, CAF_INTEGER, sizeof(int), 3);
	d.base = gaps;
	d.dim[0].stride = 2;
	d.offset = (size_t)-2;
	add.i[0] = 4;
	_gfortran_caf_send_to_remote(a_token, &a, NULL, next, 3 * sizeof(int), &d.base, NULL, &d,
		at[PUT_SECTION], &add, sizeof add, NULL, NULL, NULL);
	size_t length = 5;
	_gfortran_caf_send_to_remote(c_token, NULL, &eight, next, 1, "short", &length, NULL,
		at[PUT_TEXT], NULL, 0, NULL, NULL, NULL);
	sync();
	int *x = a.base;
	check(x[2] == -prev && x[3] == prev && x[4] == prev + 1 && x[5] == prev + 2, "put");
	check(x[1] == 1000 * me + 2 && x[6] == 1000 * me + 7, "beside what was put");
	check(memcmp(c, "short   ", 8) == 0, "put character");
	sync();

	describe(&d, CAF_INTEGER, sizeof(int), N);
	d.base = large;
	for (int i = 0; i < N; i++) large[i] = me - i;
	_gfortran_caf_send_to_remote(a_token, &a, NULL, next, N * sizeof(int), &d.base, NULL, &d,
		at[PUT_SECTION], NULL, 0, NULL, NULL, NULL);
	sync();
	for (int i = 0; i < N; i++) check(x[i] == prev - i, "put a large array");

	describe(&d, CAF_INTEGER, sizeof(int), 4);
	d.base = x;
	add.i[0] = 2;
	_gfortran_caf_send_to_remote(a_token, &a, NULL, me, 4 * sizeof(int), &d.base, NULL, &d,
		at[PUT_SECTION], &add, sizeof add, NULL, NULL, NULL);
	check(x[0] == prev && x[1] == prev && x[2] == prev - 1 && x[4] == prev - 3,
		"overlap on the image itself");
	free(large);
	sync();
}

/* The first image has values moved from the last image to the one before it. */
static void test_transfer(void)
{
	struct subscripts one = {1, {9, 0, 0}}, three = {3, {2, 4, 6}}, to = {1, {20, 0, 0}};
	int target = last > 1 ? last - 1 : last, stat = 77, *x = a.base;
	size_t length = 8;
	for (int i = 0; i < 100; i++) x[i] = 100 * me + i + 1;
	b[1].k = 5 * me;
	memcpy(c, "end     ", 8);
	c[4] = (char)('0' + me);
	sync();
	if (me == 1) {
		_gfortran_caf_transfer_between_remotes(a_token, &a, NULL, target, at[PUT_ELEMENT],
			&to, sizeof to, a_token, &a, NULL, last, at[ELEMENT], &one, sizeof one, 72,
			true, &stat, NULL, NULL, NULL, NULL, NULL);
		check(stat == 0, "stat of a transfer");
		to.i[0] = 30;
		_gfortran_caf_transfer_between_remotes(a_token, &a, NULL, target, at[PUT_SECTION],
			&to, sizeof to, a_token, &a, NULL, last, at[VECTOR], &three, sizeof three,
			72, false, NULL, NULL, NULL, NULL, NULL, NULL);
		_gfortran_caf_transfer_between_remotes(b_token, NULL, NULL, target, at[PUT_NODE],
			NULL, 0, b_token, NULL, NULL, last, at[NODE], NULL, 0, 72, true, NULL, NULL,
			NULL, NULL, NULL, NULL);
		_gfortran_caf_transfer_between_remotes(c_token, NULL, &length, target, at[PUT_TEXT],
			NULL, 0, c_token, NULL, &eight, last, at[TEXT], NULL, 0, 1, true, NULL,
			NULL, NULL, NULL, NULL, NULL);
	}
	sync();
	if (me == target) {
		check(x[19] == 100 * last + 9 && x[18] == 100 * me + 19 && x[20] == 100 * me + 21,
			"a scalar between two images");
		check(x[29] == 100 * last + 2 && x[30] == 100 * last + 4 && x[31] == 100 * last + 6,
			"an array between two images");
		check(b[2].k == 5 * last, "a derived type between two images");
		check(memcmp(c, "end ", 4) == 0 && c[4] == '0' + last,
			"character between two images");
	}
	sync();
}

static void test_map_existing(void)
{
	struct caf_desc d;
	void *token = a_token;
	describe(&d, CAF_INTEGER, sizeof(int), 5);
	d.base = (int *)a.base + 40;
	for (int i = 0; i < 100; i++) ((int *)a.base)[i] = 100 * me + i + 1;
	sync();
	_gfortran_caf_register(5 * sizeof(int), CAF_MAP_EXISTING, &token, &d, NULL, NULL, 0);
	check(token && token != a_token, "a token of its own");
	check(get_int(&d, token, next, at[ELEMENT], 2, NULL) == 100 * next + 42,
		"element by the other token");
	_gfortran_caf_deregister(&token, CAF_DEREGISTER, NULL, NULL, 0);
	check(get_int(&a, a_token, next, at[ELEMENT], 2, NULL) == 100 * next + 2,
		"the first token lives");
	sync();
}

static void test_errors(void)
{
	int stat = 0, number = 12345, value = 1, stats[6];
	void *to = NULL;
	struct caf_desc d;
	struct subscripts add = {1, {1, 0, 0}};
	get_int(&a, a_token, 0, at[ELEMENT], 1, &stats[0]);
	get_int(&a, a_token, images + 1, at[ELEMENT], 1, &stats[1]);
	get_int(&a, a_token, next, -1, 1, &stats[2]);
	get_int(&a, NULL, next, at[ELEMENT], 1, &stats[3]);
	get_int(&a, b[1].v.token, next, at[ELEMENT], 1, &stats[4]);
	_gfortran_caf_send_to_remote(a_token, &a, NULL, -1, sizeof value, &value, NULL, NULL,
		at[PUT_ELEMENT], &add, sizeof add, &stats[5], NULL, NULL);
	for (int i = 0; i < 6; i++)
		check(stats[i] > 0 && stats[i] < CAF_STOPPED_IMAGE, "stat of what is not there");
	_gfortran_caf_send_to_remote(a_token, &a, NULL, 1, sizeof value, &value, NULL, NULL,
		at[PUT_ELEMENT], &add, sizeof add, &stat, NULL, &number);
	check(stat > 0, "stat of a team that is not there");
	sync();
	_gfortran_caf_deregister(&b[1].v.token, CAF_DEALLOCATE_ONLY, NULL, NULL, 0);
	sync();
	describe(&d, CAF_INTEGER, sizeof(int), 0);
	stat = 0;
	_gfortran_caf_get_from_remote(b_token, NULL, NULL, next, 0, &to, NULL, &d, true,
		at[COMPONENT], NULL, 0, &stat, NULL, NULL);
	check(!to && stat >= 0, "a component that is not allocated");
	add.i[0] = 2;
	check(!_gfortran_caf_is_present_on_remote(b_token, next, at[HAS_COMPONENT], &add,
		      sizeof add),
		"a component is no longer there");
	sync();
}

int main(int argc, char **argv)
{
	_gfortran_caf_init(&argc, &argv);
	me = _gfortran_caf_this_image(0);
	images = last = _gfortran_caf_num_images(0, (uintptr_t)-1);
	next = me % images + 1;
	accessors();
	coarrays();
	test_get();
	test_pointed();
	test_present();
	sync();
	test_put();
	test_transfer();
	test_map_existing();
	test_errors();
	if (me == 1)
		puts("ok abi_accessor");
	fflush(stdout);
	_gfortran_caf_finalize();
	return 0;
}
