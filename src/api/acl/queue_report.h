// SPDX-License-Identifier: Apache-2.0
// A failed run of a model fed by queues: no call returns it, so its message is stored and logged
// for the call that loaded the model.
#pragma once

#include "api/acl/errors.h"

namespace anynpu::acl {

inline void report_queue_run(const Status& status) {
  (void)report("aclmdlLoadFromFileWithQ", status);
}

}  // namespace anynpu::acl
