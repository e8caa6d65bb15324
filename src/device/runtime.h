// SPDX-License-Identifier: Apache-2.0
// The runtime: the devices of the process with their reference counts, and the current context of
// each thread. Devices are described once, from ANYNPU_DEVICES and ASCEND_RT_VISIBLE_DEVICES, and
// cost nothing until they are used. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/handle_table.h"
#include "base/result.h"
#include "device/context.h"

namespace anynpu::device {

class Runtime {
 public:
  static Runtime& instance();

  int32_t device_count() const { return static_cast<int32_t>(devices_.size()); }
  // Fails with invalid_device and the valid range.
  Result<std::shared_ptr<Device>> device(int32_t id);

  // Counts a use of the device and makes its default context current for this thread.
  Status set_device(int32_t id);
  // Counts down; at zero the device's contexts, streams and memory of this process end.
  enum class Reset { count_down, force };
  Status reset_device(int32_t id, Reset how);
  // Ends everything, for finalize.
  void reset_all();
  // The use count of the device; 0: it has no default context.
  int uses(int32_t id) const;
  // The device of threads that never chose one; -1 for none.
  void set_default_device(int32_t id);

  Result<Handle> create_context(int32_t device_id);
  Status destroy_context(Handle handle);
  Status set_current(Handle handle);
  // The thread's context. Fails with no_context and what to do.
  Result<std::shared_ptr<Context>> current();

  // The stream a program means: 0 = the default stream of the current context.
  Result<std::shared_ptr<Stream>> stream(Handle handle);
  Status destroy_stream(Handle handle, Stream::Close how);

  // Waits for all work of the current context's device.
  Status synchronize_device(const Deadline& deadline);
  // Drops queued work of a device and waits for running tasks.
  Status abort_device(int32_t id, const Deadline& deadline);

 private:
  Runtime();
  struct DeviceEntry {
    std::shared_ptr<Device> device;
    int uses = 0;
    std::shared_ptr<Context> default_context;
    std::vector<std::shared_ptr<Context>> contexts;  // explicit ones
  };
  Status reset_device(int32_t id, Reset how, const Deadline& patience);
  void end_device(const DeviceEntry& ended, const Deadline& patience);
  Result<DeviceEntry*> device_entry(int32_t id);
  std::vector<std::shared_ptr<Context>> contexts_of(const Device& device);

  mutable std::mutex mutex_;
  std::vector<DeviceEntry> devices_;
  int32_t default_device_ = -1;
  std::string problem_;
};

}  // namespace anynpu::device
