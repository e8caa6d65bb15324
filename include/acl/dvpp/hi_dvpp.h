/* SPDX-License-Identifier: Apache-2.0 */
/* Media functions, second version (libacl_dvpp_mpi.so). */
#ifndef ACL_DVPP_HI_DVPP_H_
#define ACL_DVPP_HI_DVPP_H_

#include "acl/dvpp/hi_dvpp_pngd.h"
#include "acl/dvpp/hi_dvpp_sys.h"
#include "acl/dvpp/hi_dvpp_vdec.h"
#include "acl/dvpp/hi_dvpp_venc.h"
#include "acl/dvpp/hi_dvpp_vpc.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif
