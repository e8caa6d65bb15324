// SPDX-License-Identifier: Apache-2.0
// Configuration objects for streams (aclrtCreateStreamConfigHandle and similar).
#include <cstddef>
#include <cstring>
#include <iterator>

#include "acl/rt/stream.h"
#include "api/acl/create_stream.h"
#include "api/acl/entry.h"
#include "base/memory_probe.h"

namespace anynpu {
ANYNPU_HANDLE_TYPE(aclrtStreamConfigHandle, stream_config);
}

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::enter_value;
using acl::insert_object;
using acl::remove_object;
using acl::to_handle;

namespace {

// The offset of an option in the object, and the length of its value.
struct StreamOption {
  const char* name;
  size_t offset;
  size_t bytes;
};
constexpr StreamOption kStreamOptions[] = {
    {"ACL_RT_STREAM_WORK_ADDR_PTR", offsetof(aclrtStreamConfigHandle, workptr), sizeof(void*)},
    {"ACL_RT_STREAM_WORK_SIZE", offsetof(aclrtStreamConfigHandle, workSize), sizeof(size_t)},
    {"ACL_RT_STREAM_FLAG", offsetof(aclrtStreamConfigHandle, flag), sizeof(size_t)},
    {"ACL_RT_STREAM_PRIORITY", offsetof(aclrtStreamConfigHandle, priority), sizeof(uint32_t)},
};

Status set_option(aclrtStreamConfigHandle& config, aclrtStreamConfigAttr attr, const void* value,
                  size_t bytes) {
  if (static_cast<size_t>(attr) >= std::size(kStreamOptions)) {
    return fail(Code::invalid_argument, "stream option {} is unknown; expected 0 to {}", attr,
                std::size(kStreamOptions) - 1);
  }
  const StreamOption& option = kStreamOptions[attr];
  if (bytes != option.bytes) {
    return fail(Code::invalid_argument, "the value of {} has {} bytes; expected {}", option.name,
                bytes, option.bytes);
  }
  ANYNPU_TRY(check_pointer(value, "attrValue"));
  if (!probe_readable(value, bytes)) {
    return fail(Code::invalid_address,
                "attrValue = {} cannot be read; pass the address of the value", value);
  }
  std::memcpy(reinterpret_cast<char*>(&config) + option.offset, value, bytes);
  return {};
}

}  // namespace

aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle(void) {
  return enter_value(__func__, static_cast<aclrtStreamConfigHandle*>(nullptr), [] {
    return insert_object<aclrtStreamConfigHandle*>(std::make_shared<aclrtStreamConfigHandle>());
  });
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle* handle) {
  return enter(__func__, [&] { return remove_object<aclrtStreamConfigHandle>(handle); });
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle* handle, aclrtStreamConfigAttr attr,
                                 const void* attrValue, size_t valueSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto config, resolve<aclrtStreamConfigHandle>(to_handle(handle)));
    return set_option(*config, attr, attrValue, valueSize);
  });
}

aclError aclrtCreateStreamV2(aclrtStream* stream, const aclrtStreamConfigHandle* handle) {
  return enter(__func__, [&]() -> Status {
    if (!handle) return acl::create_stream(stream, 0, 0);
    ANYNPU_ASSIGN(auto config, resolve<aclrtStreamConfigHandle>(to_handle(handle)));
    return acl::create_stream(stream, config->priority, config->flag);
  });
}
