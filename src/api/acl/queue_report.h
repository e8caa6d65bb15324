// SPDX-License-Identifier: Apache-2.0
// A failed run of a model that queues drive: no call returns it, so its sentence is kept and logged
// as that of the call that loaded the model.
#pragma once

#include "api/acl/errors.h"

namespace anynpu::acl {

inline void report_queue_run(const Status& status) {
  (void)report("aclmdlLoadFromFileWithQ", status);
}

}  // namespace anynpu::acl
