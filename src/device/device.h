// SPDX-License-Identifier: Apache-2.0
// A device: memory, and a place where tasks run. A back end implements this class, DeviceMemory
// (device_memory.h) and Queue (queue.h), and registers as a Backend (backend.h); the CPU's is in
// cpu/, and docs/adding_a_device.md says how. Streams, events, contexts, callbacks and the range
// map are common to all devices. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "device/capabilities.h"
#include "device/engine_gate.h"
#include "device/task.h"

namespace anynpu::device {

class DeviceMemory;
class Queue;

class Device {
 public:
  Device(int32_t id, int32_t physical_id);
  virtual ~Device() = default;

  // Identify (required).
  int32_t id() const { return id_; }                    // the id that programs use
  int32_t physical_id() const { return physical_id_; }  // before ASCEND_RT_VISIBLE_DEVICES
  virtual std::string description() const = 0;
  virtual const Capabilities& capabilities() const = 0;
  // It has its own kernels; models are then in its memory.
  bool has_own_kernels() const { return capabilities().kernels != "cpu"; }
  // Into how many parts kernels split their work (ops::Target). By default the threads of the
  // pool.
  virtual size_t threads() const;

  // Memory (required). The same one every time, reserved by the first call.
  virtual Result<std::shared_ptr<DeviceMemory>> memory() = 0;
  virtual size_t memory_total() const = 0;
  virtual size_t memory_used() const = 0;

  // Queues (optional): one for each stream; 0 is the highest of 8 priorities. Never null: if a
  // queue cannot be created, its calls fail. By default host threads do the work.
  virtual std::shared_ptr<Queue> create_queue(uint32_t priority);

  // Engines (optional): how many tasks of an engine run at once. Unlimited by default.
  EngineGate& gate(Engine engine) { return gates_[static_cast<size_t>(engine)]; }

  // Share of the pool's threads that ran tasks of this device since the call before, in percent.
  void add_busy(uint64_t ns) { busy_ns_.fetch_add(ns, std::memory_order_relaxed); }
  int32_t take_utilization();

  // Streams alive on this device; take_stream_place() fails at the limit.
  Status take_stream_place();
  void give_stream_place() { streams_.fetch_sub(1, std::memory_order_relaxed); }
  int streams() const { return streams_.load(std::memory_order_relaxed); }
  static int max_streams();

 protected:
  // For back ends, before the first task.
  void limit(Engine engine, int tasks) { gates_[static_cast<size_t>(engine)].set_limit(tasks); }

 private:
  const int32_t id_;
  const int32_t physical_id_;
  std::array<EngineGate, static_cast<size_t>(Engine::count)> gates_;
  std::atomic<int> streams_{0};
  std::atomic<uint64_t> busy_ns_{0};
  std::mutex window_mutex_;
  uint64_t window_start_ns_;
  uint64_t window_busy_ns_ = 0;
};

// unsupported_feature where the memory of a device cannot be shared or mapped.
Status check_shared_memory(const Device& device);
// unsupported_feature where a device has no media processing.
Status check_media(const Device& device);

}  // namespace anynpu::device
