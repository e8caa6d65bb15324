// SPDX-License-Identifier: Apache-2.0
// A model ready to run: what the front doors hold. Made from an offline model by the plan for the
// present device; sizes that query() names are the ones load() uses. run() may be called from any
// number of threads at a time: each execution takes an arena of its own from a pool, except where
// the caller gave the working memory, where executions queue. No allocation, lock or name lookup of
// ours per run once the pool is warm.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "om/model.h"

namespace anynpu::exec {

struct MemorySizes {
  size_t work = 0;     // one execution's arena and scratch memory
  size_t weights = 0;  // packed weights
};

// Memory of the caller to be used instead of our own; null = ours. Each must be 64-byte aligned,
// at least as large as query() says, and outlive the model.
struct CallerMemory {
  std::byte* work = nullptr;
  size_t work_size = 0;
  std::byte* weights = nullptr;
  size_t weights_size = 0;
};

class LoadedModel {
 public:
  // Fails when an operator has no kernel, memory is short, or the caller's memory is too small.
  static Result<std::shared_ptr<LoadedModel>> load(om::Model model, const CallerMemory& memory = {});
  static Result<MemorySizes> query(const om::Model& model);

  virtual ~LoadedModel() = default;

  // Names, types and sizes; lives on after the model when it is held.
  const std::shared_ptr<const om::Meta>& meta() const { return meta_; }

  // One execution in the calling thread (which recruits helpers of the pool). inputs and outputs
  // have one address per entry of meta(), checked by the caller to hold the described sizes; they
  // need no alignment.
  virtual Status run(std::span<const std::byte* const> inputs,
                     std::span<std::byte* const> outputs) = 0;

 protected:
  explicit LoadedModel(std::shared_ptr<const om::Meta> meta) : meta_(std::move(meta)) {}

 private:
  std::shared_ptr<const om::Meta> meta_;
};

}  // namespace anynpu::exec
