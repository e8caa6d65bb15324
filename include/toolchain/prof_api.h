/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets other libraries report to the profiler of a card. Reports are accepted and not recorded:
 * profiles here are made from our own trace (acl/acl_prof.h). Functions return 0.
 */
#ifndef TOOLCHAIN_PROF_API_H_
#define TOOLCHAIN_PROF_API_H_

#include "../acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct MsprofApi;
typedef int32_t (*ProfCommandHandle)(uint32_t type, void* data, uint32_t length);

ACL_FUNC_VISIBILITY int32_t MsprofRegisterCallback(uint32_t moduleId, ProfCommandHandle handle);
ACL_FUNC_VISIBILITY int32_t MsprofReportApi(uint32_t nonPersistantFlag,
                                            const struct MsprofApi* api);
ACL_FUNC_VISIBILITY int32_t MsprofReportCompactInfo(uint32_t nonPersistantFlag, const void* data,
                                                    uint32_t length);
ACL_FUNC_VISIBILITY int32_t MsprofReportAdditionalInfo(uint32_t nonPersistantFlag, const void* data,
                                                       uint32_t length);
/* A number for a text: the same for the same text, never 0. */
ACL_FUNC_VISIBILITY uint64_t MsprofGetHashId(const char* hashInfo, size_t length);
/* A counter of time that never goes back. */
ACL_FUNC_VISIBILITY uint64_t MsprofSysCycleTime(void);

#ifdef __cplusplus
}
#endif

#endif
