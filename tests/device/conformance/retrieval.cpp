// SPDX-License-Identifier: Apache-2.0
// Retrieval of features: all its data lies in device memory.
#include "acl/ops/acl_fv.h"
#include "device_case.h"

namespace conformance {
namespace {

class Retrieval : public DeviceCase {};

constexpr uint32_t kFeatures = 3, kFeatureBytes = 36, kTableFloats = 32 * 256;

// Feature i has the code i in each of its places.
std::vector<uint8_t> features() {
  std::vector<uint8_t> bytes(size_t{kFeatures} * kFeatureBytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i / kFeatureBytes);
  return bytes;
}

// Code 2 is nearest, then 1, then 0.
std::vector<float> table() {
  std::vector<float> distances(kTableFloats, 9);
  for (size_t i = 0; i < kTableFloats; i += 256) {
    distances[i] = 2;
    distances[i + 1] = 1;
    distances[i + 2] = 0;
  }
  return distances;
}

TEST_F(Retrieval, TheNearestFeaturesAreFound) {
  aclfvInitPara* const para = aclfvCreateInitPara(1000);
  ASSERT_ACL(aclfvInit(para));
  Block<uint8_t> data(features());
  aclfvFeatureInfo* const info =
      aclfvCreateFeatureInfo(1, 2, 0, kFeatureBytes, kFeatures, static_cast<uint8_t*>(data.at()),
                             static_cast<uint32_t>(data.bytes()));
  ASSERT_ACL(aclfvRepoAdd(SEARCH_1_N, info));

  const Block<float> distances(table());
  aclfvQueryTable* const queries =
      aclfvCreateQueryTable(1, kTableFloats * sizeof(float), static_cast<uint8_t*>(distances.at()),
                            static_cast<uint32_t>(distances.bytes()));
  aclfvRepoRange* const range = aclfvCreateRepoRange(0, 1023, 0, 1023);
  aclfvSearchInput* const input = aclfvCreateSearchInput(queries, range, 2);
  const Block<uint32_t> numbers(1), id0(2), id1(2), offsets(2);
  const Block<float> found(2);
  aclfvSearchResult* const result = aclfvCreateSearchResult(
      1, static_cast<uint32_t*>(numbers.at()), sizeof(uint32_t), static_cast<uint32_t*>(id0.at()),
      static_cast<uint32_t*>(id1.at()), static_cast<uint32_t*>(offsets.at()),
      static_cast<float*>(found.at()), 2 * sizeof(uint32_t));
  ASSERT_ACL(aclfvSearch(SEARCH_1_N, input, result));
  EXPECT_EQ(numbers.get(), (std::vector<uint32_t>{2}));
  EXPECT_EQ(id0.get(), (std::vector<uint32_t>{1, 1}));
  EXPECT_EQ(id1.get(), (std::vector<uint32_t>{2, 2}));
  EXPECT_EQ(offsets.get(), (std::vector<uint32_t>{2, 1}));
  EXPECT_EQ(found.get(), (std::vector<float>{0, 32}));

  EXPECT_ACL(aclfvDestroySearchResult(result));
  EXPECT_ACL(aclfvDestroySearchInput(input));
  EXPECT_ACL(aclfvDestroyRepoRange(range));
  EXPECT_ACL(aclfvDestroyQueryTable(queries));
  EXPECT_ACL(aclfvDestroyFeatureInfo(info));
  EXPECT_ACL(aclfvRelease());
  EXPECT_ACL(aclfvDestroyInitPara(para));
}

}  // namespace
}  // namespace conformance
