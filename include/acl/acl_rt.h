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

#include "acl_base.h"
#include "acl_dump.h"
#include "rt/allocator.h"
#include "rt/buffer.h"
#include "rt/callback.h"
#include "rt/context.h"
#include "rt/device.h"
#include "rt/device_query.h"
#include "rt/event.h"
#include "rt/event_flags.h"
#include "rt/kernel.h"
#include "rt/kernel_query.h"
#include "rt/library.h"
#include "rt/managed_memory.h"
#include "rt/memory.h"
#include "rt/memory_copy.h"
#include "rt/memory_map.h"
#include "rt/memory_query.h"
#include "rt/model_instance.h"
#include "rt/shared_memory.h"
#include "rt/snapshot.h"
#include "rt/state_callback.h"
#include "rt/stream.h"

#endif
