// SPDX-License-Identifier: Apache-2.0
// Allocators that a program lends to a stream (acl.rt.allocator_create_desc and its kin).
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
    ANYNPU_ASSIGN(auto desc, resolve<AllocatorDesc>(to_handle(allocatorDesc)));
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::register_allocator(found, desc->functions());
  });
}

aclError aclrtAllocatorUnregister(aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::unregister_allocator(*found);
  });
}
