// SPDX-License-Identifier: Apache-2.0
// aclfv*: feature retrieval (guide 7.13). Its limits stand in docs/retrieval.md.
#include <atomic>
#include <cstring>

#include "acl/ops/acl_fv.h"
#include "api/acl/object_calls.h"
#include "api/acl_fv/objects.h"
#include "base/soc.h"
#include "device/memory.h"
#include "device/runtime.h"

namespace anynpu::acl {

namespace {

constexpr uint64_t kMostFeatures = 100'000'000;

struct State {
  std::atomic<bool> on{false};
  FvInitPara para;
  fv::Repositories one_to_many, many_to_many;

  fv::Repositories& of(aclfvSearchType type) {
    return type == SEARCH_1_N ? one_to_many : many_to_many;
  }
};

State& state() {
  static auto* s = new State;
  return *s;
}

void release() {
  state().on = false;
  state().one_to_many.clear();
  state().many_to_many.clear();
}

template <typename T>
Result<T> read_object(const void* pointer) {
  ANYNPU_ASSIGN(auto pin, resolve<T>(to_handle(pointer)));
  return *pin;
}

template <typename Pointer, typename T>
Result<Pointer> insert_fv(T value) {
  return insert_object<Pointer>(std::make_shared<T>(std::move(value)));
}

Status check_on() {
  if (state().on) return {};
  return fail(Code::bad_call_order, "retrieval is not initialised; call aclfvInit first");
}

Status check_type(int type) {
  if (type == SEARCH_1_N || type == SEARCH_N_M) return {};
  return fail(Code::invalid_argument, "the kind of search is {}; expected 0 (1:N) or 1 (N:M)",
              type);
}

Status check_ids(uint32_t low, uint32_t high, const char* name) {
  if (low <= high && high <= fv::kMaxId) return {};
  return fail(Code::invalid_argument,
              "{} runs from {} to {}; expected 0 to {}, the first not above "
              "the second",
              name, low, high, fv::kMaxId);
}

// Chips without the unit, as the guide lists them: of its products only the 310P has it.
Status check_chip() {
  if (soc_name().starts_with("Ascend310P")) return {};
  return fail(Code::unsupported_feature,
              "{} has no feature retrieval; the guide names the Ascend 310P alone (ANYNPU_SOC)",
              soc_name());
}

Result<std::span<const std::byte>> feature_bytes(const FvFeatures& features) {
  ANYNPU_ASSIGN(auto range, device::check_range(features.data, features.bytes, device::Access::read,
                                                "featureData"));
  return std::as_bytes(std::span(range.address, features.bytes));
}

// The repositories that have the one of `id`: 1:N first.
fv::Repositories& holder_of(fv::RepoId id) {
  const bool only_many = !state().one_to_many.has(id) && state().many_to_many.has(id);
  return only_many ? state().many_to_many : state().one_to_many;
}

struct Target {
  uint32_t *numbers, *id0, *id1, *offset;
  float* distance;
};

Result<Target> check_result(const FvSearchResult& r, uint32_t queries, uint32_t top) {
  const size_t number_bytes = size_t{queries} * sizeof(uint32_t);
  const size_t bytes = size_t{queries} * top * sizeof(uint32_t);
  if (r.queries != queries || r.number_bytes < number_bytes || r.bytes < bytes) {
    return fail(Code::invalid_argument,
                "the result holds {} queries in {} and {} bytes; {} queries with {} hits each need "
                "{} and {}",
                r.queries, r.number_bytes, r.bytes, queries, top, number_bytes, bytes);
  }
  Target t{};
  const auto check = [&](auto* address, size_t size, const char* name, auto*& out) -> Status {
    ANYNPU_ASSIGN(auto range, device::check_range(address, size, device::Access::write, name));
    out = reinterpret_cast<decltype(address)>(range.address);
    return {};
  };
  ANYNPU_TRY(check(r.numbers, number_bytes, "resultNum", t.numbers));
  ANYNPU_TRY(check(r.id0, bytes, "id0", t.id0));
  ANYNPU_TRY(check(r.id1, bytes, "id1", t.id1));
  ANYNPU_TRY(check(r.offset, bytes, "resultOffset", t.offset));
  ANYNPU_TRY(check(r.distance, bytes, "resultDistance", t.distance));
  return t;
}

Status search(aclfvSearchType type, const FvSearchInput& input, const FvSearchResult& result) {
  const uint32_t queries = input.table.count, top = input.top;
  const FvInitPara& para = state().para;
  if (type == SEARCH_1_N && queries != 1) {
    return fail(Code::invalid_argument, "a 1:N search has {} queries; expected 1", queries);
  }
  const uint32_t most = type == SEARCH_1_N ? para.top_1n : para.top_nm;
  if (top == 0 || top > most) {
    return fail(Code::invalid_argument, "topk is {}; expected 1 to {}", top, most);
  }
  ANYNPU_ASSIGN(const Target target, check_result(result, queries, top));
  ANYNPU_ASSIGN(auto table, device::check_range(input.table.data, size_t{queries} * fv::kTableBytes,
                                                device::Access::read, "tableData"));
  for (uint32_t q = 0; q < queries; ++q) {
    const auto* floats = reinterpret_cast<const float*>(table.address) + q * fv::kTableFloats;
    const auto hits = state().of(type).search(floats, input.range, top);
    target.numbers[q] = static_cast<uint32_t>(hits.size());
    for (size_t i = 0; i < hits.size(); ++i) {
      const size_t at = size_t{q} * top + i;
      target.id0[at] = hits[i].repo.id0;
      target.id1[at] = hits[i].repo.id1;
      target.offset[at] = hits[i].offset;
      target.distance[at] = hits[i].distance;
    }
  }
  return {};
}

Result<FvFeatures> check_features(const FvFeatures& f) {
  ANYNPU_TRY(check_ids(f.repo.id0, f.repo.id0, "id0"));
  ANYNPU_TRY(check_ids(f.repo.id1, f.repo.id1, "id1"));
  if (f.length != fv::kFeatureBytes) {
    return fail(Code::invalid_argument, "featureLen is {}; expected {}", f.length,
                fv::kFeatureBytes);
  }
  if (f.count == 0 || uint64_t{f.count} * f.length != f.bytes) {
    return fail(
        Code::invalid_argument,
        "featureDataLen is {} for {} features; expected {} bytes for each, and at least one",
        f.bytes, f.count, fv::kFeatureBytes);
  }
  ANYNPU_TRY(check_pointer(f.data, "featureData"));
  return f;
}

aclError set_top(const char* function, aclfvInitPara* para, uint32_t most,
                 uint32_t FvInitPara::*field) {
  return enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<FvInitPara>(to_handle(para)));
    if (most == 0) return fail(Code::invalid_argument, "the most hits are 0; expected at least 1");
    (*pin).*field = most;
    return {};
  });
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclfvInitPara* aclfvCreateInitPara(uint64_t fsNum) {
  return enter_value(__func__, static_cast<aclfvInitPara*>(nullptr),
                     [&]() -> Result<aclfvInitPara*> {
                       if (fsNum == 0 || fsNum > kMostFeatures) {
                         return fail(Code::invalid_argument, "fsNum is {}; expected 1 to {}", fsNum,
                                     kMostFeatures);
                       }
                       FvInitPara para;
                       para.features = fsNum;
                       return insert_fv<aclfvInitPara*>(para);
                     });
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
  return enter_value(
      __func__, static_cast<aclfvFeatureInfo*>(nullptr), [&]() -> Result<aclfvFeatureInfo*> {
        ANYNPU_ASSIGN(
            const FvFeatures features,
            check_features(
                {{id0, id1}, offset, featureLen, featureCount, featureDataLen, featureData}));
        return insert_fv<aclfvFeatureInfo*>(features);
      });
}

