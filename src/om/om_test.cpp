// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/content_hash.h"
#include "base/mapped_file.h"
#include "om/container.h"
#include "om/model_for_test.h"

namespace anynpu::om {
namespace {

TEST(OfflineModel, ComesBackAsWritten) {
  const Model model = sample();
  auto bytes = to_bytes(model);
  ASSERT_TRUE(bytes.ok());
  auto copy = read_copy(*bytes);
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  EXPECT_EQ(copy->meta, model.meta);
  EXPECT_EQ(graph::print(copy->graph), graph::print(model.graph));
  const auto& weights = copy->graph.values[1].constant->bytes;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.data()) % 64, 0u);
  EXPECT_EQ(std::memcmp(weights.data(), model.graph.values[1].constant->bytes.data(), 12), 0);
}

TEST(OfflineModel, WeightsOfAFileAreViewsThatOutliveTheReader) {
  const std::string path = testing::TempDir() + "views" + std::to_string(getpid()) + ".om";
  ASSERT_TRUE(write_file(sample(), path).ok());
  auto model = read_file(path);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  std::filesystem::remove(path);
  float first = 0;
  std::memcpy(&first, model->graph.values[1].constant->bytes.data(), 4);
  EXPECT_EQ(first, 1.0f);
}

// They were named by a checksum, overwritten without a look and believed afterwards.
TEST(OfflineModel, WeightFilesAreNamedByTheirContentAndComparedBeforeUse) {
  const std::filesystem::path folder = testing::TempDir() + "weights" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file(sample(), folder / "a.om", WeightPlace::file_each).ok());
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "weight"))
    files.push_back(entry.path());
  ASSERT_FALSE(files.empty());
  for (const auto& file : files) {
    const auto read = MappedFile::open(file);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(file.filename(), "weight_" + content_hash((*read)->bytes()));
  }
  // A file of the same name and size with other bytes lies there: it is not used.
  const auto size = std::filesystem::file_size(files[0]);
  std::ofstream(files[0], std::ios::binary) << std::string(size, 'x');
  ASSERT_TRUE(write_file(sample(), folder / "b.om", WeightPlace::file_each).ok());
  for (const char* name : {"a.om", "b.om"}) {
    const auto model = read_file(folder / name);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    EXPECT_EQ(std::memcmp(model->graph.values[1].constant->bytes.data(),
                          sample().graph.values[1].constant->bytes.data(), 12),
              0);
  }
  // The same bytes are not written again.
  const auto written = std::filesystem::last_write_time(files[0]);
  ASSERT_TRUE(write_file(sample(), folder / "c.om", WeightPlace::file_each).ok());
  EXPECT_EQ(std::filesystem::last_write_time(files[0]), written);
  std::filesystem::remove_all(folder);
}

TEST(OfflineModel, EveryTruncationIsRefusedWithAMessage) {
  const auto bytes = to_bytes(sample()).value();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto result = read_copy(std::span(bytes).first(size));
    ASSERT_FALSE(result.ok()) << size;
    EXPECT_EQ(result.status().code(), Code::corrupt_model) << size;
    EXPECT_NE(result.status().message().find("atc"), std::string::npos);
  }
}

TEST(OfflineModel, EverySingleFlippedBitIsRefused) {
  auto bytes = to_bytes(sample()).value();
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1u << (bit % 8));
    bytes[bit / 8] ^= mask;
    const auto result = read_copy(bytes);
    ASSERT_FALSE(result.ok()) << "bit " << bit;
    const Code code = result.status().code();
    EXPECT_TRUE(code == Code::corrupt_model || code == Code::version_mismatch) << "bit " << bit;
    bytes[bit / 8] ^= mask;
  }
  EXPECT_TRUE(read_copy(bytes).ok());
}

TEST(OfflineModel, BytesLeftOverAreRefused) {
  auto bytes = to_bytes(sample()).value();
  bytes.resize(bytes.size() + 64);
  EXPECT_EQ(read_copy(bytes).status().code(), Code::corrupt_model);
}

