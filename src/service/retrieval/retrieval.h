// SPDX-License-Identifier: Apache-2.0
// Feature retrieval of the process (docs/retrieval.md): two sets of repositories, for one query at
// a time (1:N) and for several (N:M), between start and stop. Finalising stops it. Calls about
// features and searches fail with bad_call_order while it is off.
#pragma once

#include "base/result.h"
#include "service/retrieval/objects.h"

namespace anynpu::service {

// Descriptions with checked values.
Result<FvInitPara> make_init_para(uint64_t features);
Status set_most_hits(FvInitPara& para, uint32_t FvInitPara::*field, uint32_t most);
Status check_features(const FvFeatures& features);
Result<fv::RepoRange> make_range(uint32_t id0_min, uint32_t id0_max, uint32_t id1_min,
                                 uint32_t id1_max);
Status check_query_table(const FvQueryTable& table);
Result<FvSearchInput> make_search_input(Handle table, Handle range, uint32_t top);
Status check_search_result(const FvSearchResult& result);

// The calls below take objects by handle. Starting needs a chip that has the unit, and a current
// context.
Status start_retrieval(Handle para);
Status stop_retrieval();

// `kind` is 0 (1:N) or 1 (N:M).
Status add_features(int kind, Handle features);
Status remove_repositories(int kind, Handle range);
Status remove_features(Handle features);
Status modify_features(Handle features);
Status search_features(int kind, Handle input, Handle result);

}  // namespace anynpu::service
