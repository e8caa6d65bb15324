// SPDX-License-Identifier: Apache-2.0
#include "service/retrieval/retrieval.h"

#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

TEST(Retrieval, DescriptionsAreChecked) {
  EXPECT_EQ(make_init_para(0).status().code(), Code::invalid_argument);
  FvInitPara para = make_init_para(10).value();
  EXPECT_EQ(set_most_hits(para, &FvInitPara::top_1n, 0).code(), Code::invalid_argument);
  EXPECT_TRUE(set_most_hits(para, &FvInitPara::top_nm, 3).ok());
  EXPECT_EQ(para.top_nm, 3u);
  EXPECT_EQ(make_range(2, 1, 0, 0).status().code(), Code::invalid_argument);
  EXPECT_TRUE(make_range(0, fv::kMaxId, 0, 0).ok());
  const uint8_t byte = 0;
  EXPECT_EQ(check_features({{0, 0}, 0, fv::kFeatureBytes, 2, fv::kFeatureBytes, &byte}).code(),
            Code::invalid_argument);
  EXPECT_TRUE(check_features({{0, 0}, 0, fv::kFeatureBytes, 1, fv::kFeatureBytes, &byte}).ok());
  EXPECT_EQ(check_query_table({1, fv::kTableBytes, fv::kTableBytes, nullptr}).code(),
            Code::invalid_argument);
  EXPECT_EQ(check_search_result({}).code(), Code::invalid_argument);
}

TEST(Retrieval, CallsWhileItIsOffAreOutOfOrder) {
  EXPECT_EQ(stop_retrieval().code(), Code::bad_call_order);
  EXPECT_EQ(add_features(0, 0).code(), Code::bad_call_order);
  EXPECT_EQ(remove_features(0).code(), Code::bad_call_order);
  EXPECT_EQ(search_features(7, 0, 0).code(), Code::bad_call_order);
}

}  // namespace
}  // namespace anynpu::service
