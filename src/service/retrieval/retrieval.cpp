// SPDX-License-Identifier: Apache-2.0
#include "service/retrieval/retrieval.h"

#include <array>
#include <atomic>

#include "base/soc.h"
#include "device/host_view.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "service/check_pointer.h"
#include "service/finalize.h"

namespace anynpu::service {

namespace {

constexpr uint64_t kMostFeatures = 100'000'000;
constexpr int kOneToMany = 0, kManyToMany = 1;

struct State {
  std::atomic<bool> on{false};
  FvInitPara para;
  fv::Repositories one_to_many, many_to_many;

  fv::Repositories& of(int kind) { return kind == kOneToMany ? one_to_many : many_to_many; }
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

Status check_on() {
  if (state().on) return {};
  return fail(Code::bad_call_order, "retrieval is not initialised; call aclfvInit first");
}

template <typename T>
Result<T> read_object(Handle handle) {
  ANYNPU_ASSIGN(auto pin, resolve<T>(handle));
  return *pin;
}

// Of a call that names the kind of search.
Status check_search(int type) {
  ANYNPU_TRY(check_on());
  if (type == kOneToMany || type == kManyToMany) return {};
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

// An address of data, which is used later: of a device, or one that can be read.
Status check_data(const void* address, const char* name) {
  if (device::DeviceMemory::find(reinterpret_cast<uintptr_t>(address))) return {};
  return check_pointer(address, name);
}

// Calls `use` with the bytes of the features, on the host or on a device.
template <typename Use>
Status with_features(const FvFeatures& features, Use&& use) {
  ANYNPU_ASSIGN(auto range, device::check_range(features.data, features.bytes, device::Access::read,
                                                "featureData"));
  ANYNPU_ASSIGN(range, device::readable_range(std::move(range)));
  return use(std::as_bytes(std::span(range.address, features.bytes)));
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

// Runs `write` with addresses of the result that the host can use, and with those of the table.
template <typename Write>
Status with_result(const FvSearchResult& r, const FvSearchInput& input, Write&& write) {
  const uint32_t queries = input.table.count;
  const size_t number_bytes = size_t{queries} * sizeof(uint32_t);
  const size_t bytes = size_t{queries} * input.top * sizeof(uint32_t);
  if (r.queries != queries || r.number_bytes < number_bytes || r.bytes < bytes) {
    return fail(Code::invalid_argument,
                "the result holds {} queries in {} and {} bytes; {} queries with {} hits each need "
                "{} and {}",
                r.queries, r.number_bytes, r.bytes, queries, input.top, number_bytes, bytes);
  }
  const struct {
    const void* address;
    size_t bytes;
    device::Access access;
    const char* name;
  } parts[] = {{r.numbers, number_bytes, device::Access::write, "resultNum"},
               {r.id0, bytes, device::Access::write, "id0"},
               {r.id1, bytes, device::Access::write, "id1"},
               {r.offset, bytes, device::Access::write, "resultOffset"},
               {r.distance, bytes, device::Access::write, "resultDistance"},
               {input.table.data, queries * fv::kTableBytes, device::Access::read, "tableData"}};
  std::array<device::Range, std::size(parts)> checked;
  std::array<device::HostRange, std::size(parts)> seen;
  for (size_t i = 0; i < std::size(parts); ++i) {
    const auto& part = parts[i];
    ANYNPU_ASSIGN(checked[i],
                  device::check_range(part.address, part.bytes, part.access, part.name));
    seen[i] = {checked[i].address, part.bytes, part.access};
  }
  return device::with_host_view(seen, [&] {
    const auto number = [&](size_t i) { return static_cast<uint32_t*>(seen[i].address); };
    return write(
        Target{number(0), number(1), number(2), number(3), static_cast<float*>(seen[4].address)},
        static_cast<const float*>(seen[5].address));
  });
}

Status search(int type, const FvSearchInput& input, const FvSearchResult& result) {
  const uint32_t queries = input.table.count, top = input.top;
  const FvInitPara& para = state().para;
  if (type == kOneToMany && queries != 1) {
    return fail(Code::invalid_argument, "a 1:N search has {} queries; expected 1", queries);
  }
  const uint32_t most = type == kOneToMany ? para.top_1n : para.top_nm;
  if (top == 0 || top > most) {
    return fail(Code::invalid_argument, "topk is {}; expected 1 to {}", top, most);
  }
  return with_result(result, input, [&](const Target& target, const float* tables) {
    for (uint32_t q = 0; q < queries; ++q) {
      const auto hits = state().of(type).search(tables + q * fv::kTableFloats, input.range, top);
      target.numbers[q] = static_cast<uint32_t>(hits.size());
      for (size_t i = 0; i < hits.size(); ++i) {
        const size_t at = size_t{q} * top + i;
        target.id0[at] = hits[i].repo.id0;
        target.id1[at] = hits[i].repo.id1;
        target.offset[at] = hits[i].offset;
        target.distance[at] = hits[i].distance;
      }
    }
    return Status();
  });
}

}  // namespace

Result<FvInitPara> make_init_para(uint64_t features) {
  if (features == 0 || features > kMostFeatures) {
    return fail(Code::invalid_argument, "fsNum is {}; expected 1 to {}", features, kMostFeatures);
  }
  FvInitPara para;
  para.features = features;
  return para;
}

Status set_most_hits(FvInitPara& para, uint32_t FvInitPara::*field, uint32_t most) {
  if (most == 0) return fail(Code::invalid_argument, "the most hits are 0; expected at least 1");
  para.*field = most;
  return {};
}

Status check_features(const FvFeatures& f) {
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
  return check_data(f.data, "featureData");
}

Result<fv::RepoRange> make_range(uint32_t id0_min, uint32_t id0_max, uint32_t id1_min,
                                 uint32_t id1_max) {
  ANYNPU_TRY(check_ids(id0_min, id0_max, "id0"));
  ANYNPU_TRY(check_ids(id1_min, id1_max, "id1"));
  return fv::RepoRange{id0_min, id0_max, id1_min, id1_max};
}

Status check_query_table(const FvQueryTable& t) {
  if (t.count == 0 || t.length != fv::kTableBytes || uint64_t{t.count} * t.length != t.bytes) {
    return fail(Code::invalid_argument,
                "{} tables of {} bytes in {} bytes; expected at least one of {} bytes each",
                t.count, t.length, t.bytes, fv::kTableBytes);
  }
  return check_data(t.data, "tableData");
}

Result<FvSearchInput> make_search_input(Handle table, Handle range, uint32_t top) {
  ANYNPU_ASSIGN(const auto queries, read_object<FvQueryTable>(table));
  ANYNPU_ASSIGN(const auto repositories, read_object<fv::RepoRange>(range));
  if (top == 0) return fail(Code::invalid_argument, "topk is 0; expected at least 1");
  return FvSearchInput{queries, repositories, top};
}

Status check_search_result(const FvSearchResult& r) {
  for (const void* pointer : {static_cast<const void*>(r.numbers), static_cast<const void*>(r.id0),
                              static_cast<const void*>(r.id1), static_cast<const void*>(r.offset),
                              static_cast<const void*>(r.distance)}) {
    ANYNPU_TRY(check_data(pointer, "a buffer of the result"));
  }
  if (r.queries == 0 || r.number_bytes < r.queries * sizeof(uint32_t) || r.bytes == 0) {
    return fail(Code::invalid_argument,
                "queryCnt, resultNumDataLen and dataLen are {}, {} and {}; expected 4 bytes "
                "for each query, and room for hits",
                r.queries, r.number_bytes, r.bytes);
  }
  return {};
}

Status start_retrieval(Handle handle) {
  ANYNPU_TRY(check_chip());
  ANYNPU_ASSIGN(const auto para, read_object<FvInitPara>(handle));
  ANYNPU_TRY(device::Runtime::instance().current().status());
  if (state().on) {
    return fail(Code::bad_call_order, "retrieval is initialised already; call aclfvRelease first");
  }
  on_finalize(release);
  state().para = para;
  state().one_to_many.set_limit(para.features);
  state().many_to_many.set_limit(para.features);
  state().on = true;
  return {};
}

Status stop_retrieval() {
  ANYNPU_TRY(check_on());
  release();
  return {};
}

Status add_features(int kind, Handle handle) {
  ANYNPU_TRY(check_search(kind));
  ANYNPU_ASSIGN(const auto features, read_object<FvFeatures>(handle));
  return with_features(features, [&](std::span<const std::byte> bytes) {
    return state().of(kind).add(features.repo, features.offset, bytes);
  });
}

Status remove_repositories(int kind, Handle handle) {
  ANYNPU_TRY(check_search(kind));
  ANYNPU_ASSIGN(const auto range, read_object<fv::RepoRange>(handle));
  return state().of(kind).remove_range(range);
}

Status remove_features(Handle handle) {
  ANYNPU_TRY(check_on());
  ANYNPU_ASSIGN(const auto f, read_object<FvFeatures>(handle));
  return holder_of(f.repo).remove(f.repo, f.offset, f.count);
}

Status modify_features(Handle handle) {
  ANYNPU_TRY(check_on());
  ANYNPU_ASSIGN(const auto f, read_object<FvFeatures>(handle));
  return with_features(f, [&](std::span<const std::byte> bytes) {
    return holder_of(f.repo).modify(f.repo, f.offset, bytes);
  });
}

Status search_features(int kind, Handle input_handle, Handle result_handle) {
  ANYNPU_TRY(check_search(kind));
  ANYNPU_ASSIGN(const auto input, read_object<FvSearchInput>(input_handle));
  ANYNPU_ASSIGN(const auto result, read_object<FvSearchResult>(result_handle));
  return search(kind, input, result);
}

}  // namespace anynpu::service
