/* SPDX-License-Identifier: Apache-2.0 */
/* The nearest of 1,000 features: gcc nearest_features.c -lacl_retr -lascendcl */
#include <string.h>

#include "acl/ops/acl_fv.h"
#include "check.h"

enum { kFeatures = 1000, kTop = 3 };

int main(void) {
  static uint8_t features[kFeatures][36];
  static float table[32][256];
  uint32_t count = 0, id0[kTop], id1[kTop], offset[kTop];
  float distance[kTop];
  for (int f = 0; f < kFeatures; ++f) memset(features[f], f % 256, 32);
  for (int t = 0; t < 32; ++t) {
    for (int code = 0; code < 256; ++code) table[t][code] = (float)abs(code - 77);
  }
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  aclfvInitPara* para = aclfvCreateInitPara(kFeatures);
  CHECK(aclfvInit(para));
  void* on_features = to_device(features, sizeof features);
  void* on_table = to_device(table, sizeof table);
  void *on_count = to_device(NULL, sizeof count), *on_id0 = to_device(NULL, sizeof id0),
       *on_id1 = to_device(NULL, sizeof id1), *on_offset = to_device(NULL, sizeof offset),
       *on_distance = to_device(NULL, sizeof distance);
  aclfvFeatureInfo* info =
      aclfvCreateFeatureInfo(4, 2, 0, 36, kFeatures, on_features, sizeof features);
  CHECK(aclfvRepoAdd(SEARCH_1_N, info));
  aclfvRepoRange* range = aclfvCreateRepoRange(0, 1023, 0, 1023);
  aclfvQueryTable* query = aclfvCreateQueryTable(1, sizeof table, on_table, sizeof table);
  aclfvSearchInput* input = aclfvCreateSearchInput(query, range, kTop);
  aclfvSearchResult* result = aclfvCreateSearchResult(1, on_count, sizeof count, on_id0, on_id1,
                                                      on_offset, on_distance, sizeof offset);
  CHECK(aclfvSearch(SEARCH_1_N, input, result));
  to_host(&count, on_count, sizeof count);
  to_host(id0, on_id0, sizeof id0);
  to_host(id1, on_id1, sizeof id1);
  to_host(offset, on_offset, sizeof offset);
  to_host(distance, on_distance, sizeof distance);
  for (uint32_t i = 0; i < count; ++i) {
    printf("(%u, %u) %u: %g\n", id0[i], id1[i], offset[i], distance[i]);
  }
  CHECK(aclfvDestroySearchResult(result));
  CHECK(aclfvDestroySearchInput(input));
  CHECK(aclfvDestroyQueryTable(query));
  CHECK(aclfvDestroyRepoRange(range));
  CHECK(aclfvDestroyFeatureInfo(info));
  CHECK(aclfvDestroyInitPara(para));
  CHECK(aclfvRelease());
  void* memory[] = {on_features, on_table, on_count, on_id0, on_id1, on_offset, on_distance};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i) CHECK(aclrtFree(memory[i]));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
