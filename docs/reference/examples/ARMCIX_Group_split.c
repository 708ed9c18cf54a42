// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCIX_Group_split and ARMCIX_Group_dup.
#include <armcix.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), wrong = 0;
	ARMCI_Group world, node, copy;
	ARMCI_Group_get_world(&world);
	/* Those of one color make a group: here the ranks of a domain, in the order of their ranks.
	 */
	ARMCIX_Group_split(&world, armci_domain_my_id(ARMCI_DOMAIN_SMP), me, &node);
	int sum = 1;
	armci_msg_group_igop(&sum, 1, "+", &node);
	wrong = sum != armci_domain_nprocs(ARMCI_DOMAIN_SMP, -1);
	ARMCIX_Group_dup(&node, &copy); /* for a library that wants a group of its own */
	ARMCI_Group_free(&copy);
	ARMCI_Group_free(&node);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
