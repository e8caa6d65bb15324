// SPDX-License-Identifier: Apache-2.0
// aclfv*: feature retrieval (guide 7.13). docs/retrieval.md has its limits.
#include "service/retrieval/retrieval.h"

#include "acl/ops/acl_fv.h"
#include "api/acl/object_calls.h"

namespace anynpu::acl {

namespace {

using namespace service;

static_assert(SEARCH_1_N == 0 && SEARCH_N_M == 1);

// A handle for a description that was made and checked.
template <typename Pointer, typename Make>
Pointer create_fv(const char* function, Make make) {
  return enter_value(function, static_cast<Pointer>(nullptr), [&]() -> Result<Pointer> {
    ANYNPU_ASSIGN(auto value, make());
    return insert_object<Pointer>(std::make_shared<decltype(value)>(std::move(value)));
  });
}

template <typename T>
Result<T> checked(const T& value, const Status& status) {
  if (!status.ok()) return status;
  return value;
}

aclError set_top(const char* function, aclfvInitPara* para, uint32_t most,
                 uint32_t FvInitPara::*field) {
  return enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<FvInitPara>(to_handle(para)));
    return set_most_hits(*pin, field, most);
  });
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclfvInitPara* aclfvCreateInitPara(uint64_t fsNum) {
  return create_fv<aclfvInitPara*>(__func__, [&] { return make_init_para(fsNum); });
}

aclError aclfvDestroyInitPara(aclfvInitPara* initPara) {
  return destroy<FvInitPara>(__func__, initPara);
}

aclError aclfvSet1NTopNum(aclfvInitPara* initPara, uint32_t maxTopNumFor1N) {
  return set_top(__func__, initPara, maxTopNumFor1N, &FvInitPara::top_1n);
}

aclError aclfvSetNMTopNum(aclfvInitPara* initPara, uint32_t maxTopNumForNM) {
  return set_top(__func__, initPara, maxTopNumForNM, &FvInitPara::top_nm);
}

aclfvFeatureInfo* aclfvCreateFeatureInfo(uint32_t id0, uint32_t id1, uint32_t offset,
                                         uint32_t featureLen, uint32_t featureCount,
                                         uint8_t* featureData, uint32_t featureDataLen) {
  return create_fv<aclfvFeatureInfo*>(__func__, [&] {
    const FvFeatures features{{id0, id1},   offset,         featureLen,
                              featureCount, featureDataLen, featureData};
    return checked(features, check_features(features));
  });
}

aclError aclfvDestroyFeatureInfo(aclfvFeatureInfo* featureInfo) {
  return destroy<FvFeatures>(__func__, featureInfo);
}

aclfvRepoRange* aclfvCreateRepoRange(uint32_t id0Min, uint32_t id0Max, uint32_t id1Min,
                                     uint32_t id1Max) {
  return create_fv<aclfvRepoRange*>(__func__,
                                    [&] { return make_range(id0Min, id0Max, id1Min, id1Max); });
}

aclError aclfvDestroyRepoRange(aclfvRepoRange* repoRange) {
  return destroy<fv::RepoRange>(__func__, repoRange);
}

aclfvQueryTable* aclfvCreateQueryTable(uint32_t queryCnt, uint32_t tableLen, uint8_t* tableData,
                                       uint32_t tableDataLen) {
  return create_fv<aclfvQueryTable*>(__func__, [&] {
    const FvQueryTable table{queryCnt, tableLen, tableDataLen, tableData};
    return checked(table, check_query_table(table));
  });
}

aclError aclfvDestroyQueryTable(aclfvQueryTable* queryTable) {
  return destroy<FvQueryTable>(__func__, queryTable);
}

aclfvSearchInput* aclfvCreateSearchInput(aclfvQueryTable* queryTable, aclfvRepoRange* repoRange,
                                         uint32_t topk) {
  return create_fv<aclfvSearchInput*>(__func__, [&] {
    return make_search_input(to_handle(queryTable), to_handle(repoRange), topk);
  });
}

aclError aclfvDestroySearchInput(aclfvSearchInput* searchInput) {
  return destroy<FvSearchInput>(__func__, searchInput);
}

aclfvSearchResult* aclfvCreateSearchResult(uint32_t queryCnt, uint32_t* resultNum,
                                           uint32_t resultNumDataLen, uint32_t* id0, uint32_t* id1,
                                           uint32_t* resultOffset, float* resultDistance,
                                           uint32_t dataLen) {
  return create_fv<aclfvSearchResult*>(__func__, [&] {
    const FvSearchResult result{queryCnt, resultNumDataLen, dataLen,       resultNum, id0,
                                id1,      resultOffset,     resultDistance};
    return checked(result, check_search_result(result));
  });
}

aclError aclfvDestroySearchResult(aclfvSearchResult* searchResult) {
  return destroy<FvSearchResult>(__func__, searchResult);
}

aclError aclfvInit(aclfvInitPara* initPara) {
  return enter(__func__, [&] { return start_retrieval(to_handle(initPara)); });
}

aclError aclfvRelease(void) {
  return enter(__func__, [&] { return stop_retrieval(); });
}

aclError aclfvRepoAdd(aclfvSearchType type, aclfvFeatureInfo* featureInfo) {
  return enter(__func__, [&] { return add_features(type, to_handle(featureInfo)); });
}

aclError aclfvRepoDel(aclfvSearchType type, aclfvRepoRange* repoRange) {
  return enter(__func__, [&] { return remove_repositories(type, to_handle(repoRange)); });
}

aclError aclfvDel(aclfvFeatureInfo* featureInfo) {
  return enter(__func__, [&] { return remove_features(to_handle(featureInfo)); });
}

aclError aclfvModify(aclfvFeatureInfo* featureInfo) {
  return enter(__func__, [&] { return modify_features(to_handle(featureInfo)); });
}

aclError aclfvSearch(aclfvSearchType type, aclfvSearchInput* searchInput,
                     aclfvSearchResult* searchResult) {
  return enter(__func__, [&] {
    return search_features(type, to_handle(searchInput), to_handle(searchResult));
  });
}

}  // extern "C"
