// SPDX-License-Identifier: Apache-2.0
#include "exec/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "ops/blocked_layout.h"
#include "tensor/half.h"

namespace anynpu::exec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

// Paths and contents, instead of files.
struct WrittenDump {
  std::string path, bytes;
};
std::vector<WrittenDump> written;
Status remember_dump(const std::string& path, std::string_view bytes) {
  written.push_back({path, std::string(bytes)});
  return {};
}

class DumpTest : public testing::Test {
 protected:
  void SetUp() override {
    written.clear();
    set_dump_sink(remember_dump);
    reset_overflow(kDevice);
  }
  void TearDown() override { set_dump_sink(nullptr); }

  template <typename T>
  StepTensor tensor(DType dtype, const std::vector<T>& elements) {
    return {dtype,
            {static_cast<int64_t>(elements.size())},
            ops::Layout::plain,
            reinterpret_cast<const std::byte*>(elements.data())};
  }
  // A step of one input and one output.
  StepView view(const std::string& op, const std::string& name, const StepTensor& x,
                const StepTensor& y) {
    op_ = op, name_ = name;
    inputs_ = {x}, outputs_ = {y};
    return {4, op_, name_, inputs_, outputs_};
  }
  static DumpOptions options() {
    DumpOptions options;
    options.folder = "/dumps/20260101/0";
    options.model = "net v1";
    options.model_id = 3;
    options.stream = 2;
    options.device = kDevice;
    return options;
  }
  static std::vector<std::string> names() {
    std::vector<std::string> list;
    for (const WrittenDump& each : written) list.push_back(each.path);
    return list;
  }

  static constexpr int32_t kDevice = 5;
  std::vector<float> x_ = {1, -2}, y_ = {1, 0};
  std::string op_, name_;
  std::vector<StepTensor> inputs_, outputs_;
};

TEST_F(DumpTest, AFilePerOperatorAndRunNamedByStepAndStream) {
  const auto dump = make_dump(options());
  const StepView step = view("Relu", "r.1", tensor(DType::f32, x_), tensor(DType::f32, y_));
  for (int run = 0; run < 2; ++run) {
    dump->begin();
    ASSERT_TRUE(dump->before(step).ok());
    ASSERT_TRUE(dump->after(step).ok());
  }
  EXPECT_THAT(
      names(),
      ElementsAre(MatchesRegex("/dumps/20260101/0/net_v1/3/0/Relu\\.r_1\\.5\\.2\\.[0-9]+"),
                  MatchesRegex("/dumps/20260101/0/net_v1/3/1/Relu\\.r_1\\.5\\.2\\.[0-9]+")));
  EXPECT_EQ(written[0].bytes.substr(written[0].bytes.size() - 8),
            std::string(reinterpret_cast<const char*>(y_.data()), 8));
}

TEST_F(DumpTest, InputsAreThoseBeforeTheStep) {
  DumpOptions asked = options();
  asked.inputs = true, asked.outputs = false;
  const auto dump = make_dump(asked);
  const StepView step = view("Relu", "r", tensor(DType::f32, x_), tensor(DType::f32, x_));
  dump->begin();
  ASSERT_TRUE(dump->before(step).ok());
  const std::vector<float> before = std::exchange(x_, {9, 9});  // the step worked in place
  ASSERT_TRUE(dump->after(step).ok());
  EXPECT_EQ(written[0].bytes.substr(written[0].bytes.size() - 8),
            std::string(reinterpret_cast<const char*>(before.data()), 8));
}

TEST_F(DumpTest, OnlyTheLayersThatWereAskedFor) {
  DumpOptions asked = options();
  asked.layers = {"r"};
  EXPECT_TRUE(make_dump(asked)->wants("Relu", "r"));
  EXPECT_FALSE(make_dump(asked)->wants("Relu", "s"));
  EXPECT_TRUE(make_dump(options())->wants("Relu", "s"));
}

TEST_F(DumpTest, StatisticsAreTables) {
  DumpOptions asked = options();
  asked.statistics = true;
  asked.columns = {"Max"};
  const auto dump = make_dump(asked);
  const StepView step = view("Relu", "r", tensor(DType::f32, x_), tensor(DType::f32, y_));
  dump->begin();
  ASSERT_TRUE(dump->before(step).ok());
  ASSERT_TRUE(dump->after(step).ok());
  EXPECT_TRUE(written[0].path.ends_with(".csv")) << written[0].path;
  EXPECT_THAT(written[0].bytes, HasSubstr("Output,0,float32,2,2,1\n"));
}

