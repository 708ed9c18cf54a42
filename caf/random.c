/* SPDX-License-Identifier: BSD-3-Clause */
/* RANDOM_INIT: seeds the generator of the Fortran library, equally or not on all images, equally or
 * not in each run. */
#include <time.h>
#include <unistd.h>

#include "caf.h"

extern void _gfortran_random_seed_i4(int *size, struct caf_desc *put, struct caf_desc *get)
	__attribute__((weak));

static uint64_t mix(uint64_t x) /* splitmix64 */
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Differs from run to run; chosen by image 1 when the job starts, for all. */
static uint64_t secret;

void caf_random_start(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	secret = mix(mix((uint64_t)now.tv_sec) ^ (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32);
	armci_msg_bcast(&secret, sizeof secret, 0);
}

static void seed(uint64_t from)
{
	int size = 0;
	_gfortran_random_seed_i4(&size, NULL, NULL);
	int32_t *value = calloc((size_t)size + 1, sizeof *value);
	if (!value)
		caf_fatal("RANDOM_INIT: no memory");
	for (int i = 0; i < size; i++) value[i] = (int32_t)(mix(from + (uint64_t)i + 1) >> 32);
	struct caf_desc d = {.base = value,
		.offset = (size_t)-1,
		.dtype = {.elem_len = 4, .rank = 1, .type = CAF_INTEGER},
		.span = 4,
		.dim = {{.stride = 1, .lower = 1, .upper = size}}};
	_gfortran_random_seed_i4(NULL, &d, NULL);
	free(value);
}

/* Without communication: images that call it equally often get the same, where they should. */
CAF_API void _gfortran_caf_random_init(bool repeatable, bool image_distinct)
{
	static uint64_t calls;
	uint64_t from = repeatable ? 1 : mix(secret + ++calls);
	if (image_distinct)
		from = mix(from + (uint64_t)(caf.me + 1) * 0x10001);
	if (_gfortran_random_seed_i4)
		seed(from << 8);
}
