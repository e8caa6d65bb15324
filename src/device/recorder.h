// SPDX-License-Identifier: Apache-2.0
// Takes the tasks of a stream instead of running them: a capture, a model instance under
// construction, or the update of a task group. A stream has at most one (Stream::set_recorder).
// Calls come from any thread, with no lock of a stream or event held.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "device/task.h"

namespace anynpu::device {

class Event;
class Stream;

// Whether a record or wait of an event stays inside the recording, or synchronizes with outside
// streams each time the recording runs.
enum class EventUse : uint8_t { inside, outside };

class TaskRecorder : public std::enable_shared_from_this<TaskRecorder> {
 public:
  virtual ~TaskRecorder() = default;

  // Stores a task of `stream`; returns its number in the stream, from 1.
  virtual Result<uint32_t> keep(Stream& stream, std::unique_ptr<KeptTask> task) = 0;
  virtual Status record(Stream& stream, Event& event, EventUse use) = 0;
  virtual Status wait(Stream& stream, Event& event, EventUse use) = 0;
  virtual Status reset(Stream& stream, Event& event) = 0;

  // A stream outside waits for an event that was recorded inside.
  virtual Status join(Stream& stream, Event& event) = 0;
  // False once it has ended: its events cannot be waited for any more.
  virtual bool open() const = 0;
  // The result of a host wait or query for one of its streams or events. Ok: nothing to wait for.
  virtual Status asked(std::string_view what) = 0;
};

}  // namespace anynpu::device
