// SPDX-License-Identifier: Apache-2.0
#include "service/task_kinds.h"

#include "base/format.h"

namespace anynpu::service {

using device::Engine;
using device::TaskKind;

constinit TaskKind operator_task{"operator", Engine::compute};
constinit TaskKind queued_operator_task = TaskKind::queued("operator", Engine::compute);
constinit TaskKind custom_kernel_task{"custom kernel", Engine::npc};
constinit TaskKind kernel_task{"kernel", Engine::npc};
constinit TaskKind matrix_product_task{"matrix product", Engine::compute};
constinit TaskKind get_overflow_task{"get_overflow_status", Engine::control};
constinit TaskKind reset_overflow_task{"reset_overflow_status", Engine::control};

Status queued_by(const char* call, Status status) {
  if (status.ok()) [[likely]]
    return status;
  return status.with_note(format("queued by {}", call));
}

}  // namespace anynpu::service
