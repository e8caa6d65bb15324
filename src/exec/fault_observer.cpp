// SPDX-License-Identifier: Apache-2.0
#include "exec/fault_observer.h"

#include <atomic>

#include "base/fault_injection.h"

namespace anynpu::exec {

namespace {

class FaultObserver final : public StepObserver {
 public:
  void begin() override { current_run = runs_.fetch_add(1); }

  bool wants(const std::string& op, const std::string& name) const override {
    for (const OperatorFault& fault : faults().operators) {
      if (fault.name == op || fault.name == name) return true;
    }
    return false;
  }

  Status before(const StepView& step) override {
    for (const OperatorFault& fault : faults().operators) {
      if (fault.name != step.op && fault.name != step.name) continue;
      if (fault.run && *fault.run != current_run) continue;
      return fail(Code::task_failed,
                  "{} '{}' fails in run {} because ANYNPU_FAULT names '{}'; unset it", step.op,
                  step.name, current_run, fault.name);
    }
    return {};
  }

 private:
  static thread_local uint64_t current_run;
  std::atomic<uint64_t> runs_{0};
};

thread_local uint64_t FaultObserver::current_run = 0;

}  // namespace

std::shared_ptr<StepObserver> make_fault_observer() {
  if (faults().operators.empty()) return nullptr;
  return std::make_shared<FaultObserver>();
}

}  // namespace anynpu::exec
