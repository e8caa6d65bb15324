/* SPDX-License-Identifier: Apache-2.0 */
/* Media functions, first version (libacl_dvpp.so). */
#ifndef ACL_OPS_ACL_DVPP_H_
#define ACL_OPS_ACL_DVPP_H_

#include "acl/ops/dvpp/config.h"
#include "acl/ops/dvpp/desc.h"
#include "acl/ops/dvpp/format.h"
#include "acl/ops/dvpp/image.h"
#include "acl/ops/dvpp/vdec.h"
#include "acl/ops/dvpp/venc.h"
#include "acl/ops/dvpp/vpc.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif
