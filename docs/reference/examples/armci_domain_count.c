// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of armci_domain_count, armci_domain_nprocs, armci_domain_id,
// armci_domain_glob_proc_id, armci_domain_my_id and armci_domain_same_id.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	int ranks = 0, mine = armci_domain_my_id(ARMCI_DOMAIN_SMP);
	for (int d = 0; d < armci_domain_count(ARMCI_DOMAIN_SMP); d++)
		ranks += armci_domain_nprocs(ARMCI_DOMAIN_SMP, d);
	/* The first rank of the caller's domain. */
	int leader = armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, mine, 0);
	int there = armci_domain_id(ARMCI_DOMAIN_SMP, leader);
	int same = armci_domain_same_id(ARMCI_DOMAIN_SMP, leader);
	wrong = ranks != np || there != mine || !same || leader > me;
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
