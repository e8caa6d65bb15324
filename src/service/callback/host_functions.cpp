// SPDX-License-Identifier: Apache-2.0
#include "service/callback/host_functions.h"

#include "device/report.h"
#include "device/runtime.h"
#include "service/check_pointer.h"

namespace anynpu::service {

using device::ReportQueues;
using device::Runtime;

namespace {

// Left to helpers: the program's function never runs in a thread of the program.
constinit device::TaskKind kHostFunction{"host function", device::Engine::control, true};

Result<std::shared_ptr<device::Stream>> explicit_stream(Handle stream) {
  if (stream) return Runtime::instance().stream(stream);
  return fail(Code::invalid_handle,
              "the stream is null; the default stream has no host functions of a thread");
}

}  // namespace

Status launch_host_function(Handle stream, HostFunction function, void* data) {
  ANYNPU_TRY(check_pointer(reinterpret_cast<const void*>(function), "fn"));
  ANYNPU_ASSIGN(auto found, Runtime::instance().stream(stream));
  if (ReportQueues::host_functions().serves(*found)) {
    return ReportQueues::host_functions().launch([function, data] { function(data); },
                                                 ReportQueues::Block::yes, *found);
  }
  return found->submit(kHostFunction, [function, data] {
    function(data);
    return Status();
  });
}

Status subscribe_host_functions(uint64_t thread, Handle stream) {
  ANYNPU_ASSIGN(auto found, explicit_stream(stream));
  return ReportQueues::host_functions().subscribe(thread, found);
}

Status unsubscribe_host_functions(uint64_t thread, Handle stream) {
  ANYNPU_ASSIGN(auto found, explicit_stream(stream));
  return ReportQueues::host_functions().unsubscribe(thread, *found);
}

Status process_host_functions(int32_t timeout_ms) {
  if (timeout_ms == 0 || timeout_ms < -1) {
    return fail(Code::invalid_argument,
                "the timeout is {} ms; expected -1 (for ever) or more than 0", timeout_ms);
  }
  return ReportQueues::host_functions().process(Deadline::after_ms(timeout_ms));
}

}  // namespace anynpu::service
