// SPDX-License-Identifier: Apache-2.0
// One task of a model instance, recorded once and run any number of times. Most are ordinary tasks
// as they were submitted (`work`); control tasks have another role. A run reads them without a
// lock; what may change between or during runs is atomic or belongs to Instance.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/handle_table.h"
#include "device/event.h"
#include "device/memory.h"
#include "device/task.h"

namespace anynpu::service {

class Instance;
struct Condition;
struct Label;
struct LabelList;
struct RandomTask;
struct TaskGroup;

enum class TaskRole : uint8_t {
  work,
  record,          // lets waits of the same join go on
  wait,            // for a join
  reset,           // of an event: its join, or its marks outside
  record_outside,  // a mark of an event that streams outside see
  wait_outside,    // for the last mark of an event when the run was queued
  wait_flag,       // until an event has a mark that was not reset
  activate,        // starts another lane
  switch_lane,     // continues in another lane if a comparison holds
  label,           // a place to jump to
  switch_label,    // jumps to one of several labels
  end,             // the run is complete
  condition,       // runs one of several instances, or one again and again
};

// How two values compare, and their width.
enum class Comparison : uint8_t {
  equal,
  not_equal,
  greater,
  greater_or_equal,
  less,
  less_or_equal
};
struct LaneSwitch {
  device::Range left, right;
  Comparison comparison = Comparison::equal;
  bool wide = false;  // 64 bits
};

// How a kernel was launched, as programs read and change it.
struct KernelNote {
  struct Attribute {
    int32_t id = 0;
    std::vector<std::byte> value;
  };
  Handle function = 0;
  uint32_t blocks = 0;
  std::vector<std::byte> arguments;  // as the program laid them out; empty: they were not bytes
  std::vector<Attribute> attributes;
  void* device_arguments = nullptr;  // a copy in device memory, made when it is asked for
};
// A write of, or wait for, a value in memory.
struct ValueNote {
  void* address = nullptr;
  uint64_t value = 0;
  uint32_t condition = 0;
};

struct RecordedTask {
  TaskRole role = TaskRole::work;
  bool disabled = false;
  uint32_t lane = 0;
  uint32_t number = 0;  // in its lane, from 1
  const device::TaskKind* kind = nullptr;

  // What runs now, the last of `kept`; the others stay until no run can see them.
  std::atomic<device::KeptTask*> work{nullptr};
  std::vector<std::unique_ptr<device::KeptTask>> kept;
  void set_work(std::unique_ptr<device::KeptTask> task) {
    device::KeptTask* raw = task.get();
    kept.push_back(std::move(task));
    work.store(raw, std::memory_order_release);
  }

  std::shared_ptr<device::Event> event;
  uint32_t join = 0;    // number of the join, or of the mark outside
  uint32_t target = 0;  // a lane
  LaneSwitch compare;
  std::shared_ptr<Label> label;
  std::shared_ptr<LabelList> labels;
  device::Range index;  // of the label to jump to
  std::shared_ptr<Condition> condition;

  std::shared_ptr<TaskGroup> group;
  std::unique_ptr<KernelNote> kernel;
  std::unique_ptr<ValueNote> value;
  std::shared_ptr<RandomTask> random;
  std::unique_ptr<device::KeptTask> prepared;  // set by a program, in force with the next update
  std::vector<std::byte> op_info;
  std::string extend_info;
  Handle handle = 0;  // once it was asked for
};

}  // namespace anynpu::service
