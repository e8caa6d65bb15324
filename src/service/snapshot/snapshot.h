// SPDX-License-Identifier: Apache-2.0
// Snapshots of the process's device state. Running -> locked -> backed up -> locked -> running:
// while the process is locked, calls that change devices or submit work block; queries and
// synchronizes do not. A backup holds the contents of all device memory; a restore writes them
// back. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/status.h"

namespace anynpu::service {

// `process` is the id of this process. Failures: snapshot_lock_failed and the like for a wrong
// state, snapshot_callback_failed when a callback does not return 0.
Status lock_process(int process);
Status back_up_process(int process);
Status restore_process(int process);
Status unlock_process(int process);

enum class SnapshotStage : int {
  before_lock = 0,
  before_backup = 1,
  after_backup = 2,
  before_restore = 3,
  after_restore = 4,
  after_unlock = 5,
};
// Called for each device in use; 0 is success. `key` tells callbacks of a stage apart; each is
// registered once: snapshot_register_failed.
using SnapshotCallback = std::function<uint32_t(int32_t device)>;
Status add_snapshot_callback(int stage, const void* key, SnapshotCallback callback);
Status remove_snapshot_callback(int stage, const void* key);

// Called by the entry frame: waits until the process is unlocked, if `function` is one that waits.
Status wait_while_locked(std::string_view function);

}  // namespace anynpu::service
