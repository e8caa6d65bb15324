// SPDX-License-Identifier: Apache-2.0
// The objects of feature retrieval behind handles: descriptions.
#pragma once

#include <cstdint>

#include "base/handle_table.h"
#include "fv/retrieval.h"

namespace anynpu::service {

struct FvInitPara {
  uint64_t features = 0;
  uint32_t top_1n = 4800, top_nm = 500;
};
struct FvFeatures {
  fv::RepoId repo;
  uint32_t offset = 0, length = 0, count = 0, bytes = 0;
  const uint8_t* data = nullptr;
};
struct FvQueryTable {
  uint32_t count = 0, length = 0, bytes = 0;
  const uint8_t* data = nullptr;
};
struct FvSearchInput {
  FvQueryTable table;
  fv::RepoRange range;
  uint32_t top = 0;
};
struct FvSearchResult {
  uint32_t queries = 0, number_bytes = 0, bytes = 0;
  uint32_t *numbers = nullptr, *id0 = nullptr, *id1 = nullptr, *offset = nullptr;
  float* distance = nullptr;
};

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::FvInitPara, fv_init);
ANYNPU_HANDLE_TYPE(service::FvFeatures, fv_features);
ANYNPU_HANDLE_TYPE(fv::RepoRange, fv_range);
ANYNPU_HANDLE_TYPE(service::FvQueryTable, fv_table);
ANYNPU_HANDLE_TYPE(service::FvSearchInput, fv_input);
ANYNPU_HANDLE_TYPE(service::FvSearchResult, fv_result);
}  // namespace anynpu
