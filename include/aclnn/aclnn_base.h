// SPDX-License-Identifier: Apache-2.0
// Beginning and end of the operator library; programs need neither. Objects: aclnn/acl_meta.h,
// operators: the headers of aclnnop. An operator is two calls: aclnnXGetWorkspaceSize checks the
// arguments and says how much device memory the run needs, aclnnX puts the run into a stream.
#ifndef ACLNN_ACLNN_BASE_H_
#define ACLNN_ACLNN_BASE_H_

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif  // ACLNN_ACLNN_BASE_H_
