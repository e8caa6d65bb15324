// SPDX-License-Identifier: Apache-2.0
// What takes the tasks of a stream instead of running them: a capture, a model instance that is
// being built, or the update of a task group. A stream has at most one (Stream::set_recorder).
// Calls come from any thread, without a lock of a stream or of an event held.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "device/task.h"

namespace anynpu::device {

class Event;
class Stream;

// Whether a record or wait of an event stays inside what is recorded, or works with the streams
// outside each time the recorded work runs.
enum class EventUse : uint8_t { inside, outside };

class TaskRecorder : public std::enable_shared_from_this<TaskRecorder> {
 public:
  virtual ~TaskRecorder() = default;

  // Keeps a task of `stream`; gives its number in the stream, from 1.
  virtual Result<uint32_t> keep(Stream& stream, std::unique_ptr<KeptTask> task) = 0;
  virtual Status record(Stream& stream, Event& event, EventUse use) = 0;
  virtual Status wait(Stream& stream, Event& event, EventUse use) = 0;
  virtual Status reset(Stream& stream, Event& event) = 0;

  // A stream outside waits for an event that was recorded inside.
  virtual Status join(Stream& stream, Event& event) = 0;
  // False once it has ended: its events cannot be waited for any more.
  virtual bool open() const = 0;
  // What the host gets that waits for, or asks, a stream or event of it. Ok: nothing to wait for.
  virtual Status asked(std::string_view what) = 0;
};

}  // namespace anynpu::device
