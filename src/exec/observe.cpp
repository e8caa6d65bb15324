// SPDX-License-Identifier: Apache-2.0
#include "exec/observe.h"

#include <algorithm>

#include "device/host_view.h"
#include "device/queue.h"
#include "ops/blocked_layout.h"
#include "ops/enqueued_plan.h"

namespace anynpu::exec {

namespace {

std::vector<StepTensor> bound(const std::vector<StepTensor>& tensors,
                              std::span<const std::byte* const> data) {
  std::vector<StepTensor> out = tensors;
  for (size_t i = 0; i < out.size(); ++i) out[i].data = i < data.size() ? data[i] : nullptr;
  return out;
}

std::span<const std::byte* const> readable(std::span<std::byte* const> data) {
  return {const_cast<const std::byte* const*>(data.data()), data.size()};
}

// What an observed step passes to its observer, besides the addresses of a run.
struct ObservedStep {
  ObservedStep(const PlanStep& step, size_t number, std::shared_ptr<StepObserver> told)
      : op(step.op),
        name(step.name),
        in(step.in),
        out(step.out),
        index(number),
        observer(std::move(told)) {}

  std::string op, name;
  std::vector<StepTensor> in, out;
  size_t index;
  std::shared_ptr<StepObserver> observer;
};

class ObservedPlan final : public ops::KernelPlan {
 public:
  ObservedPlan(ObservedStep step, std::unique_ptr<ops::KernelPlan> inner)
      : step_(std::move(step)), inner_(std::move(inner)) {}

  Status run(const ops::RunArgs& args) const override {
    const auto inputs = bound(step_.in, args.inputs);
    const auto outputs = bound(step_.out, readable(args.outputs));
    const StepView view{step_.index, step_.op, step_.name, inputs, outputs};
    return observed(*step_.observer, view, [&] { return inner_->run(args); });
  }

 private:
  ObservedStep step_;
  std::unique_ptr<ops::KernelPlan> inner_;
};

// Tensors in the memory of a device, and copies of them that an observer can read.
class HostCopies {
 public:
  explicit HostCopies(std::vector<StepTensor> tensors) : tensors_(tensors), seen_(tensors) {
    for (StepTensor& tensor : seen_) {
      if (!tensor.data) continue;
      copies_.emplace_back(ops::stored_bytes(tensor.dtype, tensor.shape, tensor.layout));
      tensor.data = copies_.back().data();
    }
  }
  Status read() {
    auto copy = copies_.begin();
    for (const StepTensor& tensor : tensors_) {
      if (!tensor.data) continue;
      ANYNPU_TRY(device::copy_bytes(copy->data(), tensor.data, copy->size()));
      ++copy;
    }
    return {};
  }
  std::span<const StepTensor> seen() const { return seen_; }

 private:
  std::vector<StepTensor> tensors_, seen_;
  std::vector<std::vector<std::byte>> copies_;
};

// A step that a device runs is waited for, before and after.
class ObservedEnqueuedPlan final : public ops::EnqueuedPlan {
 public:
  ObservedEnqueuedPlan(ObservedStep step, std::unique_ptr<ops::KernelPlan> inner)
      : step_(std::move(step)), inner_(std::move(inner)) {}

  Status enqueue(const ops::RunArgs& args, device::Queue& queue) const override {
    HostCopies inputs(bound(step_.in, args.inputs));
    HostCopies outputs(bound(step_.out, readable(args.outputs)));
    ANYNPU_TRY(queue.drain());
    ANYNPU_TRY(inputs.read());
    const StepView view{step_.index, step_.op, step_.name, inputs.seen(), outputs.seen()};
    return observed(*step_.observer, view, [&]() -> Status {
      ANYNPU_TRY(static_cast<const ops::EnqueuedPlan&>(*inner_).enqueue(args, queue));
      ANYNPU_TRY(queue.drain());
      return outputs.read();
    });
  }

 private:
  ObservedStep step_;
  std::unique_ptr<ops::KernelPlan> inner_;
};

class InnerObserver final : public StepObserver {
 public:
  explicit InnerObserver(std::shared_ptr<StepObserver> outer) : outer_(std::move(outer)) {}
  bool wants(const std::string& op, const std::string& name) const override {
    return outer_->wants(op, name);
  }
  Status before(const StepView& step) override { return outer_->before(step); }
  Status after(const StepView& step) override { return outer_->after(step); }
  void failed(const StepView& step, const Status& status) override { outer_->failed(step, status); }

 private:
  std::shared_ptr<StepObserver> outer_;
};

class ObserverList final : public StepObserver {
 public:
  explicit ObserverList(std::vector<std::shared_ptr<StepObserver>> observers)
      : observers_(std::move(observers)) {}

  void set_model_id(uint32_t id) override {
    for (const auto& observer : observers_) observer->set_model_id(id);
  }
  void begin() override {
    for (const auto& observer : observers_) observer->begin();
  }
  bool wants(const std::string& op, const std::string& name) const override {
    return std::any_of(observers_.begin(), observers_.end(),
                       [&](const auto& observer) { return observer->wants(op, name); });
  }
  Status before(const StepView& step) override {
    for (const auto& observer : observers_) {
      if (observer->wants(step.op, step.name)) ANYNPU_TRY(observer->before(step));
    }
    return {};
  }
  Status after(const StepView& step) override {
    for (const auto& observer : observers_) {
      if (observer->wants(step.op, step.name)) ANYNPU_TRY(observer->after(step));
    }
    return {};
  }
  void failed(const StepView& step, const Status& status) override {
    for (const auto& observer : observers_) {
      if (observer->wants(step.op, step.name)) observer->failed(step, status);
    }
  }

 private:
  std::vector<std::shared_ptr<StepObserver>> observers_;
};

}  // namespace

std::shared_ptr<StepObserver> join_observers(std::vector<std::shared_ptr<StepObserver>> observers) {
  std::erase(observers, nullptr);
  if (observers.empty()) return nullptr;
  if (observers.size() == 1) return observers[0];
  return std::make_shared<ObserverList>(std::move(observers));
}

std::shared_ptr<StepObserver> inside_a_run(const std::shared_ptr<StepObserver>& observer) {
  if (!observer || dynamic_cast<InnerObserver*>(observer.get())) return observer;
  return std::make_shared<InnerObserver>(observer);
}

void observe(Plan& plan, const std::shared_ptr<StepObserver>& observer) {
  plan.observed = true;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    PlanStep& step = plan.steps[i];
    if (step.op.empty() || !observer->wants(step.op, step.name)) continue;
    ObservedStep told(step, i, observer);
    if (plan.on_device && !step.fallback) {
      step.work = std::make_unique<ObservedEnqueuedPlan>(std::move(told), std::move(step.work));
    } else {
      step.work = std::make_unique<ObservedPlan>(std::move(told), std::move(step.work));
    }
  }
  for (InnerPlans* plans : plan.inner) plans->observe_by(observer);
}

}  // namespace anynpu::exec
