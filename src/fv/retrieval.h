// SPDX-License-Identifier: Apache-2.0
// Retrieval of short features (guide 7.13). A feature is 36 bytes: 32 codes and 4 bytes that are
// only stored. A query has 32 tables of 256 distances; the distance of a feature is the sum of the
// values that its codes select. The nearest come first, equal distances in order of (id0, id1,
// offset). Thread-safe: searches run concurrently, changes exclusively.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <span>
#include <vector>

#include "base/result.h"

namespace anynpu::fv {

constexpr size_t kFeatureBytes = 36;
constexpr size_t kCodes = 32;
constexpr size_t kTableFloats = kCodes * 256;
constexpr size_t kTableBytes = kTableFloats * sizeof(float);  // 32 KiB a query
constexpr uint32_t kMaxId = 1023;

struct RepoId {
  uint32_t id0 = 0, id1 = 0;
  auto operator<=>(const RepoId&) const = default;
};

struct RepoRange {
  uint32_t id0_min = 0, id0_max = 0, id1_min = 0, id1_max = 0;
};

struct Hit {
  float distance;
  RepoId repo;
  uint32_t offset;
};

// What one kind of search (1:N or M:N) looks through.
class Repositories {
 public:
  void set_limit(uint64_t most);

  // Appends; `offset` must be the number of features that the repository has had so far.
  Status add(RepoId id, uint32_t offset, std::span<const std::byte> features);
  // Replaces features from `offset` on, or removes them; the offsets of others stay.
  Status modify(RepoId id, uint32_t offset, std::span<const std::byte> features);
  Status remove(RepoId id, uint32_t offset, uint32_t count);
  // Repositories of a range, whole. Fails when there is none.
  Status remove_range(const RepoRange& range);
  bool has(RepoId id) const;
  void clear();
  uint64_t size() const;

  // The `most` nearest features to one query.
  std::vector<Hit> search(const float* table, const RepoRange& range, uint32_t most) const;

 private:
  struct Repository {
    std::vector<std::array<uint8_t, kCodes>> codes;
    std::vector<std::array<std::byte, kFeatureBytes - kCodes>> tails;
    std::vector<bool> gone;
    size_t taken = 0;  // of `gone`
  };
  Result<Repository*> find(RepoId id, uint32_t offset, size_t count, const char* what);

  mutable std::shared_mutex mutex_;
  std::map<RepoId, Repository> repos_;
  uint64_t most_ = 0, count_ = 0;
};

}  // namespace anynpu::fv
