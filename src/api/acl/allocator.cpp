// SPDX-License-Identifier: Apache-2.0
// Allocators that a program lends to a stream (acl.rt.allocator_create_desc and similar).
#include "acl/rt/allocator.h"

#include "api/acl/entry.h"
#include "device/runtime.h"
#include "device/stream_allocator.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::enter_value;
using acl::insert_object;
using acl::remove_object;
using acl::to_handle;
using device::AllocatorDesc;
using device::Runtime;
using device::StreamAllocator;

namespace {

template <typename Field>
Status set_field(aclrtAllocatorDesc desc, Field StreamAllocator::*field, Field value,
                 const char* name) {
  ANYNPU_ASSIGN(auto found, resolve<AllocatorDesc>(to_handle(desc)));
  ANYNPU_TRY(check_pointer(reinterpret_cast<const void*>(value), name));
  found->set(field, value);
  return {};
}

Status check_stream(aclrtStream stream) {
  if (stream) return {};
  return fail(
      Code::invalid_stream,
      "stream is null, the default stream; an allocator is lent to a stream that was created");
}

Result<StreamAllocator> allocator_of_stream(aclrtStream stream) {
  ANYNPU_TRY(check_stream(stream));
  ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
  if (auto functions = device::allocator_of(*found)) return *functions;
  return fail(Code::not_found, "stream {} has no allocator; call allocator_register first",
              found->id());
}

struct AllocatorFields {
  aclrtAllocatorDesc* desc;
  aclrtAllocator* object;
  aclrtAllocatorAllocFunc* allocate;
  aclrtAllocatorFreeFunc* release;
  aclrtAllocatorAllocAdviseFunc* allocate_near;
  aclrtAllocatorGetAddrFromBlockFunc* address_of;
};

Status write_allocator(const StreamAllocator& from, const AllocatorFields& to) {
  ANYNPU_TRY(check_pointer(to.desc, "allocatorDesc"));
  ANYNPU_TRY(check_pointer(to.object, "allocator"));
  ANYNPU_TRY(check_pointer(to.allocate, "allocFunc"));
  ANYNPU_TRY(check_pointer(to.release, "freeFunc"));
  ANYNPU_TRY(check_pointer(to.allocate_near, "allocAdviseFunc"));
  ANYNPU_TRY(check_pointer(to.address_of, "getAddrFromBlockFunc"));
  *to.desc = acl::from_handle<aclrtAllocatorDesc>(from.desc);
  *to.object = from.object;
  *to.allocate = from.allocate;
  *to.release = from.release;
  *to.allocate_near = from.allocate_near;
  *to.address_of = from.address_of;
  return {};
}

}  // namespace

aclrtAllocatorDesc aclrtAllocatorCreateDesc(void) {
  return enter_value(__func__, aclrtAllocatorDesc{}, [] {
    return insert_object<aclrtAllocatorDesc>(std::make_shared<AllocatorDesc>());
  });
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc) {
  return enter(__func__, [&] { return remove_object<AllocatorDesc>(allocatorDesc); });
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator) {
  return enter(__func__, [&] {
    return set_field(allocatorDesc, &StreamAllocator::object, allocator, "allocator");
  });
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                          aclrtAllocatorAllocFunc func) {
  return enter(__func__,
               [&] { return set_field(allocatorDesc, &StreamAllocator::allocate, func, "func"); });
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                         aclrtAllocatorFreeFunc func) {
  return enter(__func__,
               [&] { return set_field(allocatorDesc, &StreamAllocator::release, func, "func"); });
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                aclrtAllocatorAllocAdviseFunc func) {
  return enter(__func__, [&] {
    return set_field(allocatorDesc, &StreamAllocator::allocate_near, func, "func");
  });
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorGetAddrFromBlockFunc func) {
  return enter(__func__, [&] {
    return set_field(allocatorDesc, &StreamAllocator::address_of, func, "func");
  });
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_stream(stream));
    ANYNPU_ASSIGN(auto desc, resolve<AllocatorDesc>(to_handle(allocatorDesc)));
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    desc->set(&StreamAllocator::desc, to_handle(allocatorDesc));
    return device::register_allocator(found, desc->functions());
  });
}

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc* allocatorDesc,
                                   aclrtAllocator* allocator, aclrtAllocatorAllocFunc* allocFunc,
                                   aclrtAllocatorFreeFunc* freeFunc,
                                   aclrtAllocatorAllocAdviseFunc* allocAdviseFunc,
                                   aclrtAllocatorGetAddrFromBlockFunc* getAddrFromBlockFunc) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const StreamAllocator found, allocator_of_stream(stream));
    return write_allocator(found, {allocatorDesc, allocator, allocFunc, freeFunc, allocAdviseFunc,
                                   getAddrFromBlockFunc});
  });
}

aclError aclrtAllocatorUnregister(aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::unregister_allocator(*found);
  });
}
