/* SPDX-License-Identifier: Apache-2.0 */
/* The basic types and functions, under the name of the newer releases. */
#ifndef ACL_ACL_BASE_RT_H_
#define ACL_ACL_BASE_RT_H_

#include "acl_base.h"

#endif
