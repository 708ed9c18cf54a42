// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of armci_stride_info_init, armci_stride_info_destroy,
// armci_stride_info_count, armci_stride_info_pos, armci_stride_info_next,
// armci_stride_info_seg_ptr, armci_stride_info_seg_size, armci_stride_info_seg_off and
// armci_stride_info_has_more.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int wrong = 0;
	double matrix[100][80];
	int count[2] = {20 * sizeof(double), 10}, stride = 80 * sizeof(double), bytes = 0, last = 0;
	stride_info_t info;
	armci_stride_info_init(&info, &matrix[30][5], 1, &stride, count);
	while (armci_stride_info_has_more(&info)) { /* the ten rows of the patch */
		memset(armci_stride_info_seg_ptr(&info), 0, armci_stride_info_seg_size(&info));
		bytes += armci_stride_info_seg_size(&info);
		last = armci_stride_info_seg_off(&info);
		armci_stride_info_next(&info);
	}
	int left = armci_stride_info_count(&info) - armci_stride_info_pos(&info);
	wrong = left != 0 || bytes != sizeof(double[10][20]) || last != 9 * stride;
	armci_stride_info_destroy(&info);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
