// SPDX-License-Identifier: Apache-2.0
// The device conformance suite: what every back end must do, asked through the C API alone. It runs
// on device 0 of ANYNPU_DEVICES. The name of a test suite is what a device must offer (Memory,
// Copies, Streams, ...); tests of what it may lack say so with NEEDS and are skipped by it. The
// last lines of a run are the list: what passed, what was skipped and why.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "device/capabilities.h"

namespace conformance {

// Of device 0.
const anynpu::device::Capabilities& capabilities();

#define NEEDS(capability) \
  if (!::conformance::capabilities().capability) GTEST_SKIP() << "the device lacks " #capability

#define EXPECT_ACL(call) EXPECT_EQ(call, ACL_SUCCESS) << aclGetRecentErrMsg()
#define ASSERT_ACL(call) ASSERT_EQ(call, ACL_SUCCESS) << aclGetRecentErrMsg()

class DeviceCase : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  aclrtStream create_stream();

 private:
  std::vector<aclrtStream> streams_;
};

// Memory of device 0, freed at the end. Elements go in and out by copies.
template <typename T>
class Block {
 public:
  explicit Block(const std::vector<T>& elements) : Block(elements.size()) { set(elements); }
  explicit Block(size_t count) : count_(count) {
    EXPECT_ACL(aclrtMalloc(&address_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
  }
  ~Block() { EXPECT_ACL(aclrtFree(address_)); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void* at(size_t index = 0) const { return static_cast<T*>(address_) + index; }
  size_t bytes() const { return count_ * sizeof(T); }
  void set(const std::vector<T>& elements) {
    EXPECT_ACL(aclrtMemcpy(address_, bytes(), elements.data(), elements.size() * sizeof(T),
                           ACL_MEMCPY_HOST_TO_DEVICE));
  }
  std::vector<T> get() const {
    std::vector<T> elements(count_);
    EXPECT_ACL(aclrtMemcpy(elements.data(), bytes(), address_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
    return elements;
  }

 private:
  size_t count_;
  void* address_ = nullptr;
};

// 0, 1, 2, ... times `step`.
template <typename T>
std::vector<T> counted(size_t count, T step = 1) {
  std::vector<T> elements(count);
  for (size_t i = 0; i < count; ++i) elements[i] = static_cast<T>(i) * step;
  return elements;
}

}  // namespace conformance
