// SPDX-License-Identifier: Apache-2.0
// Captures: between begin and end the tasks of a stream are recorded into a model instance instead
// of being run. Other streams join by waiting for an event of a captured stream, and leave in the
// same way. A forbidden call invalidates a capture: its end then fails. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/handle_table.h"
#include "base/result.h"
#include "device/capture_rules.h"
#include "device/recorder.h"
#include "service/instance/instance.h"

namespace anynpu::service {

enum class CaptureStatus : uint8_t { none = 0, active = 1, invalidated = 2 };

class Capture final : public device::TaskRecorder, public device::OpenCapture {
 public:
  Capture(std::shared_ptr<Instance> instance, device::CaptureMode mode);
  ~Capture() override;

  Result<uint32_t> keep(device::Stream& stream, std::unique_ptr<device::KeptTask> task) override;
  Status record(device::Stream& stream, device::Event& event, device::EventUse use) override;
  Status wait(device::Stream& stream, device::Event& event, device::EventUse use) override;
  Status reset(device::Stream& stream, device::Event& event) override;
  Status join(device::Stream& stream, device::Event& event) override;
  bool open() const override;
  Status asked(std::string_view what) override;

  // The first stream.
  void begin(const std::shared_ptr<device::Stream>& stream);
  // Checks the conditions of end; afterwards nothing is recorded, and the streams run tasks again.
  Status may_end(const device::Stream& stream);
  Status end();

  Status begin_group(const device::Stream& stream);
  Result<std::shared_ptr<TaskGroup>> end_group(const device::Stream& stream);

  // Adds a control task.
  Result<RecordedTask*> add(device::Stream& stream, TaskRole role);

  const std::shared_ptr<Instance>& instance() const { return instance_; }
  CaptureStatus status() const;
  bool caches_op_info() const;

 private:
  struct Group {
    std::shared_ptr<TaskGroup> group;
    uint32_t lane;
  };
  void invalidate(const Status& why) override;
  Result<uint32_t> lane_of(const device::Stream& stream) const;
  Status check_active() const;
  Status check_group(uint32_t lane, const device::TaskKind* kind) const;
  Status check_outside(const device::Event& event) const;
  Status check_not_of_another(const device::Event& event) const;
  Status check_joined() const;
  Result<uint32_t> lane_for(device::Stream& stream, const device::TaskKind* kind);

  const std::shared_ptr<Instance> instance_;
  mutable std::mutex mutex_;
  bool ended_ = false;
  Status broken_;
  std::map<const device::Stream*, uint32_t> lanes_;
  std::map<const device::Event*, uint32_t> joins_;  // of the last record of an event
  std::map<const device::Event*, bool> outside_;    // events with an operation outside
  std::optional<Group> group_;
};

Status begin_capture(Handle stream, int32_t mode);
// Returns the instance, ready to be executed.
Result<Handle> end_capture(Handle stream);
struct CaptureInfo {
  CaptureStatus status = CaptureStatus::none;
  Handle instance = 0;
};
Result<CaptureInfo> capture_info(Handle stream);
// Sets the mode of the calling thread and returns the previous one.
Result<int32_t> exchange_capture_mode(int32_t mode);
// Records into an instance of a condition.
Status begin_capture_into(Handle stream, Handle instance, int32_t mode);

// Whether tasks of the stream store information for profiles: while it is captured, if the stream
// on which the capture began has the switch on.
bool caches_op_info(const device::Stream& stream);

// The capture of a stream; stream_not_capturing when there is none.
Result<std::shared_ptr<Capture>> capture_of(const device::Stream& stream);

}  // namespace anynpu::service
