// SPDX-License-Identifier: Apache-2.0
#include "service/aclnn/plan_cache.h"

#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

NnKey key_of(std::initializer_list<uint64_t> words) {
  NnKey key;
  for (uint64_t word : words) key.add(word);
  return key;
}

TEST(NnPlanCache, FindsWhatWasAddedUnderTheSameKey) {
  NnPlanCache cache;
  const auto plan = std::make_shared<const NnPlan>();
  cache.add(key_of({1, 2}), plan);
  EXPECT_EQ(cache.find(key_of({1, 2}), {}), plan);
  EXPECT_EQ(cache.find(key_of({2, 1}), {}), nullptr);
  EXPECT_EQ(cache.find(key_of({1, 2, 0}), {}), nullptr);
}

TEST(NnPlanCache, APlanThatReadAValueIsForThatValueAlone) {
  NnPlanCache cache;
  auto plan = std::make_shared<NnPlan>();
  aclnn::ReadValue read;
  read.place = 1;
  read.value = aclnn::scalar_of(int64_t{3});
  plan->read_values = {read};
  cache.add(key_of({7}), plan);
  const aclnn::Scalar three[] = {aclnn::scalar_of(int64_t{0}), aclnn::scalar_of(int64_t{3})};
  const aclnn::Scalar four[] = {aclnn::scalar_of(int64_t{0}), aclnn::scalar_of(int64_t{4})};
  EXPECT_EQ(cache.find(key_of({7}), three), plan);
  EXPECT_EQ(cache.find(key_of({7}), four), nullptr);
}

TEST(NnPlanCache, APlanThatComparedAValueIsForAllOthers) {
  aclnn::ReadValue read;
  read.compared = true;
  read.number = 1;
  read.equal = false;
  EXPECT_TRUE(read.fits(aclnn::scalar_of(0.5)));
  EXPECT_TRUE(read.fits(aclnn::scalar_of(int64_t{2})));
  EXPECT_FALSE(read.fits(aclnn::scalar_of(int64_t{1})));
  EXPECT_FALSE(read.fits(aclnn::scalar_of(1.0)));
}

TEST(NnPlanCache, TheLeastRecentlyUsedPlanGoesFirst) {
  NnPlanCache cache;
  const auto plan = std::make_shared<const NnPlan>();
  for (uint64_t i = 0; i < NnPlanCache::kMost; ++i) cache.add(key_of({i}), plan);
  EXPECT_EQ(cache.find(key_of({0}), {}), plan);  // used: stays
  cache.add(key_of({NnPlanCache::kMost}), plan);
  EXPECT_EQ(cache.size(), NnPlanCache::kMost);
  EXPECT_EQ(cache.find(key_of({0}), {}), plan);
  EXPECT_EQ(cache.find(key_of({1}), {}), nullptr);
}

}  // namespace
}  // namespace anynpu::service