aclError aclfvDestroyFeatureInfo(aclfvFeatureInfo* featureInfo) {
  return destroy<FvFeatures>(__func__, featureInfo);
}

aclfvRepoRange* aclfvCreateRepoRange(uint32_t id0Min, uint32_t id0Max, uint32_t id1Min,
                                     uint32_t id1Max) {
  return enter_value(
      __func__, static_cast<aclfvRepoRange*>(nullptr), [&]() -> Result<aclfvRepoRange*> {
        ANYNPU_TRY(check_ids(id0Min, id0Max, "id0"));
        ANYNPU_TRY(check_ids(id1Min, id1Max, "id1"));
        return insert_fv<aclfvRepoRange*>(fv::RepoRange{id0Min, id0Max, id1Min, id1Max});
      });
}

aclError aclfvDestroyRepoRange(aclfvRepoRange* repoRange) {
  return destroy<fv::RepoRange>(__func__, repoRange);
}

aclfvQueryTable* aclfvCreateQueryTable(uint32_t queryCnt, uint32_t tableLen, uint8_t* tableData,
                                       uint32_t tableDataLen) {
  return enter_value(
      __func__, static_cast<aclfvQueryTable*>(nullptr), [&]() -> Result<aclfvQueryTable*> {
        if (queryCnt == 0 || tableLen != fv::kTableBytes ||
            uint64_t{queryCnt} * tableLen != tableDataLen) {
          return fail(Code::invalid_argument,
                      "{} tables of {} bytes in {} bytes; expected at least one of {} bytes each",
                      queryCnt, tableLen, tableDataLen, fv::kTableBytes);
        }
        ANYNPU_TRY(check_pointer(tableData, "tableData"));
        return insert_fv<aclfvQueryTable*>(
            FvQueryTable{queryCnt, tableLen, tableDataLen, tableData});
      });
}

aclError aclfvDestroyQueryTable(aclfvQueryTable* queryTable) {
  return destroy<FvQueryTable>(__func__, queryTable);
}

