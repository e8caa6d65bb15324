// SPDX-License-Identifier: Apache-2.0
#include "service/aclnn/plan_cache.h"

#include <cstring>

namespace anynpu::service {

bool NnPlan::fits(std::span<const aclnn::Scalar> values) const {
  for (const aclnn::ReadValue& read : read_values) {
    if (!read.fits(values[read.place])) return false;
  }
  return true;
}

void NnKey::add_bytes(const void* data, size_t bytes) {
  words_.push_back(bytes);
  const auto* from = static_cast<const char*>(data);
  for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, from + i, std::min(sizeof(word), bytes - i));
    words_.push_back(word);
  }
}

uint64_t NnKey::hash() const {
  // Multiply and fold, as hash functions of the wyhash kind do.
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (uint64_t word : words_) {
    const auto product = static_cast<unsigned __int128>(hash ^ word) * 0xd6e8feb86659fd93;
    hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  return hash;
}

NnPlanCache& NnPlanCache::instance() {
  static NnPlanCache& cache = *new NnPlanCache;
  return cache;
}

std::shared_ptr<const NnPlan> NnPlanCache::find(const NnKey& key,
                                                std::span<const aclnn::Scalar> values) {
  const uint64_t hash = key.hash();
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto found = begin; found != end; ++found) {
    const auto entry = found->second;
    if (entry->key != key.words() || !entry->plan->fits(values)) continue;
    if (entry != entries_.begin()) entries_.splice(entries_.begin(), entries_, entry);
    return entry->plan;
  }
  return nullptr;
}

void NnPlanCache::add(const NnKey& key, std::shared_ptr<const NnPlan> plan) {
  const uint64_t hash = key.hash();
  std::shared_ptr<const NnPlan> gone;  // let go of without the lock
  const std::lock_guard lock(mutex_);
  entries_.push_front({hash, key.words(), std::move(plan)});
  by_hash_.emplace(hash, entries_.begin());
  if (entries_.size() <= kMost) return;
  const auto oldest = std::prev(entries_.end());
  const auto [begin, end] = by_hash_.equal_range(oldest->hash);
  for (auto found = begin; found != end; ++found) {
    if (found->second != oldest) continue;
    by_hash_.erase(found);
    break;
  }
  gone = std::move(oldest->plan);
  entries_.pop_back();
}

size_t NnPlanCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void NnPlanCache::clear() {
  std::list<CachedPlan> gone;
  const std::lock_guard lock(mutex_);
  gone.swap(entries_);
  by_hash_.clear();
}

}  // namespace anynpu::service
