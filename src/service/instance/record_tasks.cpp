// SPDX-License-Identifier: Apache-2.0
#include "service/instance/record_tasks.h"

#include <map>
#include <optional>

#include "base/log.h"
#include "device/device.h"
#include "device/queue.h"

namespace anynpu::service {

namespace {

using device::Queue;

bool is_recordable(const RecordedTask& task) {
  if (task.role == TaskRole::record || task.role == TaskRole::wait) return true;
  return task.role == TaskRole::work && task.kind && task.kind->enqueues;
}

// Puts the tasks of all lanes into one list, so that what a task waits for comes before it.
class Ordering {
 public:
  explicit Ordering(Instance& instance) : instance_(instance), lanes_(instance.lanes().size()) {}

  // Nothing: some task needs the host, or waits for something that is not recorded.
  std::optional<std::vector<Queue::Part>> parts() {
    for (const Lane& lane : instance_.lanes()) {
      for (const RecordedTask* task : lane.program) {
        if (!is_recordable(*task)) return std::nullopt;
      }
    }
    bool moved = true;
    while (moved) {
      moved = false;
      for (size_t lane = 0; lane < lanes_.size(); ++lane) moved |= advance(lane);
    }
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (lanes_[lane].at < instance_.lanes()[lane].program.size()) return std::nullopt;
    }
    return std::move(parts_);
  }

 private:
  struct LanePosition {
    size_t at = 0;
    std::vector<uint32_t> after;  // the parts that the next one follows
  };

  // Takes tasks of a lane until it has to wait for a join; whether it took any.
  bool advance(size_t lane) {
    LanePosition& position = lanes_[lane];
    const auto& program = instance_.lanes()[lane].program;
    const size_t begin = position.at;
    for (; position.at < program.size(); ++position.at) {
      const RecordedTask& task = *program[position.at];
      if (task.role == TaskRole::work) {
        add_part(position, task, *instance_.lanes()[lane].source);
      } else if (task.role == TaskRole::record) {
        joins_[task.join] = position.after;
      } else {
        const auto joined = joins_.find(task.join);
        if (joined == joins_.end()) break;
        position.after.insert(position.after.end(), joined->second.begin(), joined->second.end());
      }
    }
    return position.at > begin;
  }

  void add_part(LanePosition& position, const RecordedTask& task, device::Stream& stream) {
    device::KeptTask* const work = task.work.load(std::memory_order_acquire);
    parts_.push_back({[work, &stream]() -> Status {
                        device::TaskRun run(stream, 0);
                        if (work->invoke(run) == device::Outcome::pending)
                          return fail(Code::internal, "a recorded task waits for the host");
                        return run.status();
                      },
                      std::move(position.after)});
    position.after = {static_cast<uint32_t>(parts_.size() - 1)};
  }

  Instance& instance_;
  std::vector<LanePosition> lanes_;
  std::map<uint32_t, std::vector<uint32_t>> joins_;
  std::vector<Queue::Part> parts_;
};

}  // namespace

std::shared_ptr<void> record_tasks(Instance& instance) {
  const auto& device = instance.context()->device();
  if (device->capabilities().finishes_calls) return nullptr;
  const auto parts = Ordering(instance).parts();
  if (!parts || parts->empty()) return nullptr;
  const auto queue = device->create_queue(0);
  auto recording = queue->record(*parts);
  ANYNPU_LOG(info, "model instance {}: {} tasks {}", instance.id(), parts->size(),
             recording ? "are replayed as one" : "are replayed one by one");
  return recording;
}

}  // namespace anynpu::service
