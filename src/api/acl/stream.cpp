// SPDX-License-Identifier: Apache-2.0
// Streams (acl.rt.create_stream and similar).
#include "acl/rt/stream.h"

#include "acl/rt/device_query.h"
#include "api/acl/create_stream.h"
#include "api/acl/entry.h"
#include "base/thread_pool.h"
#include "device/runtime.h"
#include "service/instance/build.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::to_handle;
using device::Runtime;
using device::Stream;

namespace {

constexpr uint32_t kStreamFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC |
                                  ACL_STREAM_PERSISTENT | ACL_STREAM_HUGE |
                                  ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;
constexpr uint32_t kNotWaitedFor =
    ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;

Status synchronize_stream(aclrtStream handle, const Deadline& deadline) {
  ANYNPU_ASSIGN(auto stream, Runtime::instance().stream(to_handle(handle)));
  // There is no waiting for streams whose tasks are recorded, or that only the device uses.
  if (stream->options().flags & kNotWaitedFor) return {};
  return stream->synchronize(deadline);
}

Result<std::shared_ptr<Stream>> stream_to_abort(aclrtStream handle) {
  ANYNPU_ASSIGN(auto stream, Runtime::instance().stream(to_handle(handle)));
  if (!service::is_bound(*stream)) return stream;
  return fail(Code::invalid_argument,
              "stream {} is bound to a model instance; use aclmdlRIAbort for the run of it",
              stream->id());
}

Result<std::shared_ptr<Stream>> stream_to_stop(aclrtStream handle) {
  if (handle) return stream_to_abort(handle);
  return fail(Code::invalid_handle, "the stream is null; the default stream cannot be stopped");
}

}  // namespace

Status anynpu::acl::create_stream(aclrtStream* stream, uint32_t priority, uint64_t flags) {
  ANYNPU_TRY(check_pointer(stream, "stream"));
  if (priority >= ThreadPool::kPriorities) {
    return fail(Code::invalid_argument, "the priority is {}; expected 0 (highest) to {}", priority,
                ThreadPool::kPriorities - 1);
  }
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  ANYNPU_ASSIGN(const Handle handle,
                context->create_stream({priority, static_cast<uint32_t>(flags & kStreamFlags)}));
  *stream = from_handle<aclrtStream>(handle);
  return {};
}

aclError aclrtCreateStream(aclrtStream* stream) {
  return enter(__func__, [&] { return acl::create_stream(stream, 0, 0); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return enter(__func__, [&] { return acl::create_stream(stream, priority, flag); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return enter(__func__, [&] {
    return Runtime::instance().destroy_stream(to_handle(stream), Stream::Close::drain);
  });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return enter(__func__, [&] {
    return Runtime::instance().destroy_stream(to_handle(stream), Stream::Close::force);
  });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return enter(__func__, [&] { return synchronize_stream(stream, Deadline::never()); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return enter(__func__, [&]() -> Status {
    if (timeout < -1) {
      return fail(Code::invalid_argument, "the timeout is {} ms; expected -1 (for ever) or more",
                  timeout);
    }
    return synchronize_stream(stream, Deadline::after_ms(timeout));
  });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(status, "status"));
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    ANYNPU_ASSIGN(const bool idle, found->query());
    *status = idle ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtStreamAbort(aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, stream_to_abort(stream));
    found->abort();
    return {};
  });
}

aclError aclrtStreamStop(aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, stream_to_stop(stream));
    found->stop();
    return {};
  });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(streamId, "streamId"));
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    *streamId = static_cast<int32_t>(found->id());
    return {};
  });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(priority, "priority"));
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    *priority = found->priority();
    return {};
  });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(flags, "flags"));
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    *flags = found->options().flags;
    return {};
  });
}

aclError aclrtGetStreamAvailableNum(uint32_t* streamCount) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(streamCount, "streamCount"));
    ANYNPU_ASSIGN(auto context, Runtime::instance().current());
    *streamCount =
        static_cast<uint32_t>(device::Device::max_streams() - context->device()->streams());
    return {};
  });
}

aclError aclrtGetThreadLastTaskId(uint32_t* taskId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(taskId, "taskId"));
    ANYNPU_TRY(Runtime::instance().current().status());
    *taskId = Stream::last_task_of_thread();
    return {};
  });
}
