// SPDX-License-Identifier: Apache-2.0
// Which memory models, operators and matrix products read and write.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "check/findings_for_test.h"
#include "check/hooks.h"
#include "check/order.h"

namespace anynpu::check {
namespace {

constexpr uint64_t kExecutionStream = 92;

class Executions : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    in_ = aclCreateDataBuffer(x_, sizeof x_);
    out_ = aclCreateDataBuffer(y_, sizeof y_);
    inputs_ = aclmdlCreateDataset();
    outputs_ = aclmdlCreateDataset();
    ASSERT_EQ(aclmdlAddDatasetBuffer(inputs_, in_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlAddDatasetBuffer(outputs_, out_), ACL_SUCCESS);
  }
  void TearDown() override {
    all_done();
    aclmdlDestroyDataset(inputs_);
    aclmdlDestroyDataset(outputs_);
    aclDestroyDataBuffer(in_);
    aclDestroyDataBuffer(out_);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }
  static void run(Hook hook, std::vector<uint64_t> arguments, uint64_t result = 0) {
    static constexpr Parameter kParameters[24] = {};
    Function function{"aclSomething", "-", "libascendcl.so", kParameters, true};
    Call one(function, arguments);
    one.finish(result);
    hook(one);
  }
  // The host writes to this memory: found while queued work uses it.
  static void touch(void* address) { run(before_memset, {word(address), 1, 0, 1}); }

  char x_[16] = {}, y_[16] = {};
  aclDataBuffer *in_ = nullptr, *out_ = nullptr;
  aclmdlDataset *inputs_ = nullptr, *outputs_ = nullptr;
  Findings findings;
};

TEST_F(Executions, AQueuedModelReadsItsInputsAndWritesItsOutputs) {
  run(after_execute_async, {1, word(inputs_), word(outputs_), kExecutionStream});
  touch(x_ + 15);
  touch(y_ + 15);
  EXPECT_EQ(findings.kinds(), (Kinds{"write-before-synchronize", "write-before-synchronize"}));
}

TEST_F(Executions, ACallThatFailedOrWaitedLeavesNothingBehind) {
  run(after_execute_async, {1, word(inputs_), word(outputs_), kExecutionStream}, 100000);
  touch(x_);
  run(after_execute_and_wait, {1, word(inputs_), word(outputs_), kExecutionStream});
  touch(y_);
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST_F(Executions, AModelThatRunsNowHasToWaitForWhatIsQueued) {
  run(after_memset_async, {word(x_), 16, 0, 16, kExecutionStream});
  run(before_execute, {1, word(inputs_), word(outputs_)});
  EXPECT_EQ(findings.kinds(), Kinds{"read-before-synchronize"});
}

TEST_F(Executions, BuffersOfOperatorsStandInLists) {
  aclDataBuffer *const inputs[] = {in_}, *const outputs[] = {out_};
  run(after_op_execute_handle, {0, 1, word(&inputs), 1, word(&outputs), kExecutionStream});
  touch(x_);
  EXPECT_EQ(findings.kinds(), Kinds{"write-before-synchronize"});
  all_done();
  run(after_op_execute, {0, 1, 0, word(&inputs), 1, 0, word(&outputs), 0, kExecutionStream});
  touch(y_);
  EXPECT_EQ(findings.kinds().size(), 2u);
}

TEST_F(Executions, AMatrixProductWritesAsManyElementsAsItHas) {
  float a[6] = {}, b[6] = {}, c[9] = {};
  // 2x3 times 3x2: the first four elements of c.
  std::vector<uint64_t> arguments(19);
  arguments[3] = arguments[4] = 2;
  arguments[5] = 3;
  arguments[7] = word(a), arguments[10] = word(b), arguments[14] = word(c);
  arguments[9] = arguments[12] = arguments[16] = ACL_FLOAT;
  arguments[18] = kExecutionStream;
  run(after_gemm_ex, arguments);
  touch(c + 4);
  EXPECT_EQ(findings.kinds(), Kinds{});
  touch(c + 3);
  EXPECT_EQ(findings.kinds(), Kinds{"write-before-synchronize"});
}

// The call that gets such a buffer may fail because of it: it is found where it is made.
TEST_F(Executions, ABufferLargerThanItsMemoryIsFoundWhereItIsMade) {
  uint64_t address = 0x9000;
  call("aclrtMalloc", {word(&address), 64, 0});
  run(after_update_buffer, {word(in_), address, 64});
  run(after_create_buffer, {address, 4096}, 0);  // none was made
  EXPECT_EQ(findings.kinds(), Kinds{});
  run(after_update_buffer, {word(in_), address + 32, 33});
  EXPECT_EQ(findings.kinds(), Kinds{"past-the-end"});
  call("aclrtFree", {address});
}

// Work that a queued model does with such a buffer ends where its memory ends.
TEST_F(Executions, ABufferThatIsTooLargeTouchesOnlyItsMemory) {
  uint64_t address = 0x9000;
  call("aclrtMalloc", {word(&address), 64, 0});
  run(after_update_buffer, {word(out_), address, 4096});
  ASSERT_EQ(aclUpdateDataBuffer(out_, reinterpret_cast<void*>(address), 4096), ACL_SUCCESS);
  run(after_execute_async, {1, word(inputs_), word(outputs_), kExecutionStream});
  const Findings later;
  touch(reinterpret_cast<void*>(address + 64));
  EXPECT_EQ(later.kinds(), Kinds{});
  touch(reinterpret_cast<void*>(address + 63));
  EXPECT_EQ(later.kinds(), Kinds{"write-before-synchronize"});
  call("aclrtFree", {address});
}

}  // namespace
}  // namespace anynpu::check
