// SPDX-License-Identifier: Apache-2.0
#include "service/group/core_group.h"

#include "base/thread_pool.h"
#include "device/runtime.h"

namespace anynpu::service {

namespace {

constexpr int32_t kOnlyGroup = 0;

Status check_context() { return device::Runtime::instance().current().status(); }

Status check_group(int32_t group) {
  if (group == kOnlyGroup) return {};
  return fail(Code::invalid_argument, "group {} does not exist; a device is one group, number {}",
              group, kOnlyGroup);
}

Result<uint32_t> attribute_of(uint32_t cores, GroupAttribute attribute) {
  switch (attribute) {
    case GroupAttribute::cores:
    case GroupAttribute::vector_cores:
    case GroupAttribute::cube_cores:
    case GroupAttribute::copy_engines:  // copies run on the same cores
      return cores;
    case GroupAttribute::stream_queues:
      return static_cast<uint32_t>(device::Device::max_streams());
    case GroupAttribute::group_id:
      return static_cast<uint32_t>(kOnlyGroup);
  }
  return fail(Code::invalid_argument, "attr is {}; expected 0 to 5 (aclrtGroupAttr)",
              static_cast<int>(attribute));
}

}  // namespace

Status use_group(int32_t group) {
  ANYNPU_TRY(check_context());
  return check_group(group);
}

Result<uint32_t> count_groups() {
  ANYNPU_TRY(check_context());
  return uint32_t{1};
}

Status fill_group_info(Handle handle) {
  ANYNPU_ASSIGN(auto info, resolve<GroupInfo>(handle));
  ANYNPU_TRY(check_context());
  const std::lock_guard lock(info->mutex);
  info->cores = static_cast<uint32_t>(ThreadPool::instance().threads());
  return {};
}

Result<uint32_t> group_attribute(Handle handle, int32_t group, GroupAttribute attribute) {
  ANYNPU_ASSIGN(auto info, resolve<GroupInfo>(handle));
  ANYNPU_TRY(check_group(group));
  const std::lock_guard lock(info->mutex);
  if (info->cores) return attribute_of(*info->cores, attribute);
  return fail(Code::bad_call_order,
              "the group information is empty; call get_all_group_info first");
}

}  // namespace anynpu::service
