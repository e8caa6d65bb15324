/* SPDX-License-Identifier: Apache-2.0 */
/* Media functions, first version (libacl_dvpp.so). */
#ifndef ACL_OPS_ACL_DVPP_H_
#define ACL_OPS_ACL_DVPP_H_

#include "dvpp/config.h"
#include "dvpp/desc.h"
#include "dvpp/format.h"
#include "dvpp/image.h"
#include "dvpp/vdec.h"
#include "dvpp/venc.h"
#include "dvpp/vpc.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif
