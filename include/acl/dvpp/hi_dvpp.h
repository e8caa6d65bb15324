/* SPDX-License-Identifier: Apache-2.0 */
/* Media functions, second version (libacl_dvpp_mpi.so). */
#ifndef ACL_DVPP_HI_DVPP_H_
#define ACL_DVPP_HI_DVPP_H_

#include "hi_dvpp_pngd.h"
#include "hi_dvpp_vb.h"
#include "hi_dvpp_vdec.h"
#include "hi_dvpp_venc.h"
#include "hi_dvpp_vpc.h"
#include "hi_media_common.h"
#include "hi_media_type.h"
#include "hi_mpi_sys.h"
#include "hi_region.h"

#endif
