/* SPDX-License-Identifier: Apache-2.0 */
/* Short names of plain types, yes and no, limits. */
#ifndef ACL_DVPP_HI_TYPES_H_
#define ACL_DVPP_HI_TYPES_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint8_t hi_u8;
typedef uint16_t hi_u16;
typedef uint32_t hi_u32;
typedef uint64_t hi_u64;
typedef int8_t hi_s8;
typedef int16_t hi_s16;
typedef int32_t hi_s32;
typedef int64_t hi_s64;
typedef float hi_float;
typedef double hi_double;
typedef char hi_char;
typedef void hi_void;

typedef enum {
  HI_FALSE = 0,
  HI_TRUE = 1,
} hi_bool;

#define HI_MAX_COLOR_COMPONENT 3
#define HI_MAX_USER_DATA_NUM 2
#define HI_NULL 0
#define HI_SUCCESS 0
#define HI_FAILURE (-1)
#define HI_MAX_MMZ_NAME_LEN 32
#define HI_VB_INVALID_POOLID (-1)
#define HI_VB_INVALID_HANDLE (-1)
#define ALIGN_NUM 8
#define DEFAULT_ALIGN 32

#ifdef __cplusplus
}
#endif

#endif
