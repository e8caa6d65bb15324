// SPDX-License-Identifier: Apache-2.0
#include "device/context.h"

#include <algorithm>

#include "device/recorder.h"
#include "device/report.h"
#include "device/stream_observer.h"

namespace anynpu::device {

Context::Context(std::shared_ptr<Device> device, Origin origin)
    : device_(std::move(device)), origin_(origin) {}

Result<std::shared_ptr<Context>> Context::create(std::shared_ptr<Device> device, Origin origin) {
  auto context = std::shared_ptr<Context>(new Context(std::move(device), origin));
  ANYNPU_ASSIGN(context->default_stream_handle_, context->add_stream({}));
  context->default_stream_ =
      HandleTable::instance().find<Stream>(context->default_stream_handle_).share();
  return context;
}

Result<Handle> Context::create_stream(StreamOptions options) {
  ANYNPU_ASSIGN(const Handle handle, add_stream(options));
  tell_stream_state(handle, StreamState::made);
  return handle;
}

Result<Handle> Context::add_stream(StreamOptions options) {
  ANYNPU_TRY(device_->take_stream_place());
  auto stream = std::make_shared<Stream>(device_, weak_from_this(), options);
  std::lock_guard lock(mutex_);
  const Handle handle = ended_ ? 0 : HandleTable::instance().insert(stream);
  if (!handle) {
    device_->give_stream_place();
    if (ended_)
      return fail(Code::no_context, "the context was destroyed; create streams in a live one");
    return fail(Code::out_of_memory, "no handle is left for another stream");
  }
  std::erase_if(streams_, [](const auto& entry) { return entry.expired(); });
  streams_.push_back(stream);
  return handle;
}

void Context::forget_stream(const Stream& stream) {
  std::lock_guard lock(mutex_);
  std::erase_if(streams_, [&](const auto& entry) { return entry.lock().get() == &stream; });
}

std::vector<std::shared_ptr<Stream>> Context::streams() {
  std::vector<std::shared_ptr<Stream>> alive;
  std::lock_guard lock(mutex_);
  for (const auto& entry : streams_) {
    if (auto stream = entry.lock()) alive.push_back(std::move(stream));
  }
  return alive;
}

Status Context::synchronize(const Deadline& deadline) {
  Status first;
  const auto all = streams();
  for (const auto& stream : all) {  // none is waited for while one is being captured
    if (const auto recorder = stream->recorder()) ANYNPU_TRY(recorder->asked("the context"));
  }
  for (const auto& stream : all) {
    Status status = stream->synchronize(deadline);
    if (status.code() == Code::cancelled) return status;
    if (first.ok()) first = std::move(status);
  }
  return first;
}

void Context::halt_others(const Stream& failed, const Status& why) {
  for (const auto& stream : streams()) {
    if (stream.get() == &failed) continue;
    stream->halt(why.with_note(
        format("stream {} of the context stopped at it (failure mode 1)", failed.id())));
  }
}

void Context::abort() {
  for (const auto& stream : streams()) stream->abort();
}

void Context::shut_down(Stream::Close how, const Deadline& patience) {
  tell_stream_state(default_stream_handle_, StreamState::ending);
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  for (const auto& stream : streams()) {
    stream->disable(
        fail(Code::wrong_context,
             "the context of stream {} was destroyed; the stream can only be destroyed now",
             stream->id()));
    stream->set_recorder(nullptr);
    stream->close(how, patience);
    stream->give_place();
  }
  ReportQueues::instance().forget(*default_stream_);
  HandleTable::instance().remove<Stream>(default_stream_handle_);
}

Status Context::set_option(int option, int64_t value) {
  if (option < 0 || option >= kOptions) {
    return fail(Code::invalid_argument, "parameter option {} is unknown; expected 0 to {}", option,
                kOptions - 1);
  }
  std::lock_guard lock(mutex_);
  options_[option] = value;
  option_set_[option] = true;
  return {};
}

Result<int64_t> Context::option(int option) const {
  if (option < 0 || option >= kOptions) {
    return fail(Code::invalid_argument, "parameter option {} is unknown; expected 0 to {}", option,
                kOptions - 1);
  }
  std::lock_guard lock(mutex_);
  if (!option_set_[option]) {
    return fail(Code::option_not_set, "parameter option {} was never set in this context", option);
  }
  return options_[option];
}

}  // namespace anynpu::device
