// SPDX-License-Identifier: Apache-2.0
// OpModels: the models of single operators that a process has loaded or compiled, found by what
// they compute. Compiled ones age out beyond the limit, the least used first; loaded ones stay.
// Thread-safe; a model that was found stays valid while it is held.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/shaped_model.h"
#include "import/singleop/op.h"

namespace anynpu::exec {

class OpModel {
 public:
  // `observer` may be null.
  static Result<std::shared_ptr<OpModel>> load(om::Model model,
                                               std::shared_ptr<StepObserver> observer = nullptr);

  const singleop::SingleOp& op() const { return op_; }
  // The output's shape is known only with the values: run_values() instead of a plan.
  bool sized_by_values() const { return shaped_ == nullptr; }
  // The inputs of the operator that a run is given: neither left out nor constant.
  const std::vector<size_t>& fed_inputs() const { return fed_; }

  // The plan for these shapes of the fed inputs.
  Result<std::shared_ptr<LoadedModel>> plan_for(std::span<const Shape> shapes) const;

  // Evaluates now; `shapes` receives what came out. Fails when an output has too little room.
  Status run_values(std::span<const Buffer> inputs, std::span<const Shape> input_shapes,
                    std::span<const Buffer> outputs, std::vector<Shape>& shapes) const;

 private:
  singleop::SingleOp op_;
  std::shared_ptr<const om::Model> source_;
  std::shared_ptr<ShapedModel> shaped_;
  std::vector<size_t> fed_;
  std::vector<size_t> made_;  // the outputs of the description that the graph makes
};

class OpModels {
 public:
  static OpModels& instance();

  enum class Origin { loaded, compiled };
  Status add(om::Model model, Origin origin);
  // The model for `op`: of exactly these shapes, else one whose ranges hold them. Fails with
  // unsupported_op and what is there instead.
  Result<std::shared_ptr<OpModel>> find(const singleop::SingleOp& op);
  // Compiles `op` unless it is there.
  Result<std::shared_ptr<OpModel>> find_or_compile(const singleop::SingleOp& op);

  void set_limit(uint64_t most);
  // Watches the operators that are added from now on; null ends it.
  void set_observer(std::shared_ptr<StepObserver> observer);
  size_t size() const;
  void clear();

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<OpModel> model;
    Origin origin;
  };
  using Position = std::list<Entry>::iterator;
  std::shared_ptr<OpModel> find_now(const singleop::SingleOp& op);
  void drop_oldest();

  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the last used one first
  std::unordered_map<std::string, Position> by_key_;
  std::multimap<std::string, Position> by_family_;  // those with open extents
  std::shared_ptr<StepObserver> observer_;
  uint64_t most_ = 20000;
  size_t compiled_ = 0;
};

}  // namespace anynpu::exec
