// SPDX-License-Identifier: Apache-2.0
// Memory that programs announce to communicators.
#include "api/acl_hccl/entry.h"
#include "hccl/hccl.h"
#include "service/collective/windows.h"

using namespace anynpu;
using namespace anynpu::hccl;

extern "C" {

HcclResult HcclCommSetMemoryRange(HcclComm comm, void* baseVirPtr, size_t size, size_t, uint64_t) {
  return enter(__func__,
               [&] { return service::set_memory_range(to_handle(comm), baseVirPtr, size); });
}

HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* baseVirPtr) {
  return enter(__func__, [&] { return service::unset_memory_range(to_handle(comm), baseVirPtr); });
}

HcclResult HcclCommActivateCommMemory(HcclComm comm, void* virPtr, size_t size, size_t,
                                      aclrtDrvMemHandle, uint64_t) {
  return enter(__func__, [&] { return service::activate_memory(to_handle(comm), virPtr, size); });
}

HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* virPtr) {
  return enter(__func__, [&] { return service::deactivate_memory(to_handle(comm), virPtr); });
}

HcclResult HcclCommRegister(HcclComm comm, void* addr, uint64_t size, void** handle, uint32_t) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(handle, "handle"));
    ANYNPU_ASSIGN(*handle, service::register_window(to_handle(comm), addr, size));
    return {};
  });
}

HcclResult HcclCommDeregister(HcclComm comm, void* handle) {
  return enter(__func__, [&] { return service::deregister_window(to_handle(comm), handle); });
}

HcclResult HcclCommExchangeMem(HcclComm comm, void* windowHandle, uint32_t* peerRanks,
                               uint32_t peerRankNum) {
  return enter(__func__, [&] {
    return service::exchange_window(to_handle(comm), windowHandle, peerRanks, peerRankNum);
  });
}

HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t* ranks, bool* useBackup,
                                    uint32_t nRanks) {
  return enter(__func__, [&] {
    return service::set_working_cards(to_handle(comm), ranks, useBackup, nRanks);
  });
}

}  // extern "C"
