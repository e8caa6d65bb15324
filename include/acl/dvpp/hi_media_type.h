/* SPDX-License-Identifier: Apache-2.0 */
/* Short names of plain types, yes and no, limits. */
#ifndef ACL_DVPP_HI_MEDIA_TYPE_H_
#define ACL_DVPP_HI_MEDIA_TYPE_H_

#include "../acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned char hi_u8;
typedef unsigned short hi_u16;
typedef unsigned int hi_u32;
typedef unsigned long long hi_u64;
typedef signed char hi_s8;
typedef short hi_s16;
typedef int hi_s32;
typedef long long hi_s64;
typedef hi_u32 hi_fr32;
typedef float hi_float;
typedef double hi_double;
typedef char hi_char;
typedef void hi_void;

typedef enum {
  HI_FALSE = 0,
  HI_TRUE = 1,
} hi_bool;

#define HI_NULL 0
#define HI_SUCCESS 0
#define HI_FAILURE (-1)

#ifdef __cplusplus
}
#endif

#endif
