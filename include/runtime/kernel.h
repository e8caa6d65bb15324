/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of libruntime.so that published binaries link: kernels for the cores of a card, which
 * cannot run here. Each returns 207000 with a message; kernels that can run are those of
 * acl/rt/kernel.h.
 */
#ifndef RUNTIME_KERNEL_H_
#define RUNTIME_KERNEL_H_

#include "../acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tagRtDevBinary {
  uint32_t magic;
  uint32_t version;
  const void* data;
  uint64_t length;
} rtDevBinary_t;

ACL_FUNC_VISIBILITY aclError rtDevBinaryRegister(const rtDevBinary_t* bin, void** handle);
ACL_FUNC_VISIBILITY aclError rtDevBinaryUnRegister(void* handle);
ACL_FUNC_VISIBILITY aclError rtFunctionRegister(void* binHandle, const void* stubFunc,
                                                const char* stubName, const void* devFunc,
                                                uint32_t funcMode);
ACL_FUNC_VISIBILITY aclError rtKernelLaunch(const void* stubFunc, uint32_t blockDim, void* args,
                                            uint32_t argsSize, void* smDesc, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError rtLaunch(const void* stubFunc);
ACL_FUNC_VISIBILITY aclError rtGetC2cCtrlAddr(uint64_t* addr, uint32_t* len);

#ifdef __cplusplus
}
#endif

#endif