TEST_F(DumpTest, ThatOfAnExceptionHasInputsAndOutputsAndAppearsOnlyOnFailure) {
  const auto dump = make_exception_dump(options());
  const StepView step = view("Relu", "r", tensor(DType::f32, x_), tensor(DType::f32, y_));
  dump->begin();
  ASSERT_TRUE(dump->before(step).ok());
  ASSERT_TRUE(dump->after(step).ok());
  EXPECT_THAT(written, IsEmpty());
  ASSERT_TRUE(dump->before(step).ok());
  dump->failed(step, fail(Code::task_failed, "no"));
  ASSERT_EQ(written.size(), 1u);
  EXPECT_EQ(written[0].bytes.substr(written[0].bytes.size() - 16),
            std::string(reinterpret_cast<const char*>(x_.data()), 8) +
                std::string(reinterpret_cast<const char*>(y_.data()), 8));
}

TEST_F(DumpTest, AWatcherWritesALayerAgainAfterTheNodeThatMayOverwriteIt) {
  DumpOptions asked = options();
  asked.layers = {"layer"};
  asked.watchers = {"watcher"};
  const auto dump = make_watcher_dump(asked);
  EXPECT_TRUE(dump->wants("Relu", "layer"));
  EXPECT_TRUE(dump->wants("Relu", "watcher"));
  EXPECT_FALSE(dump->wants("Relu", "other"));
  dump->begin();
  ASSERT_TRUE(
      dump->after(view("Relu", "layer", tensor(DType::f32, x_), tensor(DType::f32, y_))).ok());
  y_[0] = 77;  // overwritten meanwhile
  ASSERT_TRUE(
      dump->after(view("Add", "watcher", tensor(DType::f32, x_), tensor(DType::f32, x_))).ok());
  ASSERT_EQ(written.size(), 2u);
  EXPECT_THAT(written[0].path, HasSubstr("/Relu.layer."));
  EXPECT_THAT(written[1].path, HasSubstr("/Relu.layer_To_watcher."));
  EXPECT_NE(written[0].bytes.substr(written[0].bytes.size() - 8),
            written[1].bytes.substr(written[1].bytes.size() - 8));
}

TEST_F(DumpTest, WholeNumbersThatDoNotFitAreOverflows) {
  const int32_t low = std::numeric_limits<int32_t>::min();
  const std::vector<int32_t> a = {1, low}, b = {2, 3},
                             tight = {1, std::numeric_limits<int32_t>::max()};
  const auto status = [&](const std::string& op, const std::vector<int32_t>& x,
                          const std::vector<int32_t>& y) {
    inputs_ = {tensor(DType::i32, x), tensor(DType::i32, y)};
    outputs_ = {tensor(DType::i32, x)};
    name_ = "n", op_ = op;
    return overflow_status({0, op_, name_, inputs_, outputs_});
  };
  EXPECT_EQ(status("Neg", a, a), kNegation);
  EXPECT_EQ(status("Neg", b, b), 0u);
  EXPECT_EQ(status("Add", tight, b), kWhole);
  EXPECT_EQ(status("Sub", a, b), kWhole);
  EXPECT_EQ(status("Mul", tight, b), kWhole);
  EXPECT_EQ(status("Add", b, b), 0u);
  EXPECT_EQ(status("Add", tight, {1}), kWhole) << "a scalar operand";
  EXPECT_EQ(status("Max", tight, b), 0u);
}

TEST_F(DumpTest, CastsThatLoseTheirValueAreOverflows) {
  const std::vector<float> big = {1, 70000}, small = {1, 2}, negative = {-1, 2};
  const std::vector<F16> halves = {to_f16(1.0f), to_f16(70000.0f)};
  const std::vector<F16> fine = {to_f16(1.0f), to_f16(2.0f)};
  const std::vector<uint8_t> bytes = {0, 2};
  EXPECT_EQ(overflow_status(view("Cast", "c", tensor(DType::f32, big), tensor(DType::f16, halves))),
            kToHalf);
  EXPECT_EQ(overflow_status(view("Cast", "c", tensor(DType::f32, small), tensor(DType::f16, fine))),
            0u);
  EXPECT_EQ(
      overflow_status(view("Cast", "c", tensor(DType::f32, negative), tensor(DType::u8, bytes))),
      kNegativeToUnsigned);
  EXPECT_EQ(overflow_status(view("Cast", "c", tensor(DType::f32, small), tensor(DType::u8, bytes))),
            0u);
}

