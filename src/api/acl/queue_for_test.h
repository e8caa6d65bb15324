// SPDX-License-Identifier: Apache-2.0
// A queue of acl_tdt_queue.h for tests of what uses one.
#pragma once

#include <gtest/gtest.h>

#include "acl/acl_tdt_queue.h"

namespace anynpu::acl {

inline uint32_t make_queue(uint32_t depth = 2) {
  acltdtQueueAttr* attr = acltdtCreateQueueAttr();
  EXPECT_EQ(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth), 0);
  uint32_t id = 0;
  EXPECT_EQ(acltdtCreateQueue(attr, &id), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueueAttr(attr), ACL_SUCCESS);
  return id;
}

}  // namespace anynpu::acl
