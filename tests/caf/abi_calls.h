/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What gfortran 15 and later has programs call, for programs in C that are written as it compiles
 * them.
 */
#ifndef CAF_ABI_CALLS_H_
#define CAF_ABI_CALLS_H_

#include <abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void _gfortran_caf_init(int *argc, char ***argv);
void _gfortran_caf_finalize(void);
int _gfortran_caf_this_image(uintptr_t team);
int _gfortran_caf_num_images(uintptr_t team, uintptr_t number);
void _gfortran_caf_sync_all(int *stat, char *errmsg, size_t length);
void _gfortran_caf_register(size_t size, int kind, void **token, struct caf_desc *d, int *stat,
	char *errmsg, size_t length);
void _gfortran_caf_deregister(void **token, int kind, int *stat, char *errmsg, size_t length);
void _gfortran_caf_register_accessor(int hash, void (*accessor)(void));
void _gfortran_caf_register_accessors_finish(void);
int _gfortran_caf_get_remote_function_index(int hash);
void _gfortran_caf_get_from_remote(void *token, const struct caf_desc *src,
	const size_t *src_length, int image, size_t size, void **to, size_t *to_length,
	struct caf_desc *to_desc, bool any, int index, void *add, size_t add_bytes, int *stat,
	void **team, int *number);
int32_t _gfortran_caf_is_present_on_remote(void *token, int image, int index, void *add,
	size_t add_bytes);
void _gfortran_caf_send_to_remote(void *token, struct caf_desc *dst, const size_t *dst_length,
	int image, size_t size, const void *from, const size_t *from_length,
	const struct caf_desc *from_desc, int index, void *add, size_t add_bytes, int *stat,
	void **team, int *number);
void _gfortran_caf_transfer_between_remotes(void *dst_token, struct caf_desc *dst,
	size_t *dst_length, int dst_image, int dst_index, void *dst_add, size_t dst_add_bytes,
	void *src_token, const struct caf_desc *src, const size_t *src_length, int src_image,
	int src_index, void *src_add, size_t src_add_bytes, size_t size, bool scalar, int *dst_stat,
	int *src_stat, void **dst_team, int *dst_number, void **src_team, int *src_number);

static int me, images;

static void check(bool right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "image %d: wrong: %s\n", me, what);
	abort();
}

#endif
