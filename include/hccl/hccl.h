/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libhccl.so that loaders ask for. Devices here share no network: all refuse. */
#ifndef HCCL_HCCL_H_
#define HCCL_HCCL_H_

#include "../acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  HCCL_SUCCESS = 0,
  HCCL_E_PARA = 1,
  HCCL_E_PTR = 2,
  HCCL_E_MEMORY = 3,
  HCCL_E_INTERNAL = 4,
  HCCL_E_NOT_SUPPORT = 5
} HcclResult;

typedef void* HcclComm;

#define HCCL_ROOT_INFO_BYTES 4108
typedef struct HcclRootInfoDef {
  char internal[HCCL_ROOT_INFO_BYTES];
} HcclRootInfo;

ACL_FUNC_VISIBILITY HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo);
ACL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo,
                                                    uint32_t rank, HcclComm* comm);
ACL_FUNC_VISIBILITY HcclResult HcclGetCommName(HcclComm comm, char* commName);
ACL_FUNC_VISIBILITY HcclResult HcclCommDestroy(HcclComm comm);

#ifdef __cplusplus
}
#endif

#endif
