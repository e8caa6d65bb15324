// SPDX-License-Identifier: Apache-2.0
// Pools of device memory in the order of streams (acl_rt_memory_soma.h).
#include "service/memory/memory_pool.h"

#include <algorithm>
#include <cstring>

#include "acl/acl_rt_memory_soma.h"
#include "api/acl/entry.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::to_handle;
using service::MemoryPool;
using service::PoolAttribute;

namespace {

Status check_pool_properties(const aclrtMemPoolProps* props) {
  ANYNPU_TRY(check_pointer(props, "poolProps"));
  if (props->allocType != ACL_MEM_ALLOCATION_TYPE_PINNED) {
    return fail(Code::invalid_argument, "allocType is {}; expected 0 (pinned)", props->allocType);
  }
  if (props->handleType != ACL_MEM_HANDLE_TYPE_NONE) {
    return fail(Code::invalid_argument, "handleType is {}; expected 0 (none)", props->handleType);
  }
  if (props->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
    return fail(Code::invalid_argument, "location.type is {}; expected 1 (device)",
                props->location.type);
  }
  const auto* end = props->reserved + sizeof props->reserved;
  if (std::all_of(props->reserved, end, [](unsigned char byte) { return byte == 0; })) return {};
  return fail(Code::invalid_argument, "reserved is not all 0; clear the structure first");
}

}  // namespace

extern "C" {

aclError aclrtMemPoolCreate(aclrtMemPool* memPool, const aclrtMemPoolProps* poolProps) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(memPool, "memPool"));
    ANYNPU_TRY(check_pool_properties(poolProps));
    const auto device = static_cast<int32_t>(poolProps->location.id);
    ANYNPU_ASSIGN(const Handle made, service::create_pool(device, poolProps->maxSize));
    *memPool = acl::from_handle<aclrtMemPool>(made);
    return {};
  });
}

aclError aclrtMemPoolDestroy(const aclrtMemPool memPool) {
  return enter(__func__, [&] { return service::destroy_pool(to_handle(memPool)); });
}

aclError aclrtMemPoolMallocAsync(void** ptr, size_t size, aclrtMemPool memPool,
                                 aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(ptr, "ptr"));
    *ptr = nullptr;
    ANYNPU_ASSIGN(*ptr, service::take_from_pool(to_handle(memPool), size, to_handle(stream)));
    return {};
  });
}

aclError aclrtMemPoolFreeAsync(void* ptr, aclrtStream stream) {
  return enter(__func__, [&] { return service::give_back_to_pool(ptr, to_handle(stream)); });
}

aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pool, resolve<MemoryPool>(to_handle(memPool)));
    pool->trim(minBytesToKeep);
    return {};
  });
}

aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(auto pool, resolve<MemoryPool>(to_handle(memPool)));
    ANYNPU_ASSIGN(const size_t bytes, MemoryPool::attribute_bytes(attr));
    uint64_t given = 0;
    std::memcpy(&given, value, bytes);
    return pool->set_attribute(static_cast<PoolAttribute>(attr), given);
  });
}

aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(auto pool, resolve<MemoryPool>(to_handle(memPool)));
    ANYNPU_ASSIGN(const size_t bytes, MemoryPool::attribute_bytes(attr));
    const uint64_t read = pool->attribute(static_cast<PoolAttribute>(attr));
    std::memcpy(value, &read, bytes);
    return {};
  });
}

}  // extern "C"
