// SPDX-License-Identifier: Apache-2.0
// Access to mapped memory and what is known of mappings; links between devices
// (acl/rt/memory_map.h).
#include <vector>

#include "acl/rt/memory_map.h"
#include "api/acl/entry.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "device/virtual_memory.h"
#include "service/device/device_settings.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::from_handle;
using acl::to_handle;
using device::AccessPlace;
using device::PhysicalMemory;
using device::Runtime;

namespace {

constexpr size_t kGiga = size_t{1} << 30;
constexpr size_t kMostPlaces = 1024;

Result<AccessPlace> access_place(const aclrtMemLocation& location) {
  const auto id = static_cast<int32_t>(location.id);
  if (location.type == ACL_MEM_LOCATION_TYPE_DEVICE) {
    ANYNPU_TRY(Runtime::instance().device(id).status());
    return AccessPlace{true, id};
  }
  if (location.type == ACL_MEM_LOCATION_TYPE_HOST && id == 0) return AccessPlace{};
  return fail(Code::invalid_argument,
              "the location has type {} and id {}; expected 0 (host, id 0) or 1 (device)",
              location.type, location.id);
}

Result<std::vector<AccessPlace>> access_places(const aclrtMemAccessDesc* descs, size_t count) {
  ANYNPU_TRY(check_pointer(descs, "desc"));
  if (count == 0 || count > kMostPlaces) {
    return fail(Code::invalid_argument, "count is {}; expected 1 to {}", count, kMostPlaces);
  }
  std::vector<AccessPlace> places;
  for (size_t i = 0; i < count; ++i) {
    if (descs[i].flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE) {
      return fail(Code::invalid_argument, "desc[{}].flags is {}; expected 3 (read and write)", i,
                  static_cast<int>(descs[i].flags));
    }
    ANYNPU_ASSIGN(places.emplace_back(), access_place(descs[i].location));
  }
  return places;
}

// A mapping is that of the whole handle.
Status check_mapping(const PhysicalMemory& memory, size_t size, size_t offset, uint64_t flags) {
  if (flags == 0 && offset == 0 && size == memory.bytes()) return {};
  return fail(Code::invalid_argument,
              "size is {}, offset {}, flags {}; expected the {} bytes of the handle, 0 and 0", size,
              offset, flags, memory.bytes());
}

Status check_reservation(size_t size, size_t alignment, const void* place, uint64_t flags) {
  if (!place) {
    return fail(Code::unsupported_feature, "expectPtr is null; name a free place, such as {:#x}",
                uint64_t{40} << 40);
  }
  if (size > 0 && size % kGiga == 0 && alignment == 0 && flags == 0) return {};
  return fail(Code::invalid_argument,
              "size is {}, alignment {}, flags {}; expected a multiple of {}, 0 and 0", size,
              alignment, flags, kGiga);
}

void describe_properties(const device::PhysicalProperties& from, aclrtPhysicalMemProp& out) {
  out.handleType = static_cast<aclrtMemHandleType>(from.handle_type);
  out.allocationType = static_cast<aclrtMemAllocationType>(from.allocation_type);
  out.memAttr = static_cast<aclrtMemAttr>(from.attribute);
  out.location.type = static_cast<aclrtMemLocationType>(from.location_type);
  out.location.id = from.location_id;
  out.reserve = from.reserve;
}

Status check_link(uint32_t link) {
  if (link <= ACL_RT_MEM_ACCESS_LINK_HCCS) return {};
  return fail(Code::link_unsupported, "the link is {}; expected 0 (SIO) or 1 (HCCS)", link);
}

// Devices reach each other's memory as it is; what a program must have done is checked.
Status check_peer(void* address, size_t bytes, int32_t peer) {
  ANYNPU_ASSIGN(const auto range,
                device::check_range(address, bytes, device::Access::write, "devPtr"));
  if (!range.on_device()) {
    return fail(Code::invalid_address, "{} is memory of the host; pass memory of a device",
                address);
  }
  ANYNPU_ASSIGN(const bool enabled, service::peer_access(range.owner->device_id, peer));
  if (enabled) return {};
  return fail(Code::bad_call_order,
              "device {} has no peer access to device {}; call aclrtDeviceEnablePeerAccess first",
              range.owner->device_id, peer);
}

}  // namespace

extern "C" {

aclError aclrtMemMapNoAccess(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                             uint64_t flags) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(virPtr, "virPtr"));
    ANYNPU_TRY(check_pointer(handle, "handle"));
    ANYNPU_ASSIGN(auto memory, resolve<PhysicalMemory>(to_handle(handle)));
    ANYNPU_TRY(check_mapping(*memory, size, offset, flags));
    return device::map_memory(virPtr, size, 0, memory.share(), device::MapAccess::none);
  });
}

aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc, size_t count) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto places, access_places(desc, count));
    return device::give_access(virPtr, size, places);
  });
}

aclError aclrtMemGetAccess(void* virPtr, aclrtMemLocation* location, uint64_t* flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(location, "location"));
    ANYNPU_TRY(check_pointer(flag, "flag"));
    ANYNPU_ASSIGN(const AccessPlace place, access_place(*location));
    ANYNPU_ASSIGN(const bool access, device::has_access(virPtr, place));
    *flag = access ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
    return {};
  });
}

aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(handle, "handle"));
    ANYNPU_ASSIGN(const auto memory, device::memory_mapped_at(virPtr));
    ANYNPU_ASSIGN(const Handle given, memory->retain());
    *handle = from_handle<aclrtDrvMemHandle>(given);
    return {};
  });
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
                                                   aclrtPhysicalMemProp* prop) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(prop, "prop"));
    ANYNPU_ASSIGN(const auto memory, resolve<PhysicalMemory>(to_handle(handle)));
    describe_properties(memory->properties, *prop);
    return {};
  });
}

aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment,
                                          void* expectPtr, uint64_t flags) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(virPtr, "virPtr"));
    ANYNPU_TRY(check_reservation(size, alignment, expectPtr, flags));
    ANYNPU_ASSIGN(*virPtr, device::reserve_addresses(size, 0, expectPtr, device::Wanted::place));
    return {};
  });
}

aclError aclrtMemMapSelectedLink(void* virPtrDst, size_t size, void* virPtrSrc, uint32_t linkIdx) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_link(linkIdx));
    return device::map_again(virPtrDst, size, virPtrSrc);
  });
}

aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(handle, "handle"));
    ANYNPU_TRY(resolve<PhysicalMemory>(to_handle(handle)).status());
    ANYNPU_TRY(check_link(static_cast<uint32_t>(adviceLink)));
    return fail(Code::unsupported_feature, "devices here have no links to choose from");
  });
}

aclError aclrtMemP2PMap(void* devPtr, size_t size, int32_t dstDevId, uint64_t flags) {
  return enter(__func__, [&]() -> Status {
    if (flags != 0) return fail(Code::invalid_argument, "flags is {}; expected 0", flags);
    return check_peer(devPtr, size, dstDevId);
  });
}

}  // extern "C"
