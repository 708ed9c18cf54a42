// SPDX-License-Identifier: BSD-3-Clause
// libmlx5.so.1 without a device of its kind. UCX is linked with it, and it, in turn, with private
// functions of libibverbs that the software device does not have.
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define NO_OBJECT(name) \
	void *name(void); \
	void *name(void) \
	{ \
		errno = EOPNOTSUPP; \
		return NULL; \
	}
#define NO_CALL(name) \
	int name(void); \
	int name(void) { return EOPNOTSUPP; }

bool mlx5dv_is_supported(void *device);
bool mlx5dv_is_supported(void *device) { return (void)device, false; }

NO_OBJECT(mlx5dv_open_device)
NO_OBJECT(mlx5dv_create_cq)
NO_OBJECT(mlx5dv_create_qp)
NO_OBJECT(mlx5dv_devx_alloc_uar)
NO_OBJECT(mlx5dv_devx_obj_create)
NO_OBJECT(mlx5dv_devx_umem_reg)
NO_OBJECT(mlx5dv_devx_create_event_channel)
NO_CALL(mlx5dv_init_obj)
NO_CALL(mlx5dv_devx_free_uar)
NO_CALL(mlx5dv_devx_general_cmd)
NO_CALL(mlx5dv_devx_obj_destroy)
NO_CALL(mlx5dv_devx_obj_modify)
NO_CALL(mlx5dv_devx_obj_query)
NO_CALL(mlx5dv_devx_umem_dereg)
NO_CALL(mlx5dv_devx_qp_modify)
NO_CALL(mlx5dv_devx_qp_query)
NO_CALL(mlx5dv_devx_destroy_event_channel)
NO_CALL(mlx5dv_devx_get_event)
NO_CALL(mlx5dv_devx_subscribe_devx_event)
