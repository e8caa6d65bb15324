// SPDX-License-Identifier: Apache-2.0
// ShapedModel: an offline model with the plans for its shapes. A model with fixed shapes has one
// plan; one with gears has a plan per gear, made at load time; one with ranges gets a plan for each
// new set of shapes and keeps the kMostPlans used last. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/read_mostly.h"
#include "exec/model.h"
#include "exec/weight_pool.h"
#include "om/model.h"

namespace anynpu::exec {

class ShapedModel {
 public:
  static constexpr size_t kMostPlans = 16;

  // With gears, the caller's weight memory holds the weights of all gears (shared ones once),
  // and the work memory that of the largest. Memory of the caller is refused for a model with
  // ranges.
  static Result<std::shared_ptr<ShapedModel>> load(std::shared_ptr<const om::Model> model,
                                                   const LoadOptions& options = {});
  // What load() will use; unsupported_shape for a model with ranges, whose sizes are unknown.
  static Result<Sizes> query(const om::Model& model,
                             const ops::Target& target = ops::Target::host());

  // The memory it holds, including the caller's; nothing for a model with ranges, whose plans are
  // created and dropped at run time.
  Sizes sizes() const { return LoadedModel::sizes_of(gears_); }

  bool has_ranges() const { return ranged_; }
  // The gear with the largest inputs, the default; 0 without gears.
  size_t largest_gear() const { return largest_; }
  // Of a model without ranges.
  LoadedModel& gear(size_t index) const { return *gears_[index]; }
  // The plan of a model with neither gears nor ranges.
  const std::shared_ptr<LoadedModel>& only() const { return gears_[0]; }
  // For a model with ranges: whether these shapes of its data inputs are within them.
  Status check_shapes(std::span<const Shape> shapes) const;
  // The plan for such shapes, made now if it is new. Fails as check_shapes() does, and when they do
  // not fit the model.
  Result<std::shared_ptr<LoadedModel>> for_shapes(std::span<const Shape> shapes);

  // Serializes runs that share the caller's work memory; unused otherwise.
  std::mutex& work_turn() { return work_turn_; }
  bool shares_work() const { return shares_work_; }

 private:
  struct ShapedPlan {
    std::vector<Shape> shapes;
    std::shared_ptr<LoadedModel> plan;
    std::atomic<uint64_t> used;  // the larger, the later
  };
  // Without a lock; null when there is no plan for these shapes.
  std::shared_ptr<LoadedModel> find(std::span<const Shape> shapes);

  std::shared_ptr<const om::Model> model_;
  LoadOptions options_;  // of a model with ranges
  std::vector<std::shared_ptr<LoadedModel>> gears_;
  size_t largest_ = 0;
  bool ranged_ = false;
  bool shares_work_ = false;
  std::mutex work_turn_;
  std::mutex planning_;                  // guards weights_; held while a plan is made
  std::unique_ptr<WeightPool> weights_;  // of a model with ranges
  ReadMostly<std::vector<std::shared_ptr<ShapedPlan>>> recent_;
  std::atomic<uint64_t> uses_{0};
};

}  // namespace anynpu::exec
