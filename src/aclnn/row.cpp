// SPDX-License-Identifier: Apache-2.0
#include "aclnn/row.h"

#include <unordered_map>
#include <vector>

namespace anynpu::aclnn {

std::span<const std::span<const Row>> families() {
  static const std::span<const Row> list[] = {
      activation_rows(),
      add_norm_rows(),
      arrange_rows(),
      attention_rows(),
      attention_gradient_rows(),
      batch_statistics_rows(),
      block_quant_rows(),
      cells_rows(),
      class_loss_rows(),
      collective_products_rows(),
      compare_rows(),
      complex_rows(),
      conv_rows(),
      copy_rows(),
      cross_entropy_rows(),
      deformable_attention_rows(),
      deformable_conv_rows(),
      distributed_experts_rows(),
      draws_rows(),
      elementwise_rows(),
      embedding_bag_rows(),
      fill_rows(),
      foreach_rows(),
      gates_rows(),
      grid_rows(),
      grouped_rows(),
      index_rows(),
      infer_attention_rows(),
      linalg_rows(),
      llm_rows(),
      loss_rows(),
      margin_loss_rows(),
      matmul_rows(),
      measure_rows(),
      microscaling_rows(),
      mla_rows(),
      moe_rows(),
      norm_rows(),
      optimizer_rows(),
      order_rows(),
      pool_rows(),
      quant_matmul_rows(),
      quantize_rows(),
      random_rows(),
      recurrent_rows(),
      reduce_rows(),
      regroup_rows(),
      resample_rows(),
      rotary_rows(),
      sample_rows(),
      scatter_rows(),
      sequence_loss_rows(),
      serving_rows(),
      shape_rows(),
      signal_rows(),
      softmax_rows(),
      sort_rows(),
      sparse_attention_rows(),
      unary_rows(),
      weight_quant_rows(),
  };
  return list;
}

const Row* find_row(std::string_view name) {
  static const auto& by_name = *[] {
    auto* map = new std::unordered_map<std::string_view, const Row*>;
    for (std::span<const Row> family : families()) {
      for (const Row& row : family) map->emplace(row.name, &row);
    }
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace anynpu::aclnn
