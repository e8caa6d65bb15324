// SPDX-License-Identifier: Apache-2.0
#include "service/model/load_config.h"

#include <gtest/gtest.h>

#include "service/model/model_for_test.h"
#include "service/model/model_table.h"

namespace anynpu::service {
namespace {

class LoadConfigTest : public ServiceTest {
 protected:
  HandleForTest<LoadConfig> config_{std::make_shared<LoadConfig>()};
};

TEST_F(LoadConfigTest, LoadsWhatItsTypeAsksFor) {
  const auto bytes = om::to_bytes(compile_relu());
  config_->type = LoadType::memory;
  config_->memory = bytes->data();
  config_->memory_size = bytes->size();
  const auto id = load_by_config(config_, nullptr);
  ASSERT_TRUE(id.ok()) << id.status().to_string();
  EXPECT_TRUE(ModelTable::instance().find(*id).ok());
}

TEST_F(LoadConfigTest, WhatIsMissingIsNamed) {
  EXPECT_EQ(load_by_config(config_, nullptr).status().code(), Code::invalid_argument);
  config_->type = LoadType::file;
  EXPECT_EQ(load_by_config(config_, nullptr).status().message(),
            "the load configuration has no path; set ACL_MDL_PATH_PTR (2)");
  config_->type = LoadType::memory;
  EXPECT_EQ(load_by_config(config_, nullptr).status().code(), Code::invalid_argument);
}

TEST_F(LoadConfigTest, AQueueThatDoesNotExistHasACauseOfItsOwn) {
  const uint32_t none = 4711;
  config_->type = LoadType::file_with_queues;
  config_->queues = {&none, 1, &none, 1};
  EXPECT_EQ(load_by_config(config_, nullptr).status().code(), Code::model_queue_not_found);
}

TEST_F(LoadConfigTest, WeightsNeedANameAndMemory) {
  int memory = 0;
  EXPECT_EQ(set_weight_file(config_, nullptr, &memory, 4).code(), Code::invalid_argument);
  EXPECT_EQ(set_weight_file(config_, "", &memory, 4).code(), Code::invalid_argument);
  EXPECT_EQ(set_weight_file(config_, "w", nullptr, 4).code(), Code::invalid_argument);
  EXPECT_EQ(set_weight_file(config_, "w", &memory, 0).code(), Code::invalid_argument);
  EXPECT_TRUE(set_weight_file(config_, "w", &memory, 4).ok());
  EXPECT_EQ(config_->weight_files.count("w"), 1u);
}

TEST_F(LoadConfigTest, SizesOfAModelAreToldWithoutLoadingIt) {
  const auto bytes = om::to_bytes(compile_relu());
  EXPECT_TRUE(query_memory_sizes(bytes->data(), bytes->size()).ok());
  EXPECT_EQ(query_memory_sizes(bytes->data(), 0).status().code(), Code::invalid_argument);
  EXPECT_EQ(query_file_sizes(nullptr).status().code(), Code::invalid_argument);
  EXPECT_EQ(query_file_sizes("/no/such.om").status().code(), Code::file_not_found);
}

}  // namespace
}  // namespace anynpu::service
