// SPDX-License-Identifier: Apache-2.0
#include "service/model/queue_drive.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "service/model/model_for_test.h"
#include "service/model/model_table.h"

namespace anynpu::service {
namespace {

using Floats = std::array<float, 4>;

std::atomic<int> reports{0};
void count_report(const Status&) { ++reports; }

device::BufferQueues& queues() { return device::BufferQueues::instance(); }

class QueueDriveTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    reports = 0;
    in_ = queues().create({"in", 4}).value();
    out_ = queues().create({"out", 4}).value();
  }
  void TearDown() override {
    ServiceTest::TearDown();
    queues().clear();
  }
  static Result<uint32_t> load(const QueueIds& ids) {
    const auto bytes = om::to_bytes(compile_relu()).value();
    return load_queue_model_memory(bytes.data(), bytes.size(), ids, count_report);
  }
  Result<uint32_t> load() { return load({&in_, 1, &out_, 1}); }
  void push(const void* data, size_t bytes) {
    auto buffer = device::QueueBuffer::create(bytes).value();
    std::memcpy(buffer->data.get(), data, bytes);
    buffer->length = bytes;
    ASSERT_TRUE(queues().push(in_, buffer, Deadline::never()).ok());
  }
  std::shared_ptr<device::QueueBuffer> pop() {
    auto buffer = queues().pop(out_, Deadline::after_ms(20000));
    EXPECT_TRUE(buffer.ok()) << buffer.status().to_string();
    return buffer.ok() ? *buffer : nullptr;
  }

  uint32_t in_ = 0, out_ = 0;
};

TEST_F(QueueDriveTest, EachSetOfInputsBecomesASetOfOutputsInOrder) {
  const auto id = load();
  ASSERT_TRUE(id.ok()) << id.status().to_string();
  for (float i = 1; i < 4; ++i) {
    const Floats x{-i, i, -i, i};
    push(&x, sizeof x);
  }
  for (float i = 1; i < 4; ++i) {
    const auto buffer = pop();
    ASSERT_NE(buffer, nullptr);
    ASSERT_EQ(buffer->length, sizeof(Floats));
    Floats y;
    std::memcpy(&y, buffer->data.get(), sizeof y);
    EXPECT_EQ(y, (Floats{0, i, 0, i}));
  }
  EXPECT_EQ(reports, 0);
}

TEST_F(QueueDriveTest, AFailedRunIsReportedAndLeavesAnEmptyBuffer) {
  ASSERT_TRUE(load().ok());
  const Floats x{1, 2, 3, 4};
  push(&x, 3);  // less than the tensor
  push(&x, sizeof x);
  EXPECT_EQ(pop()->length, 0u);
  EXPECT_EQ(pop()->length, sizeof x) << "results stay in the order of their inputs";
  EXPECT_EQ(reports, 1);
}

TEST_F(QueueDriveTest, QueuesHaveToExistAndFitTheModel) {
  const uint32_t none = 4711, both[] = {in_, out_};
  EXPECT_EQ(find_queues({&none, 1, &out_, 1}, nullptr).status().code(),
            Code::model_queue_not_found);
  EXPECT_EQ(find_queues({&in_, 1, &none, 1}, nullptr).status().code(), Code::model_queue_not_found);
  EXPECT_FALSE(load({both, 2, &out_, 1}).ok()) << "one input";
  EXPECT_FALSE(load({&in_, 1, nullptr, 0}).ok()) << "one output";
  EXPECT_TRUE(queues().destroy(in_).ok()) << "a failed load lets go of its queues";
}

TEST_F(QueueDriveTest, AfterItsEndWhatWaitsStaysInTheQueues) {
  const auto id = load();
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(queues().destroy(in_).code(), Code::bad_call_order) << "the model holds it";
  ASSERT_TRUE(ModelTable::instance().remove(*id).ok());
  const Floats x{1, 2, 3, 4};
  push(&x, sizeof x);
  EXPECT_TRUE(queues().pop(in_, Deadline::after_ms(0)).ok());
  EXPECT_TRUE(queues().destroy(in_).ok());
}

TEST_F(QueueDriveTest, AResetOfTheDeviceStopsIt) {
  ASSERT_TRUE(load().ok());
  ModelTable::instance().stop_drives(1);
  const Floats x{1, 2, 3, 4};
  push(&x, sizeof x);
  EXPECT_NE(pop(), nullptr) << "of another device";
  ModelTable::instance().stop_drives(0);
  push(&x, sizeof x);
  EXPECT_EQ(queues().pop(out_, Deadline::after_ms(5)).status().code(), Code::timeout);
}

}  // namespace
}  // namespace anynpu::service
