/* SPDX-License-Identifier: Apache-2.0 */
/* Allocators of streams, under the name of the newer releases. */
#ifndef ACL_ACL_RT_ALLOCATOR_H_
#define ACL_ACL_RT_ALLOCATOR_H_

#include "rt/allocator.h"

#endif
