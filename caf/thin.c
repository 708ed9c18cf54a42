/* SPDX-License-Identifier: BSD-3-Clause */
/* Stand-ins until the files that caf.h names are there. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "caf.h"
static bool old;
CAF_API int _gfortran_caf_num_images(void *a, void *b) { (void)a; old = (int)(intptr_t)b == -1; return caf.current->n; }
bool caf_gfortran_16(void) { return !old && !getenv("THIN_15"); }
struct caf_team *caf_access_team(void *const *t, const int *n) { (void)t; return n && *n != -1 ? NULL : caf.current; }
static void copy(const struct caf_section *to, const struct caf_section *from, int d, char *t, char *f)
{
	if (d < 0) { memcpy(t, f, to->elem); return; }
	for (ptrdiff_t i = 0; i < to->count[d]; i++) copy(to, from, d - 1, t + i * to->stride[d], f + i * from->stride[d]);
}
void caf_copy_section(const struct caf_section *to, const struct caf_section *from) { copy(to, from, to->rank - 1, to->base, from->base); }
CAF_API void _gfortran_caf_sync_images(int n, int *i, int *stat, char *m, size_t k) { (void)n; (void)i; caf_report(caf_barrier(caf.current), stat, m, k, "SYNC IMAGES"); }
struct caf_team *caf_team_of(const void *h) { (void)h; return caf.current; }
int caf_state(int r) { (void)r; return 0; }
int caf_begin(struct caf_team *t, enum caf_call call, int root, int type, int n) { (void)t; (void)call; (void)root; (void)type; (void)n; return 0; }
const struct caf_members *caf_members(struct caf_team *t) { static struct caf_members m; m = (struct caf_members){t->n, t->rank, t->group}; return &m; }
int caf_barrier(struct caf_team *t) { ARMCI_AllFence(); armci_msg_group_barrier(&t->group); return 0; }
void caf_flush(void) {}
void caf_abort(int s) { armci_msg_abort(s); _exit(s); }
bool caf_locks_create(struct caf_token *t, size_t n) { (void)t; (void)n; return true; }
void caf_locks_destroy(struct caf_token *t) { (void)t; }
CAF_API void _gfortran_caf_sync_all(int *stat, char *m, size_t n) { caf_report(caf_barrier(caf.current), stat, m, n, "SYNC ALL"); }
CAF_API void _gfortran_caf_stop_numeric(int c, bool q) { (void)q; ARMCI_Finalize(); exit(c); }
CAF_API void _gfortran_caf_error_stop(int c, bool q) { (void)q; caf_abort(c); }
