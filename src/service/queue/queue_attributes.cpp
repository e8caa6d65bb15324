// SPDX-License-Identifier: Apache-2.0
#include "service/queue/queue_attributes.h"

#include <cstring>
#include <memory>
#include <mutex>

#include "device/memory.h"
#include "service/queue/numbered_objects.h"

namespace anynpu::service {

namespace {

using device::QueueOptions;

constexpr size_t kLongestName = 127;

struct Attributes {
  std::mutex mutex;
  // By reference, so that a name that was given out stays where it is.
  NumberedObjects<std::unique_ptr<QueueOptions>> held{255, "set of queue attributes"};
};

Attributes& attributes() {
  static auto* all = new Attributes;
  return *all;
}

template <typename Use>
Status with_attributes(const void* number, Use use) {
  const std::lock_guard lock(attributes().mutex);
  ANYNPU_ASSIGN(auto* found, attributes().held.find(number));
  return use(**found);
}

Status check_length(QueueAttribute type, size_t length) {
  if (type != QueueAttribute::name && type != QueueAttribute::depth) {
    return fail(Code::invalid_argument, "queue attribute {} is not known; expected 0 or 1",
                static_cast<int>(type));
  }
  const size_t expected = type == QueueAttribute::name ? sizeof(char*) : sizeof(uint32_t);
  if (length == expected) return {};
  return fail(Code::invalid_argument, "len is {}; queue attribute {} has {} bytes", length,
              static_cast<int>(type), expected);
}

template <typename T>
T read_param(const void* param) {
  T value;
  std::memcpy(&value, param, sizeof value);
  return value;
}

Status set_name(QueueOptions& options, const char* name) {
  ANYNPU_TRY(
      device::check_host_range(name, 1, device::Access::read, "the name behind param").status());
  const size_t length = strnlen(name, kLongestName + 1);
  if (length > kLongestName) {
    return fail(Code::invalid_argument, "the name has more than {} bytes; shorten it",
                kLongestName);
  }
  options.name.assign(name, length);
  return {};
}

Status set_depth(QueueOptions& options, uint32_t depth) {
  if (depth == 0) return fail(Code::invalid_argument, "the depth is 0; expected 1 or more");
  options.depth = depth;
  return {};
}

}  // namespace

void* create_queue_attributes() {
  const std::lock_guard lock(attributes().mutex);
  return attributes().held.add(std::make_unique<QueueOptions>());
}

Status destroy_queue_attributes(const void* number) {
  return with_attributes(number, [&](QueueOptions&) -> Status {
    (void)attributes().held.remove(number);
    return {};
  });
}

Status set_queue_attribute(const void* number, QueueAttribute type, size_t length,
                           const void* value) {
  return with_attributes(number, [&](QueueOptions& options) -> Status {
    ANYNPU_TRY(check_length(type, length));
    ANYNPU_TRY(device::check_host_range(value, length, device::Access::read, "param").status());
    if (type == QueueAttribute::name) return set_name(options, read_param<const char*>(value));
    return set_depth(options, read_param<uint32_t>(value));
  });
}

Status get_queue_attribute(const void* number, QueueAttribute type, size_t length, void* value) {
  return with_attributes(number, [&](QueueOptions& options) -> Status {
    ANYNPU_TRY(check_length(type, length));
    ANYNPU_TRY(device::check_host_range(value, length, device::Access::write, "param").status());
    const char* name = options.name.c_str();
    const void* from =
        type == QueueAttribute::name ? static_cast<const void*>(&name) : &options.depth;
    std::memcpy(value, from, length);
    return {};
  });
}

Result<QueueOptions> queue_options(const void* number) {
  QueueOptions options;
  ANYNPU_TRY(with_attributes(number, [&](QueueOptions& given) -> Status {
    options = given;
    return {};
  }));
  return options;
}

}  // namespace anynpu::service
