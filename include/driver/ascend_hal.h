/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of libascend_hal.so that published binaries link. They return 0, or 3 for a wrong
 * argument; aclGetRecentErrMsg() has the reason.
 */
#ifndef DRIVER_ASCEND_HAL_H_
#define DRIVER_ASCEND_HAL_H_

#include "../acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t drvError_t;

/* Registers memory of the host. *dstPtr is where devices see it: the same address. */
ACL_FUNC_VISIBILITY drvError_t halHostRegister(void* srcPtr, uint64_t size, uint32_t flag,
                                               uint32_t devid, void** dstPtr);
/* srcPtr is the start of registered memory. */
ACL_FUNC_VISIBILITY drvError_t halHostUnregister(void* srcPtr, uint32_t devid);

#ifdef __cplusplus
}
#endif

#endif
