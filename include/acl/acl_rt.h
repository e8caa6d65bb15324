/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime: devices, contexts, streams, events, memory, callbacks and kernels. One header per
 * object below acl/rt; include this one.
 *
 * Every function that returns aclError returns ACL_SUCCESS or a documented code and leaves the
 * reason in aclGetRecentErrMsg(). A stream of NULL is the default stream of the current context.
 */
#ifndef ACL_ACL_RT_H_
#define ACL_ACL_RT_H_

#include "acl/acl_base.h"
#include "acl/rt/allocator.h"
#include "acl/rt/buffer.h"
#include "acl/rt/callback.h"
#include "acl/rt/context.h"
#include "acl/rt/device.h"
#include "acl/rt/device_query.h"
#include "acl/rt/event.h"
#include "acl/rt/event_flags.h"
#include "acl/rt/kernel.h"
#include "acl/rt/kernel_query.h"
#include "acl/rt/managed_memory.h"
#include "acl/rt/memory.h"
#include "acl/rt/memory_copy.h"
#include "acl/rt/memory_map.h"
#include "acl/rt/memory_query.h"
#include "acl/rt/model_instance.h"
#include "acl/rt/shared_memory.h"
#include "acl/rt/snapshot.h"
#include "acl/rt/state_callback.h"
#include "acl/rt/stream.h"

#endif
