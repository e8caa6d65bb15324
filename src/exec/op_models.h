// SPDX-License-Identifier: Apache-2.0
// OpModels: the models of single operators that a process has loaded or compiled, found by
// operator, tensors and attributes. Compiled ones are an LRU cache; loaded ones stay.
// Thread-safe; a model that was found stays valid while it is held.
#pragma once

#include <atomic>
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

namespace anynpu::singleop {
struct VendorOp;
}

namespace anynpu::exec {

class OpModel {
 public:
  // Planned for the device of `options`; plans for other devices are made on demand.
  static Result<std::shared_ptr<OpModel>> load(om::Model model, const LoadOptions& options = {});

  const singleop::SingleOp& op() const { return op_; }
  // The output's shape depends on values: run_values() instead of a plan.
  bool sized_by_values() const { return planned_.shaped == nullptr; }
  // The inputs that a run receives: neither left out nor constant.
  const std::vector<size_t>& fed_inputs() const { return fed_; }
  // Plans of the CPU read the inputs that the operator writes before they write them: an output may
  // lie in the memory of the input whose new value it is.
  bool works_in_place() const { return in_place_; }

  // The plan for these shapes of the fed inputs on `device`; null: with the kernels of the CPU.
  Result<std::shared_ptr<LoadedModel>> plan_for(
      std::span<const Shape> shapes, const std::shared_ptr<device::Device>& device = nullptr) const;

  // Runs synchronously; `shapes` receives the output shapes. Fails if a buffer is too small.
  Status run_values(std::span<const Buffer> inputs, std::span<const Shape> input_shapes,
                    std::span<const Buffer> outputs, std::vector<Shape>& shapes) const;

 private:
  void tile(const singleop::VendorOp& row);
  // What is planned for a target.
  const std::shared_ptr<const om::Model>& model_for(const ops::Target& target) const;

  singleop::SingleOp op_;
  std::shared_ptr<const om::Model> source_;
  std::shared_ptr<const om::Model> tiled_;  // for the CPU; null: source_
  bool in_place_ = false;
  struct Planned {
    const device::Device* owner = nullptr;  // plan_owner(): null for plans of the host
    std::shared_ptr<ShapedModel> shaped;
  };
  Result<std::shared_ptr<ShapedModel>> for_device(
      const std::shared_ptr<device::Device>& device) const;

  Planned planned_;  // for the device it was loaded for
  std::shared_ptr<StepObserver> observer_;
  mutable std::mutex mutex_;             // guards others_
  mutable std::vector<Planned> others_;  // for other devices that ran it
  std::vector<size_t> fed_;
  std::vector<size_t> made_;  // the outputs of the description that the graph makes
};

class OpModels {
 public:
  static OpModels& instance();

  enum class Origin { loaded, compiled };
  Status add(om::Model model, Origin origin);
  // The model for `op`: with exactly these shapes, else one whose ranges contain them. Fails with
  // unsupported_op and a list of what exists instead.
  Result<std::shared_ptr<OpModel>> find(const singleop::SingleOp& op);
  // Compiles `op` if it is not found.
  Result<std::shared_ptr<OpModel>> find_or_compile(const singleop::SingleOp& op);

  void set_limit(uint64_t most);
  // The source of the device and observer for newly loaded operators.
  void set_options_source(LoadOptions (*source)()) { source_ = source; }
  size_t size() const;
  void clear();

 private:
  struct CachedOp {
    std::string key;
    std::shared_ptr<OpModel> model;
    Origin origin;
  };
  using Position = std::list<CachedOp>::iterator;
  std::shared_ptr<OpModel> find_now(const singleop::SingleOp& op);
  void drop_oldest();

  mutable std::mutex mutex_;
  std::list<CachedOp> entries_;  // the last used one first
  std::unordered_map<std::string, Position> by_key_;
  std::multimap<std::string, Position> by_family_;  // those with dynamic shapes
  std::atomic<LoadOptions (*)()> source_{nullptr};
  uint64_t most_ = 20000;
  size_t compiled_ = 0;
};

}  // namespace anynpu::exec
