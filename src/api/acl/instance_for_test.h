// SPDX-License-Identifier: Apache-2.0
// For tests of captures and built instances: a device, streams, and tasks whose runs are seen.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "acl/rt/event_flags.h"
#include "acl/rt/model_instance.h"
#include "acl/rt/state_callback.h"

namespace anynpu::acl {

// Letters that host functions leave when they run.
class Trail {
 public:
  std::string take() {
    std::lock_guard lock(mutex_);
    return std::exchange(text_, {});
  }
  std::string taken_sorted() {
    std::string text = take();
    std::sort(text.begin(), text.end());
    return text;
  }
  // A task on `stream` that leaves `letter`.
  aclError leave(char letter, aclrtStream stream) {
    std::lock_guard lock(mutex_);
    steps_.push_back(std::make_unique<Step>(Step{this, letter}));
    return aclrtLaunchHostFunc(
        stream,
        [](void* data) {
          auto& step = *static_cast<Step*>(data);
          std::lock_guard guard(step.trail->mutex_);
          step.trail->text_ += step.letter;
        },
        steps_.back().get());
  }

 private:
  struct Step {
    Trail* trail;
    char letter;
  };
  std::mutex mutex_;
  std::string text_;
  std::vector<std::unique_ptr<Step>> steps_;
};

class InstanceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    started_ = aclInit(nullptr) == ACL_SUCCESS;
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&s_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&t_), ACL_SUCCESS);
  }
  void TearDown() override {
    aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStreamForce(s_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStreamForce(t_), ACL_SUCCESS);
    for (aclrtEvent event : events_) EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    for (void* memory : device_) EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
    for (void* memory : pinned_) EXPECT_EQ(aclrtFreeHost(memory), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    if (started_) {
      EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    }
  }

  aclrtEvent joining_event() {
    aclrtEvent event = nullptr;
    EXPECT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
    events_.push_back(event);
    return event;
  }
  aclrtEvent timed_event() {
    aclrtEvent event = nullptr;
    EXPECT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
    events_.push_back(event);
    return event;
  }
  template <typename T = uint8_t>
  T* device_memory(size_t count) {
    void* memory = nullptr;
    EXPECT_EQ(aclrtMalloc(&memory, count * sizeof(T), ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    device_.push_back(memory);
    return static_cast<T*>(memory);
  }
  uint8_t* pinned_memory(size_t bytes) {
    void* memory = nullptr;
    EXPECT_EQ(aclrtMallocHost(&memory, bytes), ACL_SUCCESS);
    pinned_.push_back(memory);
    return static_cast<uint8_t*>(memory);
  }
  template <typename T>
  T read(const T* device) {
    T value;
    EXPECT_EQ(aclrtMemcpy(&value, sizeof value, device, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return value;
  }
  template <typename T>
  void write(T* device, T value) {
    EXPECT_EQ(aclrtMemcpy(device, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_SUCCESS);
  }

  aclError begin(aclrtStream stream, aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) {
    return aclmdlRICaptureBegin(stream, mode);
  }
  aclmdlRI end(aclrtStream stream) {
    aclmdlRI instance = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(stream, &instance), ACL_SUCCESS) << aclGetRecentErrMsg();
    return instance;
  }
  aclError end_code(aclrtStream stream) {
    aclmdlRI instance = nullptr;
    return aclmdlRICaptureEnd(stream, &instance);
  }
  // Executes the instance on `stream` and waits.
  aclError run(aclmdlRI instance, aclrtStream stream) {
    if (const aclError code = aclmdlRIExecuteAsync(instance, stream)) return code;
    return aclrtSynchronizeStream(stream);
  }
  aclmdlRICaptureStatus status(aclrtStream stream) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
    aclmdlRI instance = nullptr;
    EXPECT_EQ(aclmdlRICaptureGetInfo(stream, &status, &instance), ACL_SUCCESS);
    return status;
  }
  // Adds two float vectors in a single operator.
  aclError add(float* a, float* b, float* sum, int64_t count, aclrtStream stream) {
    aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 1, &count, ACL_FORMAT_ND);
    aclTensorDesc* inputs[] = {desc, desc};
    aclTensorDesc* outputs[] = {desc};
    const auto bytes = static_cast<size_t>(count) * sizeof(float);
    aclDataBuffer* in[] = {aclCreateDataBuffer(a, bytes), aclCreateDataBuffer(b, bytes)};
    aclDataBuffer* out[] = {aclCreateDataBuffer(sum, bytes)};
    const aclError code = aclopCompileAndExecute("Add", 2, inputs, in, 1, outputs, out, nullptr,
                                                 ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream);
    for (aclDataBuffer* buffer : {in[0], in[1], out[0]}) aclDestroyDataBuffer(buffer);
    aclDestroyTensorDesc(desc);
    return code;
  }

  Trail trail_;
  aclrtStream s_ = nullptr, t_ = nullptr;

 private:
  bool started_ = false;
  std::vector<aclrtEvent> events_;
  std::vector<void*> device_, pinned_;
};

}  // namespace anynpu::acl
