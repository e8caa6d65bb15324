// SPDX-License-Identifier: Apache-2.0
// Which passes of the compiler run: the grammar of --fusion_switch_file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace anynpu::compile {

// Passes that can be switched off, by our names: those that make results differ by a rounding.
constexpr std::string_view kFoldBatchNorm = "fold_batch_norm";
constexpr std::string_view kFuseConv = "fuse_conv";
constexpr std::string_view kFuseBottleneck = "fuse_bottleneck";
constexpr std::string_view kFuseLayerNorm = "fuse_layer_norm";
constexpr std::string_view kFuseGelu = "fuse_gelu";
constexpr std::string_view kFuseSwish = "fuse_swish";
constexpr std::string_view kFuseAttention = "fuse_attention";
constexpr std::string_view kFuseMatMul = "fuse_matmul";
constexpr std::string_view kAllPasses = "ALL";

// {"Switch":{"GraphFusion":{"Pass":"off"},"UBFusion":{...}}} or lines "Pass:off": our names of the
// passes that are off. The card's names stand for those of ours that do the same; its other passes
// have no effect here. "ALL" is every pass.
Result<std::vector<std::string>> parse_fusion_switch(std::string_view text);

bool is_on(const std::vector<std::string>& passes_off, std::string_view pass);

}  // namespace anynpu::compile