aclfvSearchInput* aclfvCreateSearchInput(aclfvQueryTable* queryTable, aclfvRepoRange* repoRange,
                                         uint32_t topk) {
  return enter_value(__func__, static_cast<aclfvSearchInput*>(nullptr),
                     [&]() -> Result<aclfvSearchInput*> {
                       ANYNPU_ASSIGN(const auto table, read_object<FvQueryTable>(queryTable));
                       ANYNPU_ASSIGN(const auto range, read_object<fv::RepoRange>(repoRange));
                       if (topk == 0)
                         return fail(Code::invalid_argument, "topk is 0; expected at least 1");
                       return insert_fv<aclfvSearchInput*>(FvSearchInput{table, range, topk});
                     });
}

aclError aclfvDestroySearchInput(aclfvSearchInput* searchInput) {
  return destroy<FvSearchInput>(__func__, searchInput);
}

aclfvSearchResult* aclfvCreateSearchResult(uint32_t queryCnt, uint32_t* resultNum,
                                           uint32_t resultNumDataLen, uint32_t* id0, uint32_t* id1,
                                           uint32_t* resultOffset, float* resultDistance,
                                           uint32_t dataLen) {
  return enter_value(
      __func__, static_cast<aclfvSearchResult*>(nullptr), [&]() -> Result<aclfvSearchResult*> {
        for (const void* pointer :
             {static_cast<const void*>(resultNum), static_cast<const void*>(id0),
              static_cast<const void*>(id1), static_cast<const void*>(resultOffset),
              static_cast<const void*>(resultDistance)}) {
          ANYNPU_TRY(check_pointer(pointer, "a buffer of the result"));
        }
        if (queryCnt == 0 || resultNumDataLen < queryCnt * sizeof(uint32_t) || dataLen == 0) {
          return fail(Code::invalid_argument,
                      "queryCnt, resultNumDataLen and dataLen are {}, {} and {}; expected 4 bytes "
                      "for each query, and room for hits",
                      queryCnt, resultNumDataLen, dataLen);
        }
        return insert_fv<aclfvSearchResult*>(FvSearchResult{queryCnt, resultNumDataLen, dataLen,
                                                            resultNum, id0, id1, resultOffset,
                                                            resultDistance});
      });
}

aclError aclfvDestroySearchResult(aclfvSearchResult* searchResult) {
  return destroy<FvSearchResult>(__func__, searchResult);
}

aclError aclfvInit(aclfvInitPara* initPara) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_chip());
    ANYNPU_ASSIGN(const auto para, read_object<FvInitPara>(initPara));
    ANYNPU_TRY(device::Runtime::instance().current().status());
    if (state().on) {
      return fail(Code::bad_call_order,
                  "retrieval is initialised already; call aclfvRelease first");
    }
    static const bool once = (on_finalize(release), true);
    (void)once;
    state().para = para;
    state().one_to_many.set_limit(para.features);
    state().many_to_many.set_limit(para.features);
    state().on = true;
    return {};
  });
}

aclError aclfvRelease(void) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_on());
    release();
    return {};
  });
}

aclError aclfvRepoAdd(aclfvSearchType type, aclfvFeatureInfo* featureInfo) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_on());
    ANYNPU_TRY(check_type(type));
    ANYNPU_ASSIGN(const auto features, read_object<FvFeatures>(featureInfo));
    ANYNPU_ASSIGN(const auto bytes, feature_bytes(features));
    return state().of(type).add(features.repo, features.offset, bytes);
  });
}

aclError aclfvRepoDel(aclfvSearchType type, aclfvRepoRange* repoRange) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_on());
    ANYNPU_TRY(check_type(type));
    ANYNPU_ASSIGN(const auto range, read_object<fv::RepoRange>(repoRange));
    return state().of(type).remove_range(range);
  });
}

aclError aclfvDel(aclfvFeatureInfo* featureInfo) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_on());
    ANYNPU_ASSIGN(const auto f, read_object<FvFeatures>(featureInfo));
    return holder_of(f.repo).remove(f.repo, f.offset, f.count);
  });
}

aclError aclfvModify(aclfvFeatureInfo* featureInfo) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_on());
    ANYNPU_ASSIGN(const auto f, read_object<FvFeatures>(featureInfo));
    ANYNPU_ASSIGN(const auto bytes, feature_bytes(f));
    return holder_of(f.repo).modify(f.repo, f.offset, bytes);
  });
}

aclError aclfvSearch(aclfvSearchType type, aclfvSearchInput* searchInput,
                     aclfvSearchResult* searchResult) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_on());
    ANYNPU_TRY(check_type(type));
    ANYNPU_ASSIGN(const auto input, read_object<FvSearchInput>(searchInput));
    ANYNPU_ASSIGN(const auto result, read_object<FvSearchResult>(searchResult));
    return search(type, input, result);
  });
}

}  // extern "C"