TEST_F(DumpTest, InfinitiesThatNoInputHasSetTheDevicesStatus) {
  const auto dump = make_overflow_dump(options());
  const std::vector<float> infinite = {1, INFINITY};
  const auto run = [&](const std::string& op, const std::vector<float>& x) {
    const StepView step = view(op, "n", tensor(DType::f32, x), tensor(DType::f32, infinite));
    dump->begin();
    EXPECT_TRUE(dump->before(step).ok());
    EXPECT_TRUE(dump->after(step).ok());
  };
  run("Exp", infinite);
  EXPECT_EQ(overflow_bits(kDevice), 0u) << "the input was infinite already";
  EXPECT_THAT(written, IsEmpty());

  run("Exp", x_);
  EXPECT_EQ(overflow_bits(kDevice), kFloat);
  ASSERT_EQ(written.size(), 2u);
  EXPECT_THAT(written[0].path, HasSubstr("/Exp.n.5.2."));
  EXPECT_THAT(written[1].path, HasSubstr("/OpDebug.Node_Opdebug.5.2."));
  EXPECT_EQ(written[1].bytes,
            overflow_record(3, 2, 5, kFloat, 0, reinterpret_cast<uint64_t>(infinite.data())));

  run("MatMul", x_);
  EXPECT_EQ(overflow_bits(kDevice), kFloat | kCube);
  EXPECT_EQ(overflow_bits(kDevice + 1), 0u);
  reset_overflow(kDevice);
  EXPECT_EQ(overflow_bits(kDevice), 0u);
}

TEST_F(DumpTest, WithoutAFolderOnlyTheStatusIsSet) {
  DumpOptions asked = options();
  asked.folder.clear();
  const auto dump = make_overflow_dump(asked);
  const std::vector<float> infinite = {1, INFINITY};
  const StepView step = view("Exp", "n", tensor(DType::f32, x_), tensor(DType::f32, infinite));
  dump->begin();
  ASSERT_TRUE(dump->before(step).ok());
  ASSERT_TRUE(dump->after(step).ok());
  EXPECT_EQ(overflow_bits(kDevice), kFloat);
  EXPECT_THAT(written, IsEmpty());
}

TEST_F(DumpTest, BlockedTensorsAreWrittenInPlainOrder) {
  const Shape shape = {1, 3, 2, 1};
  std::vector<float> plain = {1, 2, 3, 4, 5, 6};
  std::vector<float> blocked(
      static_cast<size_t>(ops::stored_elements(shape, ops::Layout::blocked16)));
  for (size_t c = 0; c < 3; ++c) {
    for (size_t at = 0; at < 2; ++at) blocked[at * 16 + c] = plain[c * 2 + at];
  }
  const StepTensor tensor{DType::f32, shape, ops::Layout::blocked16,
                          reinterpret_cast<const std::byte*>(blocked.data())};
  const std::vector<std::byte> bytes = plain_bytes(tensor);
  ASSERT_EQ(bytes.size(), 24u);
  EXPECT_EQ(std::memcmp(bytes.data(), plain.data(), 24), 0);
}

TEST_F(DumpTest, TheRecordOfAnOverflowHasFixedFields) {
  const std::string record = overflow_record(1, 2, 3, 4, 5, 6);
  ASSERT_EQ(record.size(), 8u + 6 * 4 + 2 * 8);
  EXPECT_EQ(record.substr(0, 8), "ANYNPUOV");
  uint32_t fields[6];
  std::memcpy(fields, record.data() + 8, sizeof fields);
  EXPECT_THAT(fields, ElementsAre(1, 1, 2, 3, 0, 4));
  uint64_t addresses[2];
  std::memcpy(addresses, record.data() + 32, sizeof addresses);
  EXPECT_THAT(addresses, ElementsAre(5, 6));
}

}  // namespace
}  // namespace anynpu::exec
