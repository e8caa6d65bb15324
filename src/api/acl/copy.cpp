// SPDX-License-Identifier: Apache-2.0
// Copies and fills (acl.rt.memcpy, memset and similar).
#include "acl/rt/memory.h"
#include "acl/rt/memory_copy.h"
#include "anynpu.h"
#include "api/acl/entry.h"
#include "device/fill_words.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "service/memory/async_copy.h"

using namespace anynpu;
using acl::enter;
using acl::to_handle;
using device::Runtime;

namespace {

// Copies need a device in use, as on a host with cards.
Status check_context() { return Runtime::instance().current().status(); }

}  // namespace

extern "C" void anynpu_acl_follow_guide(void) {
  service::set_copy_rules(service::CopyRules::guide);
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto checked, device::check_copy_kind(kind));
    ANYNPU_TRY(check_context());
    return device::copy({dst, destMax, src, count, checked});
  });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto checked, device::check_copy_kind(kind));
    return service::copy_async({dst, destMax, src, count, checked}, to_handle(stream));
  });
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto checked, device::check_copy_kind(kind));
    ANYNPU_TRY(check_context());
    return service::copy_2d({dst, dpitch, src, spitch, width, height, checked});
  });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto checked, device::check_copy_kind(kind));
    const device::Copy2d request{dst, dpitch, src, spitch, width, height, checked};
    return service::copy_2d_async(request, to_handle(stream));
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_context());
    return device::fill(devPtr, maxCount, value, count);
  });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::fill_async(devPtr, maxCount, value, count, *found);
  });
}

aclError aclrtMemsetD32(void* ptr, size_t memSize, uint32_t value, size_t N) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_context());
    return device::fill_words(ptr, memSize, value, N);
  });
}

aclError aclrtMemsetD32Async(void* ptr, size_t memSize, uint32_t value, size_t N,
                             aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::fill_words_async(ptr, memSize, value, N, *found);
  });
}
