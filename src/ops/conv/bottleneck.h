// SPDX-License-Identifier: Apache-2.0
// The inverted bottleneck of mobile networks as one operator: a convolution that expands the
// channels (optional), a depthwise one, and one that projects them to fewer, each with the
// attributes and the activation of FusedConv; Z is added to the result. Intermediate values are
// rounded to the type of the tensors, as in separate operators.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "ops/kernel.h"

namespace anynpu::ops::conv {

// Inputs of the operator.
constexpr size_t kBlockInput = 0, kBlockResidual = 7;
constexpr int kNoInput = -1;

// Attributes of a stage; the names are prefixed with the stage and an underscore.
inline constexpr std::array<std::string_view, 8> kStageAttrs = {
    "auto_pad", "dilations",  "kernel_shape",   "pads",
    "strides",  "activation", "activation_min", "activation_max"};

struct BottleneckStage {
  std::string_view name;
  int weight, bias, residual;  // inputs of the operator
  bool depthwise = false;

  std::string attr(std::string_view attr) const {
    return std::string(name) + "_" + std::string(attr);
  }
};
inline constexpr std::array<BottleneckStage, 3> kBottleneckStages = {
    {{"expand", 1, 2, kNoInput},
     {"depthwise", 3, 4, kNoInput, true},
     {"project", 5, 6, static_cast<int>(kBlockResidual)}}};

// One stage as a FusedConv of its own.
struct StageConv {
  const BottleneckStage* stage = nullptr;
  std::unique_ptr<graph::Node> node;
  OpContext context;

  // The input of the operator that input `index` of the FusedConv is; kNoInput: the result of the
  // stage before, or none.
  int input(size_t index) const {
    return std::array{kNoInput, stage->weight, stage->bias, stage->residual}[index];
  }
};

// The existing stages in order, with the shapes between them. Fails if they do not fit
// together.
Result<std::vector<StageConv>> stages_of(const OpContext& context);

}  // namespace anynpu::ops::conv
