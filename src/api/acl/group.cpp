// SPDX-License-Identifier: Apache-2.0
// Scheduling groups (acl.rt.get_group_count and its kin). A device is one group with all its cores.
#include <cstring>
#include <mutex>
#include <optional>

#include "acl/rt/context.h"
#include "api/acl/entry.h"
#include "base/thread_pool.h"
#include "device/runtime.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::enter_value;
using acl::insert_object;
using acl::remove_object;
using acl::to_handle;
using device::Runtime;

namespace {

constexpr int32_t kOnlyGroup = 0;

struct GroupInfo {
  std::mutex mutex;
  std::optional<uint32_t> cores;  // set by get_all_group_info
};

}  // namespace

namespace anynpu {
ANYNPU_HANDLE_TYPE(GroupInfo, group_info);
}

namespace {

Status check_group(int32_t group) {
  if (group == kOnlyGroup) return {};
  return fail(Code::invalid_argument, "group {} does not exist; a device is one group, number {}",
              group, kOnlyGroup);
}

Result<uint32_t> attribute_of(uint32_t cores, aclrtGroupAttr attr) {
  switch (attr) {
    case ACL_GROUP_AICORE_INT:
    case ACL_GROUP_AIV_INT:
    case ACL_GROUP_AIC_INT:
    case ACL_GROUP_SDMANUM_INT:  // copies run on the same cores
      return cores;
    case ACL_GROUP_ASQNUM_INT:
      return static_cast<uint32_t>(device::Device::max_streams());
    case ACL_GROUP_GROUPID_INT:
      return static_cast<uint32_t>(kOnlyGroup);
  }
  return fail(Code::invalid_argument, "attr is {}; expected 0 to 5 (aclrtGroupAttr)",
              static_cast<int>(attr));
}

}  // namespace

aclError aclrtSetGroup(int32_t groupId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(Runtime::instance().current().status());
    return check_group(groupId);
  });
}

aclError aclrtGetGroupCount(uint32_t* count) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(count, "count"));
    ANYNPU_TRY(Runtime::instance().current().status());
    *count = 1;
    return {};
  });
}

aclrtGroupInfo* aclrtCreateGroupInfo(void) {
  return enter_value(__func__, static_cast<aclrtGroupInfo*>(nullptr),
                     [] { return insert_object<aclrtGroupInfo*>(std::make_shared<GroupInfo>()); });
}

aclError aclrtDestroyGroupInfo(aclrtGroupInfo* groupInfo) {
  return enter(__func__, [&] { return remove_object<GroupInfo>(groupInfo); });
}

aclError aclrtGetAllGroupInfo(aclrtGroupInfo* groupInfo) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto info, resolve<GroupInfo>(to_handle(groupInfo)));
    ANYNPU_TRY(Runtime::instance().current().status());
    std::lock_guard lock(info->mutex);
    info->cores = static_cast<uint32_t>(ThreadPool::instance().threads());
    return {};
  });
}

aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo* groupInfo, int32_t groupIndex,
                                 aclrtGroupAttr attr, void* attrValue, size_t valueLen,
                                 size_t* paramRetSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto info, resolve<GroupInfo>(to_handle(groupInfo)));
    ANYNPU_TRY(check_pointer(attrValue, "attrValue"));
    ANYNPU_TRY(check_pointer(paramRetSize, "paramRetSize"));
    ANYNPU_TRY(check_group(groupIndex));
    std::lock_guard lock(info->mutex);
    if (!info->cores)
      return fail(Code::bad_call_order,
                  "the group information is empty; call get_all_group_info first");
    ANYNPU_ASSIGN(const uint32_t value, attribute_of(*info->cores, attr));
    *paramRetSize = sizeof value;
    if (valueLen < sizeof value)
      return fail(Code::invalid_argument, "valueLen is {}; expected at least 4", valueLen);
    std::memcpy(attrValue, &value, sizeof value);
    return {};
  });
}
