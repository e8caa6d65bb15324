// SPDX-License-Identifier: Apache-2.0
#include "exec/shaped_model.h"

#include <algorithm>

#include "compile/aipp_config.h"
#include "compile/gears.h"
#include "compile/specialise.h"

namespace anynpu::exec {

namespace {

Result<std::vector<graph::Graph>> gear_graphs(const om::Model& model) {
  std::vector<graph::Graph> graphs;
  for (const auto& gear : model.meta.gears) {
    ANYNPU_ASSIGN(const auto shapes, compile::gear_shapes(model.graph, model.meta.gear_kind, gear));
    ANYNPU_ASSIGN(graph::Graph fixed, compile::specialise(model.graph, shapes, model.meta),
                  "in the gear {}", to_string(gear));
    graphs.push_back(std::move(fixed));
  }
  return graphs;
}

Status check_range(const om::TensorInfo& info, const Shape& shape) {
  bool good = shape.size() == info.shape.size();
  for (size_t i = 0; good && i < shape.size(); ++i) {
    const om::Range range =
        info.ranges.empty() ? om::Range{info.shape[i], info.shape[i]} : info.ranges[i];
    good = shape[i] >= range.first && (range.second < 0 || shape[i] <= range.second);
  }
  if (good) return {};
  std::string ranges;
  for (const auto& [low, high] : info.ranges) {
    ranges += format("{}{}~{}", ranges.empty() ? "" : ",", low,
                     high < 0 ? std::string() : std::to_string(high));
  }
  return fail(Code::unsupported_shape,
              "input '{}' is given the shape {}; the model was compiled for {}", info.name,
              to_string(shape), ranges.empty() ? to_string(info.shape) : "[" + ranges + "]");
}

}  // namespace

Result<std::shared_ptr<ShapedModel>> ShapedModel::load(std::shared_ptr<const om::Model> model,
                                                       const LoadOptions& options) {
  auto shaped = std::make_shared<ShapedModel>();
  shaped->shares_work_ = options.work_memory != nullptr;
  if (model->meta.has_ranges()) {
    if (options.work_memory || options.weight_memory) {
      return fail(Code::unsupported_shape,
                  "the model '{}' has inputs whose shape comes at run time, so the memory it needs "
                  "is not known; load it without memory of your own",
                  model->meta.name);
    }
    shaped->ranged_ = true;
    shaped->options_ = options;
    shaped->weights_ = std::make_unique<WeightPool>(&model->graph);
    shaped->model_ = std::move(model);
    return shaped;
  }
  if (!model->meta.has_gears()) {
    ANYNPU_ASSIGN(auto plan, LoadedModel::load(std::move(model), options));
    shaped->gears_.push_back(std::move(plan));
    return shaped;
  }
  ANYNPU_ASSIGN(const auto graphs, gear_graphs(*model));
  WeightPool weights(&model->graph);
  ANYNPU_ASSIGN(shaped->gears_, LoadedModel::load_all(graphs, weights, options));
  ANYNPU_ASSIGN(shaped->largest_,
                compile::largest_gear(model->graph, model->meta.gear_kind, model->meta.gears));
  return shaped;
}

Result<Sizes> ShapedModel::query(const om::Model& model, const ops::Target& target) {
  if (model.meta.has_ranges()) {
    return fail(
        Code::unsupported_shape,
        "the model '{}' has inputs whose shape comes at run time, so the memory it needs is "
        "not known; load it without memory of your own",
        model.meta.name);
  }
  if (!model.meta.has_gears()) return LoadedModel::query(model.graph, target);
  ANYNPU_ASSIGN(const auto graphs, gear_graphs(model));
  WeightPool weights(&model.graph);
  return LoadedModel::query_all(graphs, weights, target);
}

std::shared_ptr<LoadedModel> ShapedModel::find(std::span<const Shape> shapes) {
  const auto recent = recent_.read();
  for (const std::shared_ptr<ShapedPlan>& entry : *recent) {
    if (!std::equal(shapes.begin(), shapes.end(), entry->shapes.begin(), entry->shapes.end()))
      continue;
    entry->used.store(uses_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
    return entry->plan;
  }
  return nullptr;
}

Status ShapedModel::check_shapes(std::span<const Shape> shapes) const {
  for (size_t i = 0; i < shapes.size(); ++i) {
    ANYNPU_TRY(check_range(model_->meta.inputs[i], shapes[i]));
  }
  return {};
}

Result<std::shared_ptr<LoadedModel>> ShapedModel::for_shapes(std::span<const Shape> shapes) {
  if (auto plan = find(shapes)) return plan;
  ANYNPU_TRY(check_shapes(shapes));
  std::vector<Shape> inner(shapes.begin(), shapes.end());
  for (const om::Aipp& aipp : model_->meta.aipp) {
    if (aipp.input < inner.size())
      inner[aipp.input] = compile::behind_aipp(aipp, inner[aipp.input]);
  }
  const std::lock_guard planning(planning_);
  if (auto plan = find(shapes)) return plan;  // made meanwhile
  ANYNPU_ASSIGN(const graph::Graph fixed, compile::specialise(model_->graph, inner, model_->meta));
  ANYNPU_ASSIGN(const auto made, LoadedModel::load_all({&fixed, 1}, *weights_, options_));
  auto entry = std::make_shared<ShapedPlan>();
  entry->shapes.assign(shapes.begin(), shapes.end());
  entry->plan = made[0];
  entry->used = uses_.fetch_add(1, std::memory_order_relaxed);
  recent_.change([&](std::vector<std::shared_ptr<ShapedPlan>>& recent) {
    if (recent.size() == kMostPlans) {
      recent.erase(std::min_element(recent.begin(), recent.end(), [](const auto& a, const auto& b) {
        return a->used.load() < b->used.load();
      }));
    }
    recent.push_back(std::move(entry));
  });
  return made[0];
}

}  // namespace anynpu::exec
