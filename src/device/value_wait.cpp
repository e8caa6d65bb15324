// SPDX-License-Identifier: Apache-2.0
#include "device/value_wait.h"

#include <algorithm>
#include <memory>

#include "base/thread_pool.h"
#include "device/host_view.h"
#include "device/memory.h"

namespace anynpu::device {

namespace {

constinit TaskKind kWriteValue{"value_write", Engine::control};
constinit TaskKind kWaitValue{"value_wait", Engine::control};

constexpr uint64_t kFirstPollNs = 10'000;
constexpr uint64_t kSlowestPollNs = 2'000'000;

Result<Range> check_value(const void* address, Access access) {
  ANYNPU_ASSIGN(Range range, check_range(address, sizeof(uint64_t), access, "dev_addr"));
  if (reinterpret_cast<uintptr_t>(address) % sizeof(uint64_t) == 0) return range;
  return fail(Code::unaligned_address, "dev_addr = {} must lie on a multiple of 8", address);
}

// Host memory may have been freed by the time it is used; ours is kept by the range.
Status check_again(const Range& range, Access access) {
  if (range.owner) return {};
  return check_range(range.address, range.bytes, access, "dev_addr").status();
}

struct ValueWait : std::enable_shared_from_this<ValueWait> {
  Range range;
  uint64_t value = 0;
  ValueCondition condition = ValueCondition::at_least;
  Completion completion;

  // True when the condition is met, or the memory can no longer be read, which `status` then says.
  bool over(Status& status) const {
    status = check_again(range, Access::read);
    if (!status.ok()) return true;
    uint64_t found = 0;
    status = with_host_view({range.address, sizeof found, Access::read}, [&](void* address) {
      found = __atomic_load_n(static_cast<uint64_t*>(address), __ATOMIC_ACQUIRE);
      return Status();
    });
    return !status.ok() || holds(condition, found, value);
  }
  void look_after(uint64_t delay_ns) {
    ThreadPool::instance().submit_after(delay_ns, [self = shared_from_this(), delay_ns] {
      if (!self->completion.wanted()) return;
      Status status;
      if (self->over(status)) {
        self->completion.finish(std::move(status));
      } else {
        self->look_after(std::min(2 * delay_ns, kSlowestPollNs));
      }
    });
  }
};

}  // namespace

bool holds(ValueCondition condition, uint64_t memory, uint64_t value) {
  switch (condition) {
    case ValueCondition::at_least:
      return static_cast<int64_t>(memory - value) >= 0;
    case ValueCondition::equal:
      return memory == value;
    case ValueCondition::any_bit:
      return (memory & value) != 0;
    case ValueCondition::missing_bit:
      return ~(memory | value) != 0;
  }
  return false;
}

namespace {

// The tasks, checked; any number of runs.
struct ValueWrite {
  Range range;
  uint64_t value;

  Status operator()() const {
    ANYNPU_TRY(check_again(range, Access::write));
    return with_host_view({range.address, sizeof value, Access::write}, [&](void* at) {
      __atomic_store_n(static_cast<uint64_t*>(at), value, __ATOMIC_RELEASE);
      return Status();
    });
  }
};
Result<ValueWrite> make_write(void* address, uint64_t value) {
  ANYNPU_ASSIGN(Range range, check_value(address, Access::write));
  return ValueWrite{std::move(range), value};
}

auto make_wait(std::shared_ptr<ValueWait> wait) {
  return [wait = std::move(wait)](TaskRun& run) {
    Status status;
    if (wait->over(status)) return run.done(std::move(status));
    wait->completion = run.defer();
    wait->look_after(kFirstPollNs);
    return Outcome::pending;
  };
}

Result<std::shared_ptr<ValueWait>> check_wait(const void* address, uint64_t value,
                                              ValueCondition condition) {
  auto wait = std::make_shared<ValueWait>();
  ANYNPU_ASSIGN(wait->range, check_value(address, Access::read));
  wait->value = value;
  wait->condition = condition;
  return wait;
}

}  // namespace

Status write_value(void* address, uint64_t value, Stream& stream) {
  ANYNPU_ASSIGN(auto work, make_write(address, value));
  return stream.submit({kWriteValue, sizeof value}, std::move(work));
}

Status wait_value(const void* address, uint64_t value, ValueCondition condition, Stream& stream) {
  ANYNPU_ASSIGN(auto wait, check_wait(address, value, condition));
  return stream.submit(kWaitValue, make_wait(std::move(wait)));
}

Result<std::unique_ptr<KeptTask>> write_value_task(void* address, uint64_t value) {
  ANYNPU_ASSIGN(auto work, make_write(address, value));
  auto task = std::make_unique<KeptTask>();
  task->emplace({kWriteValue, sizeof value}, std::move(work));
  return task;
}

Result<std::unique_ptr<KeptTask>> wait_value_task(const void* address, uint64_t value,
                                                  ValueCondition condition) {
  ANYNPU_ASSIGN(auto wait, check_wait(address, value, condition));
  auto task = std::make_unique<KeptTask>();
  task->emplace(kWaitValue, make_wait(std::move(wait)));
  return task;
}

bool is_value_wait(const TaskKind& kind) { return &kind == &kWaitValue; }

}  // namespace anynpu::device
