// SPDX-License-Identifier: Apache-2.0
// The devices an HPE program numbers (clusters, as STC_SET_DEVICES chooses them once a process) and
// the current one of each thread, which is device 0 until it is set. Thread-safe.
#pragma once

#include "base/result.h"
#include "npc/host/lane.h"

namespace anynpu::npc {

int device_count();
// The cluster behind a device number; invalid_device when there is none.
Result<ClusterHost*> device(int number);
// Checks a number without starting anything.
Status check_device(int number);

Status set_current_device(int number);
int current_device_number();
// Fails with no_context when the process has no device.
Result<ClusterHost*> current_device();

}  // namespace anynpu::npc
