/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a code of the second version: 0xA, the unit (hi_mod_id), the level, the error. */
#ifndef ACL_DVPP_HI_ERRNO_H_
#define ACL_DVPP_HI_ERRNO_H_

#ifdef __cplusplus
extern "C" {
#endif

#define HI_ERR_APP_ID 0xA0000000U

typedef enum {
  HI_ERR_LEVEL_DEBUG = 0,
  HI_ERR_LEVEL_INFO = 1,
  HI_ERR_LEVEL_NOTICE = 2,
  HI_ERR_LEVEL_WARNING = 3,
  HI_ERR_LEVEL_ERROR = 4,
  HI_ERR_LEVEL_CRIT = 5,
  HI_ERR_LEVEL_ALERT = 6,
  HI_ERR_LEVEL_FATAL = 7,
  HI_ERR_LEVEL_BUTT = 8,
} hi_err_level;

typedef enum {
  HI_ERR_INVALID_DEV_ID = 1,
  HI_ERR_INVALID_CHN_ID = 2,
  HI_ERR_ILLEGAL_PARAM = 3,
  HI_ERR_EXIST = 4,
  HI_ERR_UNEXIST = 5,
  HI_ERR_NULL_PTR = 6,
  HI_ERR_NOT_CFG = 7,
  HI_ERR_NOT_SUPPORT = 8,
  HI_ERR_NOT_PERM = 9,
  HI_ERR_INVALID_PIPE_ID = 10,
  HI_ERR_INVALID_GRP_ID = 11,
  HI_ERR_NO_MEM = 12,
  HI_ERR_NO_BUF = 13,
  HI_ERR_BUF_EMPTY = 14,
  HI_ERR_BUF_FULL = 15,
  HI_ERR_NOT_READY = 16,
  HI_ERR_BAD_ADDR = 17,
  HI_ERR_BUSY = 18,
  HI_ERR_SIZE_NOT_ENOUGH = 19,
  HI_ERR_TIMEOUT = 20,
  HI_ERR_SYS_ERROR = 21,
  HI_ERR_INVALID_LAYER_ID = 22,
  HI_ERR_NOT_ENABLE = 23,
  HI_ERR_NOT_DISABLE = 24,
  HI_ERR_NOT_START = 25,
  HI_ERR_NOT_STOP = 26,
  HI_ERR_NOT_BINDED = 27,
  HI_ERR_BINDED = 28,
  HI_ERR_REG = 29,
  HI_ERR_BUTT = 63,
} hi_errno;

#ifdef __cplusplus
}
#endif

#endif
