/* SPDX-License-Identifier: Apache-2.0 */
/* The one header a program includes: brings in base, runtime, model and operator headers. */
#ifndef ACL_ACL_H_
#define ACL_ACL_H_

#include "acl_base.h"
#include "acl_mdl.h"
#include "acl_op.h"
#include "acl_rt.h"

#endif
