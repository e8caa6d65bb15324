/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models: loading .om files, descriptions, datasets, execution, AIPP, dump. One header per object
 * below acl/mdl; include this one.
 */
#ifndef ACL_ACL_MDL_H_
#define ACL_ACL_MDL_H_

#include "acl_base.h"
#include "acl_dump.h"
#include "acl_rt.h"
#include "mdl/aipp.h"
#include "mdl/config.h"
#include "mdl/dataset.h"
#include "mdl/desc.h"
#include "mdl/execute.h"

#endif
