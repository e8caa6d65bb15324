// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/session.h"

#include "aclruntime/pipeline.h"

namespace anynpu::aclruntime {

Failure Session::open(const ModelFile& file, int device, const std::string& config,
                      std::unique_ptr<Session>& session) {
  std::shared_ptr<Context> context;
  if (Failure failure = Context::open(device, config, context)) return failure;
  auto made = std::make_unique<Session>();
  if (Failure failure = Model::load(file, std::move(context), made->model_)) return failure;
  made->binding_ = std::make_unique<Binding>(*made->model_);
  session = std::move(made);
  return {};
}

Failure Session::ready() {
  if (!model_) {
    return {kRuntime, "the session was freed; make a new InferSession to run again"};
  }
  return model_->context().use();
}

Failure Session::use() {
  const std::lock_guard lock(mutex_);
  return ready();
}

void Session::set_shapes(Shapes shapes) {
  const std::lock_guard lock(mutex_);
  shapes_ = std::move(shapes);
}

void Session::set_output_sizes(std::vector<size_t> sizes) {
  const std::lock_guard lock(mutex_);
  output_sizes_ = std::move(sizes);
}

void Session::set_aipp(const Aipp& aipp) {
  const std::lock_guard lock(mutex_);
  aipp_ = aipp;
}

Failure Session::finish(Run& run) {
  if (Failure failure = binding_->outputs(run.outputs)) return failure;
  if (!run.to_host) return {};
  for (Tensor& tensor : run.outputs) {
    if (Failure failure = move_to_host(tensor)) return failure;
  }
  return {};
}

Failure Session::run(const std::vector<Feed>& feeds, Run& run) {
  const std::lock_guard lock(mutex_);
  if (Failure failure = ready()) return failure;
  if (Failure failure = Binding::check(*model_, feeds, shapes_)) return failure;
  if (Failure failure = binding_->set_shapes(shapes_)) return failure;
  if (Failure failure = binding_->set_aipp(aipp_)) return failure;
  if (Failure failure = binding_->put(feeds)) return failure;
  if (Failure failure = binding_->execute(output_sizes_, run.loop, run.times)) return failure;
  return finish(run);
}

Failure Session::run_again(const std::vector<int>& in_out, bool copy, int steps, Run& run) {
  const std::lock_guard lock(mutex_);
  if (Failure failure = ready()) return failure;
  for (int step = 0; step < steps; ++step) {
    for (size_t i = 0; i < in_out.size(); ++i) {
      if (in_out[i] < 0) continue;
      if (Failure failure =
              binding_->feed_back(i, static_cast<size_t>(in_out[i]), shapes_.bytes[i], copy)) {
        return failure;
      }
    }
    if (Failure failure = binding_->execute(output_sizes_, run.loop, run.times)) return failure;
  }
  return finish(run);
}

Failure Session::pipeline(std::vector<PipelineItem>& items, int loop,
                          const std::function<bool()>& interrupted) {
  const std::lock_guard lock(mutex_);
  if (Failure failure = ready()) return failure;
  for (size_t i = 0; i < items.size(); ++i) {
    if (Failure failure = Binding::check(*model_, items[i].feeds, items[i].shapes)) {
      failure.message = "feeds " + std::to_string(i) + ": " + failure.message;
      return failure;
    }
  }
  while (pipeline_bindings_.size() < Pipeline::kBindings) {
    pipeline_bindings_.push_back(std::make_unique<Binding>(*model_));
  }
  return Pipeline(*model_, pipeline_bindings_, aipp_, output_sizes_, loop, items).run(interrupted);
}

void Session::free() {
  const std::lock_guard lock(mutex_);
  if (!model_) return;
  if (Failure failure = model_->context().use()) failure = {};  // ended: nothing is left to free
  pipeline_bindings_.clear();
  binding_.reset();
  model_.reset();
}

}  // namespace anynpu::aclruntime