TEST(OfflineModel, ANewerFormatIsAVersionMismatch) {
  auto bytes = to_bytes(sample()).value();
  bytes[8] = std::byte{9};
  const Status status = read_copy(bytes).status();
  EXPECT_EQ(status.code(), Code::version_mismatch);
  EXPECT_NE(status.message().find("format version 9"), std::string::npos);
}

TEST(OfflineModel, TheVendorsFilesAreRecognised) {
  const std::string text = "IMOD" + std::string(300, '\1');
  const Status status = read_copy(std::as_bytes(std::span(text))).status();
  EXPECT_EQ(status.code(), Code::version_mismatch);
  EXPECT_NE(status.message().find("vendor's atc"), std::string::npos);
}

TEST(OfflineModel, OtherFilesAreRefused) {
  const std::string text = "this is an image, honestly";
  EXPECT_EQ(read_copy(std::as_bytes(std::span(text))).status().code(), Code::corrupt_model);
  EXPECT_EQ(read_file("/nowhere/x.om").status().code(), Code::file_not_found);
}

TEST(OfflineModel, ADescriptionThatDoesNotFitTheGraphIsRefused) {
  Model model = sample();
  model.meta.inputs[0].size = 13;
  EXPECT_EQ(read_copy(to_bytes(model).value()).status().code(), Code::corrupt_model);
  model = sample();
  model.meta.outputs.clear();
  EXPECT_EQ(read_copy(to_bytes(model).value()).status().code(), Code::corrupt_model);
}

TEST(OfflineModel, ACycleInsideAFileWithGoodChecksumsIsRefused) {
  Model model = sample();
  model.graph.nodes[0].inputs[1] = 2;
  EXPECT_EQ(read_copy(to_bytes(model).value()).status().code(), Code::corrupt_model);
}

TEST(OfflineModel, AConstantUsedTwiceIsStoredOnce) {
  Model model = sample();
  const size_t before = to_bytes(model)->size();
  const auto big = graph::constant_of(std::vector<float>(4096, 1.0f));
  for (const char* name : {"a", "b"}) {
    graph::Value v = graph::tensor_value(name, DType::f32, {4096});
    v.constant = big;
    model.graph.add_value(v);
  }
  EXPECT_LT(to_bytes(model)->size(), before + 4096 * 4 + 512);
}

// The sample with an open batch and two gears.
Model with_gears() {
  Model model = sample();
  model.graph.values[0].shape = {kDynamicDim, 3};
  model.meta.inputs[0].shape = {kDynamicDim, 3};
  model.meta.inputs.push_back(
      {"ascend_mbatch_shape_data", DType::i64, Format::nd, {1}, 8, Role::gear});
  model.meta.gear_kind = GearKind::batch;
  model.meta.gears = {{1}, {4}};
  return model;
}

Code code_after_reading(const Model& model) {
  auto bytes = to_bytes(model);
  return bytes.ok() ? read_copy(*bytes).status().code() : bytes.status().code();
}

TEST(OfflineModel, GearsAndRangesComeBack) {
  Model model = with_gears();
  auto back = read_copy(to_bytes(model).value());
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(back->meta, model.meta);
  model.meta.gear_kind = GearKind::none;
  model.meta.gears.clear();
  model.meta.inputs.pop_back();
  model.meta.inputs[0].ranges = {{1, -1}, {3, 3}};
  back = read_copy(to_bytes(model).value());
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(back->meta.inputs[0].ranges, model.meta.inputs[0].ranges);
}

TEST(OfflineModel, GearsThatDoNotFitTheirKindAreDamage) {
  Model model = with_gears();
  model.meta.gears[1] = {4, 4};
  EXPECT_EQ(code_after_reading(model), Code::corrupt_model);
  model = with_gears();
  model.meta.gears.assign(kMaxGears + 1, {1});
  EXPECT_EQ(code_after_reading(model), Code::corrupt_model);
  model = with_gears();
  model.meta.inputs.erase(model.meta.inputs.begin());
  EXPECT_EQ(code_after_reading(model), Code::corrupt_model);
  model = with_gears();
  model.meta.aipp.push_back({.input = 7, .dynamic = true, .max_source_bytes = 9, .parameters = {}});
  EXPECT_EQ(code_after_reading(model), Code::corrupt_model);
}

}  // namespace
}  // namespace anynpu::om
