// SPDX-License-Identifier: Apache-2.0
#include "aclnn/row.h"

#include <unordered_map>
#include <vector>

namespace anynpu::aclnn {

std::span<const std::span<const Row>> families() {
  static const std::span<const Row> list[] = {
      activation_rows(),
      arrange_rows(),
      attention_rows(),
      class_loss_rows(),
      compare_rows(),
      complex_rows(),
      conv_rows(),
      copy_rows(),
      draws_rows(),
      elementwise_rows(),
      embedding_bag_rows(),
      fill_rows(),
      foreach_rows(),
      grid_rows(),
      index_rows(),
      linalg_rows(),
      llm_rows(),
      loss_rows(),
      margin_loss_rows(),
      matmul_rows(),
      measure_rows(),
      norm_rows(),
      optimizer_rows(),
      order_rows(),
      pool_rows(),
      random_rows(),
      reduce_rows(),
      resample_rows(),
      scatter_rows(),
      shape_rows(),
      softmax_rows(),
      sort_rows(),
      unary_rows(),
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
