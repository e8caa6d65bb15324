// SPDX-License-Identifier: Apache-2.0
#include "service/snapshot/snapshot.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fork_guard.h"
#include "base/interrupt.h"
#include "device/host_view.h"
#include "device/range_map.h"
#include "device/runtime.h"
#include "service/check_pointer.h"

namespace anynpu::service {

namespace {

using device::MemoryKind;
using device::RangeMap;
using device::Runtime;

enum class Phase { running, locked, backed_up };

// Calls that wait while the process is locked, by the beginning of their names.
constexpr std::string_view kHeldCalls[] = {
    "aclrtSetDevice",  "aclrtResetDevice", "aclrtMalloc",       "aclrtFree",
    "aclrtMemcpy",     "aclrtMemset",      "aclrtMemPool",      "aclrtMemAllocManaged",
    "aclrtMapMem",     "aclrtUnmapMem",    "aclrtMemMap",       "aclrtReserveMemAddress",
    "aclrtReleaseMem", "aclrtCreate",      "aclrtDestroy",      "aclrtRecord",
    "aclrtResetEvent", "aclrtStreamWait",  "aclrtWaitAndReset", "aclrtNotify",
    "aclrtLaunch",     "aclrtReduceAsync", "aclrtCmoAsync",     "aclrtValue",
    "aclmdlLoad",      "aclmdlUnload",     "aclmdlExecute",     "aclmdlRIExecute",
    "aclopExecute",    "aclblas",          "acldvpp",
};

constexpr size_t kPiece = size_t{1} << 20;

// The contents of one block; pieces that are all 0 are left out.
struct SavedBlock {
  uintptr_t base = 0;
  size_t bytes = 0;
  std::map<size_t, std::vector<std::byte>> pieces;
};

struct Snapshot {
  std::mutex mutex;
  std::condition_variable unlocked;
  std::atomic<Phase> phase{Phase::running};  // changed with the lock, looked at without
  std::vector<SavedBlock> blocks;
  std::mutex callbacks_mutex;
  std::map<std::pair<int, const void*>, SnapshotCallback> callbacks;
};

Snapshot& snapshot() {
  static auto* one = new Snapshot;
  return *one;
}

const char* name_of(Phase phase) {
  return phase == Phase::running ? "running" : phase == Phase::locked ? "locked" : "backed up";
}

Status check_process(int process) {
  if (process == getpid()) return {};
  return fail(Code::invalid_argument, "pid is {}; expected that of this process, {}", process,
              getpid());
}

Status wrong_phase(Code code, const char* wanted) {
  return fail(code, "the process is {}; expected {}", name_of(snapshot().phase), wanted);
}

Status call_callbacks(SnapshotStage stage) {
  std::vector<SnapshotCallback> callbacks;
  {
    const std::lock_guard lock(snapshot().callbacks_mutex);
    for (const auto& [key, callback] : snapshot().callbacks) {
      if (key.first == static_cast<int>(stage)) callbacks.push_back(callback);
    }
  }
  for (int32_t id = 0; id < Runtime::instance().device_count(); ++id) {
    if (Runtime::instance().uses(id) == 0) continue;
    for (const SnapshotCallback& callback : callbacks) {
      if (const uint32_t code = callback(id); code != 0) {
        return fail(Code::snapshot_callback_failed,
                    "a callback of stage {} returned {} for device {}; expected 0",
                    static_cast<int>(stage), code, id);
      }
    }
  }
  return {};
}

bool is_saved(const device::Allocation& allocation) {
  return allocation.device_id >= 0 && allocation.kind != MemoryKind::reserved;
}

Status save(const device::Allocation& allocation, SavedBlock& block) {
  block.base = allocation.base;
  block.bytes = allocation.bytes;
  for (size_t at = 0; at < block.bytes; at += kPiece) {
    std::vector<std::byte> piece(std::min(kPiece, block.bytes - at));
    ANYNPU_TRY(device::copy_bytes(piece.data(), reinterpret_cast<const void*>(block.base + at),
                                  piece.size()));
    const bool zero =
        std::all_of(piece.begin(), piece.end(), [](std::byte b) { return b == std::byte{0}; });
    if (!zero) block.pieces.emplace(at, std::move(piece));
  }
  return {};
}

Status put_back(const SavedBlock& block) {
  const auto found = RangeMap::instance().find(block.base);
  if (!found || found->base != block.base || found->bytes != block.bytes) {
    return fail(Code::snapshot_restore_failed,
                "the block of {} bytes at {:#x} is gone; restore before it is freed", block.bytes,
                block.base);
  }
  for (size_t at = 0; at < block.bytes; at += kPiece) {
    void* const to = reinterpret_cast<void*>(block.base + at);
    const auto piece = block.pieces.find(at);
    if (piece == block.pieces.end()) {
      ANYNPU_TRY(device::fill_bytes(to, 0, std::min(kPiece, block.bytes - at)));
    } else {
      ANYNPU_TRY(device::copy_bytes(to, piece->second.data(), piece->second.size()));
    }
  }
  return {};
}

// Work that was queued before the lock ends first.
void finish_work() {
  for (const auto& stream : HandleTable::instance().all<device::Stream>()) {
    (void)stream->wait_for(stream->submitted(), Deadline::never());
  }
}

Status check_stage(int stage, const void* key) {
  ANYNPU_TRY(check_pointer(key, "callback"));
  if (stage >= 0 && stage <= static_cast<int>(SnapshotStage::after_unlock)) return {};
  return fail(Code::invalid_argument, "stage is {}; expected 0 to 5", stage);
}

}  // namespace

Status lock_process(int process) {
  ANYNPU_TRY(check_process(process));
  {
    const std::lock_guard lock(snapshot().mutex);
    if (snapshot().phase != Phase::running) {
      return wrong_phase(Code::snapshot_lock_failed, "running");
    }
  }
  ANYNPU_TRY(call_callbacks(SnapshotStage::before_lock));
  const std::lock_guard lock(snapshot().mutex);
  if (snapshot().phase != Phase::running) return wrong_phase(Code::snapshot_lock_failed, "running");
  gate_calls_for_faults();  // from now on calls come by wait_while_locked
  snapshot().phase = Phase::locked;
  return {};
}

Status back_up_process(int process) {
  ANYNPU_TRY(check_process(process));
  {
    const std::lock_guard lock(snapshot().mutex);
    if (snapshot().phase == Phase::running) {
      return wrong_phase(Code::snapshot_backup_failed, "locked");
    }
  }
  ANYNPU_TRY(call_callbacks(SnapshotStage::before_backup));
  finish_work();
  std::vector<SavedBlock> blocks;
  for (const auto& allocation : RangeMap::instance().all()) {
    if (is_saved(*allocation)) ANYNPU_TRY(save(*allocation, blocks.emplace_back()));
  }
  {
    const std::lock_guard lock(snapshot().mutex);
    snapshot().blocks = std::move(blocks);
    snapshot().phase = Phase::backed_up;
  }
  return call_callbacks(SnapshotStage::after_backup);
}

Status restore_process(int process) {
  ANYNPU_TRY(check_process(process));
  {
    const std::lock_guard lock(snapshot().mutex);
    if (snapshot().phase != Phase::backed_up) {
      return wrong_phase(Code::snapshot_restore_failed, "backed up");
    }
  }
  ANYNPU_TRY(call_callbacks(SnapshotStage::before_restore));
  {
    const std::lock_guard lock(snapshot().mutex);
    for (const SavedBlock& block : snapshot().blocks) ANYNPU_TRY(put_back(block));
    snapshot().phase = Phase::locked;
  }
  return call_callbacks(SnapshotStage::after_restore);
}

Status unlock_process(int process) {
  ANYNPU_TRY(check_process(process));
  {
    const std::lock_guard lock(snapshot().mutex);
    if (snapshot().phase == Phase::running) {
      return wrong_phase(Code::snapshot_unlock_failed, "locked");
    }
    snapshot().phase = Phase::running;
    snapshot().blocks.clear();
    snapshot().unlocked.notify_all();
  }
  return call_callbacks(SnapshotStage::after_unlock);
}

Status add_snapshot_callback(int stage, const void* key, SnapshotCallback callback) {
  ANYNPU_TRY(check_stage(stage, key));
  const std::lock_guard lock(snapshot().callbacks_mutex);
  if (snapshot().callbacks.emplace(std::pair{stage, key}, std::move(callback)).second) return {};
  return fail(Code::snapshot_register_failed, "the callback is registered for stage {} already",
              stage);
}

Status remove_snapshot_callback(int stage, const void* key) {
  ANYNPU_TRY(check_stage(stage, key));
  const std::lock_guard lock(snapshot().callbacks_mutex);
  if (snapshot().callbacks.erase({stage, key})) return {};
  return fail(Code::snapshot_register_failed, "the callback is not registered for stage {}", stage);
}

Status wait_while_locked(std::string_view function) {
  if (snapshot().phase.load(std::memory_order_acquire) == Phase::running) return {};
  const bool held = std::any_of(std::begin(kHeldCalls), std::end(kHeldCalls),
                                [&](std::string_view name) { return function.starts_with(name); });
  std::unique_lock lock(snapshot().mutex);
  while (held && snapshot().phase != Phase::running) {
    if (wait_turn(snapshot().unlocked, lock, Deadline::never()) == WaitEnd::interrupted) {
      return fail(Code::cancelled, "the process is {}; the wait for its end was interrupted",
                  name_of(snapshot().phase));
    }
  }
  return {};
}

}  // namespace anynpu::service
