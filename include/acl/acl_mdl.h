/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models: loading .om files, descriptions, datasets, execution, AIPP, dump. One header per object
 * below acl/mdl; include this one.
 */
#ifndef ACL_ACL_MDL_H_
#define ACL_ACL_MDL_H_

#include "acl/acl_base.h"
#include "acl/acl_dump.h"
#include "acl/acl_rt.h"
#include "acl/mdl/aipp.h"
#include "acl/mdl/config.h"
#include "acl/mdl/dataset.h"
#include "acl/mdl/desc.h"
#include "acl/mdl/execute.h"

#endif
