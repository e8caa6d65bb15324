// SPDX-License-Identifier: Apache-2.0
#include "device_case.h"

#include <cstdio>
#include <map>
#include <string>

#include "device/runtime.h"

namespace conformance {

const anynpu::device::Capabilities& capabilities() {
  return (*anynpu::device::Runtime::instance().device(0))->capabilities();
}

void DeviceCase::SetUp() {
  ASSERT_ACL(aclInit(nullptr));
  ASSERT_ACL(aclrtSetDevice(0));
}

void DeviceCase::TearDown() {
  for (aclrtStream stream : streams_) EXPECT_ACL(aclrtDestroyStream(stream));
  EXPECT_ACL(aclrtResetDevice(0));
  EXPECT_ACL(aclFinalize());
}

aclrtStream DeviceCase::create_stream() {
  aclrtStream stream = nullptr;
  EXPECT_ACL(aclrtCreateStream(&stream));
  streams_.push_back(stream);
  return stream;
}

namespace {

// Prints the list at the end of a run.
class ListPrinter : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.skipped()) reason_ = result.message();
  }
  void OnTestStart(const testing::TestInfo&) override { reason_.clear(); }
  void OnTestEnd(const testing::TestInfo& test) override {
    auto& [passed, failed, skipped] = groups_[test.test_suite_name()];
    if (test.result()->Skipped()) {
      skipped += std::string("\n    skipped: ") + test.name() + ": " + reason_;
    } else {
      ++(test.result()->Passed() ? passed : failed);
    }
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    std::printf("what the device offers (back end %s):\n",
                std::string(capabilities().backend).c_str());
    for (const auto& [name, group] : groups_) {
      std::printf("  %-16s %d passed, %d failed%s\n", name.c_str(), group.passed, group.failed,
                  group.skipped.c_str());
    }
  }

  struct Group {
    int passed = 0, failed = 0;
    std::string skipped;
  };
  std::map<std::string, Group> groups_;
  std::string reason_;
};

}  // namespace

}  // namespace conformance

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new conformance::ListPrinter);
  return RUN_ALL_TESTS();
}
