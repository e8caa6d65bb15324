// SPDX-License-Identifier: Apache-2.0
// Model instances built from bound streams, whose tasks are recorded. A head stream starts with the
// run, others when a task activates or switches to them. Thread-safe.
#pragma once

#include <cstdint>

#include "device/recorder.h"
#include "service/instance/instance.h"

namespace anynpu::service {

// Records the tasks of bound streams.
class BoundStream final : public device::TaskRecorder {
 public:
  BoundStream(std::shared_ptr<Instance> instance, uint32_t lane)
      : instance_(std::move(instance)), lane_(lane) {}

  Result<uint32_t> keep(device::Stream& stream, std::unique_ptr<device::KeptTask> task) override;
  Status record(device::Stream& stream, device::Event& event, device::EventUse use) override;
  Status wait(device::Stream& stream, device::Event& event, device::EventUse use) override;
  Status reset(device::Stream& stream, device::Event& event) override;
  Status join(device::Stream&, device::Event&) override { return {}; }
  bool open() const override { return false; }
  Status asked(std::string_view) override { return {}; }

  // Adds a control task.
  Result<RecordedTask*> add(device::Stream& stream, TaskRole role);
  const std::shared_ptr<Instance>& instance() const { return instance_; }
  uint32_t lane() const { return lane_; }

 private:
  Status check_open(const device::Stream& stream) const;
  uint32_t join_of(const device::Event& event);
  Status add_event(device::Stream& stream, device::Event& event, TaskRole role);

  const std::shared_ptr<Instance> instance_;
  const uint32_t lane_;
};

Result<Handle> begin_build();
inline constexpr uint32_t kHeadStream = 0, kOtherStream = 0x7fffffff;
Status bind_stream(Handle instance, Handle stream, uint32_t flag);
Status unbind_stream(Handle instance, Handle stream);
// Marks where the run is complete.
Status add_end_task(Handle instance, Handle stream);
Status end_build(Handle instance);
// Drops what was recorded on a bound stream.
Status clean_persistent_tasks(Handle stream);

// Adds tasks to `stream`: one starts `active` concurrently; one continues in `target` instead if a
// comparison of two values in device memory holds.
Status activate_stream(Handle active, Handle stream);
struct SwitchStream {
  const void* left = nullptr;
  const void* right = nullptr;
  uint32_t comparison = 0;  // as Comparison
  uint32_t type = 0;        // 0: 32 bits, 1: 64 bits
};
Status switch_stream(const SwitchStream& test, Handle target, Handle stream);

bool is_bound(const device::Stream& stream);
// What a stream is bound to; stream_not_of_instance when it is not.
Result<std::shared_ptr<BoundStream>> bound_stream(const device::Stream& stream);

}  // namespace anynpu::service
