// SPDX-License-Identifier: Apache-2.0
#include "fv/retrieval.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/thread_pool.h"

namespace anynpu::fv {

namespace {

constexpr size_t kChunk = 16384;  // features of one task

bool before(const Hit& a, const Hit& b) {
  if (a.distance != b.distance) return a.distance < b.distance;
  return std::tie(a.repo, a.offset) < std::tie(b.repo, b.offset);
}

// The best hits so far: a heap whose top is the worst of them.
class Best {
 public:
  explicit Best(size_t most) : most_(most) { hits_.reserve(most); }
  float limit() const {
    return hits_.size() < most_ ? std::numeric_limits<float>::infinity() : hits_[0].distance;
  }
  void offer(const Hit& hit) {
    if (hits_.size() < most_) {
      hits_.push_back(hit);
      std::push_heap(hits_.begin(), hits_.end(), before);
      return;
    }
    if (!before(hit, hits_[0])) return;
    std::pop_heap(hits_.begin(), hits_.end(), before);
    hits_.back() = hit;
    std::push_heap(hits_.begin(), hits_.end(), before);
  }
  std::vector<Hit> take() { return std::move(hits_); }

 private:
  size_t most_;
  std::vector<Hit> hits_;
};

// A query: its tables and the least that the codes from half and three quarters on can add.
struct Query {
  const float* table;
  float rest_half = 0, rest_quarter = 0;

  explicit Query(const float* t) : table(t) {
    for (size_t s = 16; s < kCodes; ++s) {
      const float least = *std::min_element(t + s * 256, t + s * 256 + 256);
      rest_half += least;
      if (s >= 24) rest_quarter += least;
    }
  }

  template <size_t first, size_t count>
  float part(const uint8_t* code) const {
    float a = 0, b = 0, c = 0, d = 0;
    for (size_t s = first; s < first + count; s += 8) {
      uint64_t w;
      std::memcpy(&w, code + s, 8);
      const float* t = table + s * 256;
      a += t[w & 255];
      b += t[256 + (w >> 8 & 255)];
      c += t[512 + (w >> 16 & 255)];
      d += t[768 + (w >> 24 & 255)];
      a += t[1024 + (w >> 32 & 255)];
      b += t[1280 + (w >> 40 & 255)];
      c += t[1536 + (w >> 48 & 255)];
      d += t[1792 + (w >> 56)];
    }
    return (a + b) + (c + d);
  }

  // The distance, or infinity as soon as it is sure to be above the limit. The sums of the parts
  // are always taken the same way, so equal features have equal distances.
  float distance(const uint8_t* code, float limit) const {
    const float half = part<0, 16>(code);
    if (half + rest_half > limit) return std::numeric_limits<float>::infinity();
    const float more = half + part<16, 8>(code);
    if (more + rest_quarter > limit) return std::numeric_limits<float>::infinity();
    return more + part<24, 8>(code);
  }
};

// Sums in another order round differently: what is dropped early must be clearly worse.
float loosened(float limit) { return limit + std::abs(limit) * 1e-5f + 1e-30f; }

}  // namespace

void Repositories::set_limit(uint64_t most) {
  const std::unique_lock lock(mutex_);
  most_ = most;
}

Status Repositories::add(RepoId id, uint32_t offset, std::span<const std::byte> features) {
  const std::unique_lock lock(mutex_);
  const size_t count = features.size() / kFeatureBytes;
  const auto found = repos_.find(id);
  const size_t there = found == repos_.end() ? 0 : found->second.codes.size();
  if (offset != there) {
    return fail(Code::invalid_argument,
                "features are added to repository ({}, {}) at offset {}, it has {}; expected that "
                "number as offset",
                id.id0, id.id1, offset, there);
  }
  if (count_ + count > most_) {
    return fail(Code::limit_exceeded,
                "{} features are there and {} are added, aclfvInit was told of at most {}", count_,
                count, most_);
  }
  Repository& repo = repos_[id];
  repo.codes.resize(there + count);
  repo.tails.resize(there + count);
  repo.gone.resize(there + count, false);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(repo.codes[there + i].data(), features.data() + i * kFeatureBytes, kCodes);
    std::memcpy(repo.tails[there + i].data(), features.data() + i * kFeatureBytes + kCodes,
                kFeatureBytes - kCodes);
  }
  count_ += count;
  return {};
}

