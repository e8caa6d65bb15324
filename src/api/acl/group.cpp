// SPDX-License-Identifier: Apache-2.0
// Scheduling groups (acl.rt.get_group_count and similar). A device is one group with all its cores.
#include <cstring>

#include "acl/rt/context.h"
#include "api/acl/object_calls.h"
#include "service/group/core_group.h"

using namespace anynpu;
using namespace anynpu::acl;
using service::GroupAttribute;
using service::GroupInfo;

static_assert(ACL_GROUP_AICORE_INT == static_cast<int>(GroupAttribute::cores) &&
              ACL_GROUP_GROUPID_INT == static_cast<int>(GroupAttribute::group_id));

namespace {

Status store_attribute(uint32_t value, void* out, size_t room, size_t* size) {
  *size = sizeof value;
  if (room < sizeof value)
    return fail(Code::invalid_argument, "valueLen is {}; expected at least 4", room);
  std::memcpy(out, &value, sizeof value);
  return {};
}

Status check_outputs(const aclrtGroupInfo* info, const void* value, const size_t* size) {
  ANYNPU_TRY(resolve<GroupInfo>(to_handle(info)).status());
  ANYNPU_TRY(check_pointer(value, "attrValue"));
  return check_pointer(size, "paramRetSize");
}

}  // namespace

aclError aclrtSetGroup(int32_t groupId) {
  return enter(__func__, [&] { return service::use_group(groupId); });
}

aclError aclrtGetGroupCount(uint32_t* count) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(count, "count"));
    ANYNPU_ASSIGN(*count, service::count_groups());
    return {};
  });
}

aclrtGroupInfo* aclrtCreateGroupInfo(void) { return create<aclrtGroupInfo*, GroupInfo>(__func__); }

aclError aclrtDestroyGroupInfo(aclrtGroupInfo* groupInfo) {
  return enter(__func__, [&] { return remove_object<GroupInfo>(groupInfo); });
}

aclError aclrtGetAllGroupInfo(aclrtGroupInfo* groupInfo) {
  return enter(__func__, [&] { return service::fill_group_info(to_handle(groupInfo)); });
}

aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo* groupInfo, int32_t groupIndex,
                                 aclrtGroupAttr attr, void* attrValue, size_t valueLen,
                                 size_t* paramRetSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_outputs(groupInfo, attrValue, paramRetSize));
    const auto attribute = static_cast<GroupAttribute>(attr);
    ANYNPU_ASSIGN(const uint32_t value,
                  service::group_attribute(to_handle(groupInfo), groupIndex, attribute));
    return store_attribute(value, attrValue, valueLen, paramRetSize);
  });
}
