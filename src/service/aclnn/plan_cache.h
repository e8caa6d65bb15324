// SPDX-License-Identifier: Apache-2.0
// Cached plans of aclnn calls. The key is everything that a plan depends on: operator, types,
// shapes, strides, attributes, which tensors share memory. Scalar values are not in the key: an
// entry lists those that its recipe read, and matches calls with the same values. LRU.
// Thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "aclnn/recipe.h"
#include "exec/model.h"

namespace anynpu::service {

// A plan that can be run any number of times.
struct NnPlan {
  struct Part {
    std::shared_ptr<exec::LoadedModel> model;
    std::vector<aclnn::Feed> inputs, outputs;
    bool dynamic_shape = false;  // an output has a data-dependent shape
    size_t work_bytes = 0;
    std::vector<aclnn::Transfer> transfers;  // between ranks, behind the graph
  };
  // A tensor or list among the parameters: where its tensors are among all of the call.
  struct TensorParameter {
    uint32_t first = 0, count = 1;
    char side = 'i';  // i input, o output, b both
  };
  std::shared_ptr<device::Device> device;  // whose kernels it has; null: of the CPU
  std::vector<TensorParameter> tensor_parameters;
  std::vector<Part> parts;
  std::vector<aclnn::ReadValue> read_values;
  size_t work_bytes = 0;
  size_t shared_at = 0;  // in the workspace: memory that parts have in common
  size_t feeds = 0;      // inputs and outputs of all parts

  bool fits(std::span<const aclnn::Scalar> values) const;
};

// The words of a key, stored inline for calls of usual size.
class NnKey {
 public:
  void add(uint64_t word) { words_.push_back(word); }
  void add(std::span<const int64_t> list) {
    words_.push_back(list.size());
    words_.insert(words_.end(), list.begin(), list.end());
  }
  void add_bytes(const void* data, size_t bytes);
  void clear() { words_.clear(); }
  const std::vector<uint64_t>& words() const { return words_; }
  uint64_t hash() const;

 private:
  std::vector<uint64_t> words_;
};

class NnPlanCache {
 public:
  static NnPlanCache& instance();

  // Null when the call is new.
  std::shared_ptr<const NnPlan> find(const NnKey& key, std::span<const aclnn::Scalar> values);
  void add(const NnKey& key, std::shared_ptr<const NnPlan> plan);
  size_t size() const;
  void clear();

  static constexpr size_t kMost = 16384;

 private:
  struct CachedPlan {
    uint64_t hash;
    std::vector<uint64_t> key;
    std::shared_ptr<const NnPlan> plan;
  };
  mutable std::mutex mutex_;
  std::list<CachedPlan> entries_;  // the last used one first
  std::unordered_multimap<uint64_t, std::list<CachedPlan>::iterator> by_hash_;
};

}  // namespace anynpu::service
