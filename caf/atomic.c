/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic subroutines. The variable is an integer or logical of 4 or 8 bytes at a byte offset of a
 * coarray. Each is one atomic operation of ARMCI, but a reference is a get of the word, which no
 * change can tear. The subroutines order nothing else: no fence.
 */
#include "object.h"

/* Reports what went wrong with the variable; failed: ARMCI refused the operation. */
static __attribute__((cold, noinline)) void wrong(const char *what, const struct caf_token *t,
	size_t offset, int image, int bytes, bool failed, int *stat)
{
	const struct caf_status s = {.stat = stat};
	if (bytes != 4 && bytes != 8)
		caf_error(CAF_NO_ELEMENT, stat, NULL, 0, "%s: an atomic variable of %d bytes", what,
			bytes);
	else if (failed)
		caf_error(CAF_NO_ELEMENT, stat, NULL, 0,
			"%s failed at byte %zu of the coarray on image %d", what, offset, image);
	else
		caf_no_object(t, offset / (size_t)bytes, image, (size_t)bytes, what, &s);
}

static inline void change(const char *what, int op, const struct caf_token *t, size_t offset,
	int image, void *old, const void *operand, const void *compare, int *stat, int bytes)
{
	struct caf_object o;
	bool failed = false;
	if (likely((bytes == 4 || bytes == 8) &&
		    caf_find_object(&o, t, offset, image, (size_t)bytes))) {
		failed = ARMCIX_Atomic(op, bytes, old, o.at, operand, compare, o.rank) != 0;
		if (likely(!failed)) {
			caf_success(stat);
			return;
		}
	}
	wrong(what, t, offset, image, bytes, failed, stat);
}

CAF_API void _gfortran_caf_atomic_define(struct caf_token *t, size_t offset, int image, void *value,
	int *stat, int type, int kind)
{
	(void)type;
	change("ATOMIC_DEFINE", ARMCIX_SWAP, t, offset, image, NULL, value, NULL, stat, kind);
}

CAF_API void _gfortran_caf_atomic_ref(struct caf_token *t, size_t offset, int image, void *value,
	int *stat, int type, int kind)
{
	struct caf_object o;
	bool failed = false;
	(void)type;
	if (likely((kind == 4 || kind == 8) &&
		    caf_find_object(&o, t, offset, image, (size_t)kind))) {
		failed = ARMCI_Get(o.at, value, kind, o.rank) != 0;
		if (likely(!failed)) {
			caf_success(stat);
			return;
		}
	}
	wrong("ATOMIC_REF", t, offset, image, kind, failed, stat);
}

CAF_API void _gfortran_caf_atomic_cas(struct caf_token *t, size_t offset, int image, void *old,
	void *compare, void *new_value, int *stat, int type, int kind)
{
	(void)type;
	change("ATOMIC_CAS", ARMCIX_CAS, t, offset, image, old, new_value, compare, stat, kind);
}

/* op is numbered as ARMCIX_ADD to ARMCIX_XOR. old: null, but for the subroutines that fetch. */
CAF_API void _gfortran_caf_atomic_op(int op, struct caf_token *t, size_t offset, int image,
	void *value, void *old, int *stat, int type, int kind)
{
	static const char *const name[][2] = {
		[ARMCIX_ADD] = {"ATOMIC_ADD", "ATOMIC_FETCH_ADD"},
		[ARMCIX_AND] = {"ATOMIC_AND", "ATOMIC_FETCH_AND"},
		[ARMCIX_OR] = {"ATOMIC_OR", "ATOMIC_FETCH_OR"},
		[ARMCIX_XOR] = {"ATOMIC_XOR", "ATOMIC_FETCH_XOR"},
	};
	(void)type;
	if (unlikely(op < ARMCIX_ADD || op > ARMCIX_XOR))
		caf_error(CAF_NO_ELEMENT, stat, NULL, 0, "there is no atomic operation %d", op);
	else
		change(name[op][old != NULL], op, t, offset, image, old, value, NULL, stat, kind);
}
