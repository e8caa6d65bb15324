// SPDX-License-Identifier: Apache-2.0
// Identities, capabilities, faults and facts of devices; snapshots; dump paths; allocators of
// streams, as C programs call them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "acl/acl.h"
#include "acl/acl_dump.h"
#include "acl/acl_platform.h"
#include "acl/acl_rt_allocator.h"
#include "acl/rt/device_query.h"
#include "acl/rt/kernel_query.h"
#include "acl/rt/snapshot.h"

namespace anynpu::acl {
namespace {

class DeviceCalls : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }
};

TEST_F(DeviceCalls, IdsOfUsersAndOfTheMachine) {
  int32_t physical = -1, user = -1;
  EXPECT_EQ(aclrtGetPhyDevIdByUserDevId(0, &physical), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetUserDevIdByPhyDevId(physical, &user), ACL_SUCCESS);
  EXPECT_EQ(user, 0);
  EXPECT_EQ(aclrtGetPhyDevIdByUserDevId(999, &physical), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetUserDevIdByPhyDevId(999, &user), ACL_ERROR_RT_INVALID_DEVICEID);
  char bus[13] = {};
  EXPECT_EQ(aclrtDeviceGetPCIBusId(0, bus, 13), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtDeviceGetByPCIBusId("0000:01:00.0", &user), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(DeviceCalls, CapabilitiesAreMasksByOperation) {
  const aclrtAtomicOperation asked[] = {ACL_RT_ATOMIC_OPERATION_DMA_ADD,
                                        ACL_RT_ATOMIC_OPERATION_CAS};
  uint32_t masks[2] = {9, 9};
  EXPECT_EQ(aclrtDeviceGetHostAtomicCapabilities(masks, asked, 2, 0), ACL_SUCCESS);
  EXPECT_TRUE(masks[0] & ACL_RT_ATOMIC_CAPABILITY_REDUCTION);
  EXPECT_EQ(masks[1], 0u);
  EXPECT_EQ(aclrtDeviceGetP2PAtomicCapabilities(masks, asked, 2, 0, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceGetHostAtomicCapabilities(masks, asked, 2, 99),
            ACL_ERROR_RT_INVALID_DEVICEID);
  int32_t fits = -1;
  EXPECT_EQ(aclrtCheckArchCompatibility(aclrtGetSocName(), &fits), ACL_SUCCESS);
  EXPECT_EQ(fits, 1);
  EXPECT_EQ(aclrtCheckArchCompatibility("NoChip", &fits), ACL_SUCCESS);
  EXPECT_EQ(fits, 0);
}

TEST_F(DeviceCalls, WithoutAFaultThereIsNoError) {
  aclrtErrorInfo info;
  std::memset(&info, 7, sizeof info);
  EXPECT_EQ(aclrtGetErrorVerbose(0, &info), ACL_SUCCESS);
  EXPECT_EQ(info.errorType, ACL_RT_NO_ERROR);
  EXPECT_EQ(info.tryRepair, 0);
  EXPECT_EQ(info.hasDetail, 0);
  EXPECT_EQ(aclrtRepairError(0, &info), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetErrorVerbose(99, &info), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(DeviceCalls, TheSaturationStatusIsReadInOrder) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(block, 64, 5, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetFloatOverflowStatus(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetFloatOverflowStatus(block, 64, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtNpuGetFloatOverFlowStatus(block, 64, 0, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtNpuClearFloatOverFlowStatus(0, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetFloatOverflowStatus(block, 8, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  uint32_t bits = 9;
  EXPECT_EQ(aclrtMemcpy(&bits, 4, block, 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(bits, 0u);
  void* address = nullptr;
  EXPECT_EQ(aclrtCtxGetFloatOverflowAddr(&address), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(DeviceCalls, VersionsAreNumbersThatRise) {
  char runtime[] = "runtime", unknown[] = "nothing";
  int32_t number = 0;
  EXPECT_EQ(aclsysGetVersionNum(runtime, &number), ACL_SUCCESS);
  EXPECT_LT(number, 80000000) << "before the release it leads to";
  EXPECT_GT(number, 79999000);
  EXPECT_EQ(aclsysGetVersionNum(unknown, &number), ACL_ERROR_INVALID_FILE);
}

TEST_F(DeviceCalls, FactsOfTheChipAreText) {
  char text[32] = {};
  EXPECT_EQ(aclplatformGetDeviceInfo(ACL_PLATFORM_SOC_VERSION, text, sizeof text), ACL_SUCCESS);
  EXPECT_STREQ(text, aclrtGetSocName());
  EXPECT_EQ(aclplatformGetDeviceInfo(ACL_PLATFORM_NPU_ARCH, text, sizeof text), ACL_SUCCESS);
  EXPECT_EQ(std::atoi(text), DAV_2002);
  EXPECT_EQ(aclplatformGetDeviceInfo(ACL_PLATFORM_MEMORY_TYPE, text, sizeof text), ACL_SUCCESS);
  EXPECT_EQ(std::atoi(text), HBM);
  EXPECT_EQ(aclplatformGetDeviceInfo(ACL_PLATFORM_AICORE_CNT, text, sizeof text), ACL_SUCCESS);
  EXPECT_GT(std::atoi(text), 0);
  EXPECT_EQ(aclplatformGetDeviceInfo(ACL_PLATFORM_SOC_VERSION, text, 3), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclplatformGetDeviceInfo(static_cast<aclplatformDevInfo>(17), text, 32),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclplatformGetInstructionInfo(ACL_PLATFORM_CORE_TYPE_AI_CORE, "Intrinsic_vadd", text,
                                          sizeof text),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

uint32_t note_stage(int32_t, void* args) {
  ++*static_cast<int*>(args);
  return 0;
}
uint32_t refuse_stage(int32_t, void*) { return 4; }

TEST_F(DeviceCalls, ASnapshotGoesThroughItsStates) {
  const int own = getpid();
  int calls = 0;
  EXPECT_EQ(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, note_stage, &calls), 0);
  EXPECT_EQ(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, note_stage, &calls),
            ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED);
  EXPECT_EQ(aclrtSnapShotProcessUnlock(own, nullptr), ACL_ERROR_SNAPSHOT_UNLOCK_FAILED);
  EXPECT_EQ(aclrtSnapShotProcessLock(1, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSnapShotProcessLock(own, &calls), ACL_ERROR_RT_PARAM_INVALID);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(block, 64, 7, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtSnapShotProcessLock(own, nullptr), ACL_SUCCESS);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(aclrtSnapShotProcessLock(own, nullptr), ACL_ERROR_SNAPSHOT_LOCK_FAILED);
  aclError code = -1;
  std::thread other([&] { code = aclrtMemset(block, 64, 9, 64); });
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS) << "does not wait";
  EXPECT_EQ(aclrtSnapShotProcessBackup(own, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSnapShotProcessRestore(own, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSnapShotProcessRestore(own, nullptr), ACL_ERROR_SNAPSHOT_RESTORE_FAILED);
  usleep(5'000);
  EXPECT_EQ(code, -1) << "waits for the unlock";
  EXPECT_EQ(aclrtSnapShotProcessUnlock(own, nullptr), ACL_SUCCESS);
  other.join();
  EXPECT_EQ(code, ACL_ERROR_RT_CONTEXT_NULL) << "its own thread has no device";
  uint8_t byte = 0;
  EXPECT_EQ(aclrtMemcpy(&byte, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(byte, 7);
  EXPECT_EQ(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, note_stage), ACL_SUCCESS);
  EXPECT_EQ(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, refuse_stage, nullptr), 0);
  EXPECT_EQ(aclrtSnapShotProcessLock(own, nullptr), ACL_ERROR_SNAPSHOT_CALLBACK_FAILED);
  EXPECT_EQ(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, refuse_stage), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(DeviceCalls, DumpsThatAreOffHaveNoPath) {
  EXPECT_EQ(acldumpGetPath(DATA_DUMP), nullptr);
  EXPECT_EQ(acldumpGetPath(AIC_ERR_BRIEF_DUMP), nullptr);
  char path[64];
  EXPECT_NE(acldumpGetExceptionInfoPath(path, sizeof path), ACL_SUCCESS);
}

TEST(DumpCalls, AProgramAddsToTheDumpOfExceptions) {
  char name[] = "/tmp/anynpu_dump_calls_XXXXXX";
  const std::string folder = mkdtemp(name);
  std::ofstream(folder + "/acl.json")
      << R"({"dump": {"dump_path": ")" << folder << R"(", "dump_scene": "aic_err_brief_dump"}})";
  ASSERT_EQ(aclInit((folder + "/acl.json").c_str()), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(acldumpGetPath(AIC_ERR_BRIEF_DUMP), folder);
  EXPECT_EQ(acldumpGetPath(AIC_ERR_NORM_DUMP), nullptr);
  char path[4096];
  EXPECT_EQ(acldumpGetExceptionInfoPath(path, 4), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acldumpGetExceptionInfoPath(path, sizeof path), ACL_SUCCESS);
  EXPECT_EQ(path, folder + "/extra-info/data-dump/0/");
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  acldumpTensorInfo tensor = {};
  tensor.tensorSize = 64;
  tensor.tensorAddr = static_cast<int64_t*>(block);
  tensor.addrType = ACL_DUMP_ADDR_RAW;
  tensor.shapeNum = 1;
  tensor.shape[0] = 16;
  EXPECT_EQ(acldumpSaveExceptionInfo("op", nullptr, &tensor, 1), ACL_SUCCESS);
  EXPECT_FALSE(std::filesystem::is_empty(path));
  EXPECT_EQ(acldumpSaveExceptionInfo("../op", nullptr, &tensor, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acldumpSaveExceptionInfo("op", nullptr, &tensor, 0), ACL_ERROR_INVALID_PARAM);
  tensor.shapeNum = 26;
  EXPECT_EQ(acldumpSaveExceptionInfo("op", nullptr, &tensor, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  std::filesystem::remove_all(folder);
}

void* take_block(void* object, size_t size) { return ::malloc(size); }
void drop_block(void* object, void* block) { ::free(block); }
void* take_block_near(void* object, size_t size, void* address) { return ::malloc(size); }
void* address_of_block(void* block) { return block; }

TEST_F(DeviceCalls, AnAllocatorIsFoundByItsStream) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  int object = 0;
  aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc(), found = nullptr;
  EXPECT_EQ(aclrtAllocatorSetObjToDesc(desc, &object), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorSetAllocFuncToDesc(desc, take_block), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorSetFreeFuncToDesc(desc, drop_block), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorSetAllocAdviseFuncToDesc(desc, take_block_near), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, address_of_block), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorRegister(nullptr, desc), ACL_ERROR_RT_INVALID_HANDLE);
  ASSERT_EQ(aclrtAllocatorRegister(stream, desc), ACL_SUCCESS);
  aclrtAllocator allocator = nullptr;
  aclrtAllocatorAllocFunc allocate = nullptr;
  aclrtAllocatorFreeFunc release = nullptr;
  aclrtAllocatorAllocAdviseFunc advise = nullptr;
  aclrtAllocatorGetAddrFromBlockFunc address = nullptr;
  ASSERT_EQ(
      aclrtAllocatorGetByStream(stream, &found, &allocator, &allocate, &release, &advise, &address),
      ACL_SUCCESS);
  EXPECT_EQ(found, desc);
  EXPECT_EQ(allocator, &object);
  void* block = allocate(allocator, 256);
  EXPECT_EQ(address(block), block);
  release(allocator, block);
  EXPECT_EQ(aclrtAllocatorUnregister(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorUnregister(stream), ACL_SUCCESS) << "none is no failure";
  EXPECT_NE(
      aclrtAllocatorGetByStream(stream, &found, &allocator, &allocate, &release, &advise, &address),
      ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorDestroyDesc(desc), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(DeviceCalls, KernelsOfMixedBuildsAreUnknown) {
  static int function;
  aclrtFuncHandle handle = nullptr;
  size_t count = 0;
  EXPECT_EQ(aclrtGetFuncBySymbol(&function, &handle), ACL_ERROR_RT_INVALID_DEVICE_FUNCTION);
  EXPECT_EQ(aclrtFunctionGetParamCount(&function, &count), ACL_ERROR_RT_INVALID_DEVICE_FUNCTION);
  EXPECT_EQ(aclrtLaunchKernelWithArgsArray(&function, 1, nullptr, nullptr, nullptr),
            ACL_ERROR_RT_INVALID_DEVICE_FUNCTION);
  const dim3 one = {1, 1, 1};
  EXPECT_EQ(aclrtLaunchSIMTKernelWithArgsArray(&function, one, one, 0, nullptr, nullptr, nullptr),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtLaunchSIMTKernelWithHostArgs(&function, one, one, 0, nullptr, nullptr, nullptr, 0,
                                              nullptr, 0),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  void* address = nullptr;
  EXPECT_EQ(aclrtGetHardwareSyncAddr(&address), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtBinaryGetFunctionByEntry(nullptr, 0, &handle), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

}  // namespace
}  // namespace anynpu::acl
