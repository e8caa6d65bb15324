// SPDX-License-Identifier: Apache-2.0
#include "service/model/load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "service/model/execute.h"
#include "service/model/model_for_test.h"
#include "service/model/model_table.h"

namespace anynpu::service {
namespace {

class LoadTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    const om::Model model = compile_relu();
    bytes_ = om::to_bytes(model).value();
    ASSERT_TRUE(om::write_file(model, path_).ok());
  }
  void TearDown() override {
    ServiceTest::TearDown();
    std::filesystem::remove(path_);
  }
  // Device memory, freed by the test.
  static void* device_memory(size_t bytes) {
    const auto context = device::Runtime::instance().current();
    return device::allocate_device(*(*context)->device(), bytes, {}).value();
  }
  static Status run(uint32_t id) {
    std::array<float, 4> x{-1, 2, -3, 4}, y{};
    const OneBuffer in(&x, sizeof x), out(&y, sizeof y);
    ANYNPU_TRY(execute({id, in, out}));
    EXPECT_EQ(y[3], 4);
    return {};
  }

  std::vector<std::byte> bytes_;
  std::string path_ = testing::TempDir() + format("load_test_{}.om", ::getpid());
};

TEST_F(LoadTest, FromAFileAndFromMemoryThatMayGoAfterwards) {
  const auto file = load_model_file(path_.c_str());
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const auto memory = load_model_memory(bytes_.data(), bytes_.size());
  ASSERT_TRUE(memory.ok()) << memory.status().to_string();
  EXPECT_NE(*file, *memory);
  std::filesystem::remove(path_);
  std::fill(bytes_.begin(), bytes_.end(), std::byte{0xee});
  EXPECT_TRUE(run(*file).ok());
  EXPECT_TRUE(run(*memory).ok());
}

TEST_F(LoadTest, WhatIsNoModelIsRefused) {
  EXPECT_EQ(load_model_file("/no/such/model.om").status().code(), Code::file_not_found);
  EXPECT_FALSE(load_model_file(nullptr).ok());
  EXPECT_FALSE(load_model_memory(nullptr, bytes_.size()).ok());
  EXPECT_FALSE(load_model_memory(bytes_.data(), 0).ok());
  EXPECT_EQ(load_model_memory(bytes_.data(), bytes_.size() / 2).status().code(),
            Code::corrupt_model);
  bytes_[bytes_.size() / 2] ^= std::byte{1};
  EXPECT_EQ(load_model_memory(bytes_.data(), bytes_.size()).status().code(), Code::corrupt_model);
}

TEST_F(LoadTest, LoadingNeedsAContextAndAskingForSizesDoesNot) {
  device::Runtime::instance().reset_all();
  EXPECT_EQ(load_model_file(path_.c_str()).status().code(), Code::no_context);
  const auto sizes = query_file_sizes(path_.c_str());
  ASSERT_TRUE(sizes.ok()) << sizes.status().to_string();
  const auto same = query_memory_sizes(bytes_.data(), bytes_.size());
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(sizes->work_bytes, same->work_bytes);
  EXPECT_EQ(sizes->weight_bytes, same->weight_bytes);
}

TEST_F(LoadTest, MemoryOfTheProgramIsUsedWhileTheModelLives) {
  constexpr size_t kRoom = 1 << 20;
  ModelLoadOptions options;
  options.given.work = device_memory(kRoom);
  options.given.work_size = kRoom;
  options.given.weight = device_memory(kRoom);
  options.given.weight_size = kRoom;
  const auto id = load_model_file(path_.c_str(), options);
  ASSERT_TRUE(id.ok()) << id.status().to_string();
  EXPECT_TRUE(run(*id).ok());
  EXPECT_EQ((*ModelTable::instance().find(*id))->memory.size(), 2u);
  EXPECT_TRUE(ModelTable::instance().remove(*id).ok());
  EXPECT_TRUE(device::free_device(options.given.work).ok());
  EXPECT_TRUE(device::free_device(options.given.weight).ok());
}

TEST_F(LoadTest, QueuesThatDoNotExistDriveNothing) {
  const uint32_t none[] = {4711};
  EXPECT_EQ(load_queue_model_file(path_.c_str(), {none, 1, none, 1}, nullptr).status().code(),
            Code::model_queue_not_found);
  EXPECT_EQ(load_queue_model_memory(bytes_.data(), bytes_.size(), {none, 1, none, 1}, nullptr)
                .status()
                .code(),
            Code::model_queue_not_found);
}

TEST_F(LoadTest, AModelBelongsToItsDeviceAndItsBundle) {
  const auto id = load_bundle_model(compile_relu(), 9);
  ASSERT_TRUE(id.ok()) << id.status().to_string();
  const auto model = ModelTable::instance().find(*id);
  EXPECT_EQ((*model)->bundle_id, 9u);
  EXPECT_EQ((*model)->device_id, 0);
  EXPECT_EQ((*model)->meta->inputs.size(), 1u);
}

}  // namespace
}  // namespace anynpu::service
