// SPDX-License-Identifier: Apache-2.0
// What this process uses of its devices, for `npu-smi info` of the same user: a file of one page in
// the run-time folder ($XDG_RUNTIME_DIR/anynpu, else /tmp/anynpu-<uid>), named by the process id
// and mapped, so that a change is a store. Readers (python/anynpu/other_processes.py) drop the
// files of processes that are gone. Without such a folder nothing is told. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace anynpu::device {

class Device;

inline constexpr int kPublishedDevices = 64;

struct PublishedDevice {
  std::atomic<int32_t> physical_id;  // as `npu-smi` numbers it
  std::atomic<int32_t> running;      // tasks now
  std::atomic<uint64_t> memory;      // bytes in use
  // Nanoseconds that tasks took, less the times when the running ones began: with `running` times
  // the present time added, it is what all tasks took so far.
  std::atomic<uint64_t> busy;
};

struct ProcessPage {
  char magic[8];  // "ANYNPU1"
  uint32_t process;
  uint32_t devices;      // of the list below
  uint64_t start_ticks;  // of the process, as /proc/<pid>/stat has it: process ids are reused
  uint32_t threads;      // that run tasks
  uint32_t padding;
  char name[64];
  std::array<PublishedDevice, kPublishedDevices> list;
};
static_assert(sizeof(ProcessPage) <= 4096);

// Where a device stands in the list; -1: nowhere (clusters of HPE, which have ids of their own).
int32_t published_slot(const Device& device);
// A device is used: from now on it is told.
void publish_device(int32_t id, int32_t physical_id);
void publish_memory(int32_t id, size_t used);
// Around a task; a pair of calls has the same id.
void publish_task_begin(int32_t id, uint64_t now);
void publish_task_end(int32_t id, uint64_t now);

}  // namespace anynpu::device
