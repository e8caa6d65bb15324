// SPDX-License-Identifier: Apache-2.0
#include "exec/observe.h"

#include <algorithm>

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

class ObservedPlan final : public ops::KernelPlan {
 public:
  ObservedPlan(const PlanStep& step, size_t index, std::unique_ptr<ops::KernelPlan> inner,
               std::shared_ptr<StepObserver> observer)
      : op_(step.op),
        name_(step.name),
        in_(step.in),
        out_(step.out),
        index_(index),
        inner_(std::move(inner)),
        observer_(std::move(observer)) {}

  Status run(const ops::RunArgs& args) const override {
    const auto inputs = bound(in_, args.inputs), outputs = bound(out_, readable(args.outputs));
    const StepView view{index_, op_, name_, inputs, outputs};
    return observed(*observer_, view, [&] { return inner_->run(args); });
  }

 private:
  std::string op_, name_;
  std::vector<StepTensor> in_, out_;
  size_t index_;
  std::unique_ptr<ops::KernelPlan> inner_;
  std::shared_ptr<StepObserver> observer_;
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
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    PlanStep& step = plan.steps[i];
    if (step.op.empty() || !observer->wants(step.op, step.name)) continue;
    step.work = std::make_unique<ObservedPlan>(step, i, std::move(step.work), observer);
  }
  for (InnerPlans* plans : plan.inner) plans->observe_by(observer);
}

}  // namespace anynpu::exec