Result<Repositories::Repository*> Repositories::find(RepoId id, uint32_t offset, size_t count,
                                                     const char* what) {
  const auto found = repos_.find(id);
  if (found == repos_.end()) {
    return fail(Code::invalid_argument, "repository ({}, {}) does not exist; {} needs one", id.id0,
                id.id1, what);
  }
  if (offset + count > found->second.codes.size()) {
    return fail(Code::invalid_argument,
                "{} of {} features from offset {}: repository ({}, {}) has {}", what, count, offset,
                id.id0, id.id1, found->second.codes.size());
  }
  return &found->second;
}

Status Repositories::modify(RepoId id, uint32_t offset, std::span<const std::byte> features) {
  const std::unique_lock lock(mutex_);
  const size_t count = features.size() / kFeatureBytes;
  ANYNPU_ASSIGN(Repository * repo, find(id, offset, count, "a change"));
  for (size_t i = 0; i < count; ++i) {
    if (repo->gone[offset + i]) --repo->taken;
    repo->gone[offset + i] = false;
    std::memcpy(repo->codes[offset + i].data(), features.data() + i * kFeatureBytes, kCodes);
    std::memcpy(repo->tails[offset + i].data(), features.data() + i * kFeatureBytes + kCodes,
                kFeatureBytes - kCodes);
  }
  return {};
}

Status Repositories::remove(RepoId id, uint32_t offset, uint32_t count) {
  const std::unique_lock lock(mutex_);
  ANYNPU_ASSIGN(Repository * repo, find(id, offset, count, "a removal"));
  for (size_t i = offset; i < offset + count; ++i) {
    repo->taken += !repo->gone[i];
    repo->gone[i] = true;
  }
  return {};
}

Status Repositories::remove_range(const RepoRange& range) {
  const std::unique_lock lock(mutex_);
  size_t removed = 0;
  for (auto at = repos_.begin(); at != repos_.end();) {
    const RepoId& id = at->first;
    const bool inside = id.id0 >= range.id0_min && id.id0 <= range.id0_max &&
                        id.id1 >= range.id1_min && id.id1 <= range.id1_max;
    if (!inside) {
      ++at;
      continue;
    }
    count_ -= at->second.codes.size();
    at = repos_.erase(at);
    ++removed;
  }
  if (removed > 0) return {};
  return fail(Code::invalid_argument, "no repository lies in ({}..{}, {}..{})", range.id0_min,
              range.id0_max, range.id1_min, range.id1_max);
}

bool Repositories::has(RepoId id) const {
  const std::shared_lock lock(mutex_);
  return repos_.count(id) > 0;
}

void Repositories::clear() {
  const std::unique_lock lock(mutex_);
  repos_.clear();
  count_ = 0;
}

uint64_t Repositories::size() const {
  const std::shared_lock lock(mutex_);
  return count_;
}

std::vector<Hit> Repositories::search(const float* table, const RepoRange& range,
                                      uint32_t most) const {
  if (most == 0) return {};
  const std::shared_lock lock(mutex_);
  struct Part {
    const RepoId* id;
    const Repository* repo;
    size_t first, end;
  };
  std::vector<Part> parts;
  for (const auto& [id, repo] : repos_) {
    if (id.id0 < range.id0_min || id.id0 > range.id0_max || id.id1 < range.id1_min ||
        id.id1 > range.id1_max)
      continue;
    for (size_t first = 0; first < repo.codes.size(); first += kChunk)
      parts.push_back({&id, &repo, first, std::min(first + kChunk, repo.codes.size())});
  }
  const Query query(table);
  Best all(most);
  std::mutex mutex;
  ThreadPool::instance().parallel_for(parts.size(), 1, [&](size_t begin, size_t end) {
    Best best(most);
    for (size_t p = begin; p < end; ++p) {
      const Part& part = parts[p];
      float limit = loosened(best.limit());
      for (size_t i = part.first; i < part.end; ++i) {
        const float distance = query.distance(part.repo->codes[i].data(), limit);
        if (!std::isfinite(distance) || distance > limit ||
            (part.repo->taken > 0 && part.repo->gone[i]))
          continue;
        best.offer({distance, *part.id, static_cast<uint32_t>(i)});
        limit = loosened(best.limit());
      }
    }
    const std::lock_guard merge(mutex);
    for (const Hit& hit : best.take()) all.offer(hit);
  });
  std::vector<Hit> hits = all.take();
  std::sort(hits.begin(), hits.end(), before);
  return hits;
}

}  // namespace anynpu::fv
