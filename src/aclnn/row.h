// SPDX-License-Identifier: Apache-2.0
// The table of aclnn operators: one row per operator, one file per family. tools/gen_aclnn reads
// the names from these files: headers declare every operator, the library exports those with a row.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace anynpu::aclnn {

class Recipe;

struct Row {
  std::string_view name;  // "aclnnAdd"
  void (*build)(Recipe& recipe) = nullptr;
  const char* op = "";  // for recipes that serve several operators: an operator of src/ops
  // Every output element depends only on the input elements at its position, with broadcasting:
  // axes may be permuted and broadcast axes dropped before the recipe sees them.
  bool elementwise = false;
  int64_t number = 0;  // for recipes that serve several operators: what they differ in
  // Arrays of integers whose values come with every call (Recipe::list), separated by blanks:
  // the plan depends only on how many there are.
  std::string_view lists = "";

  bool is_list(std::string_view parameter) const {
    for (size_t at = lists.find(parameter); at != lists.npos; at = lists.find(parameter, at + 1)) {
      const size_t end = at + parameter.size();
      if ((at == 0 || lists[at - 1] == ' ') && (end == lists.size() || lists[end] == ' '))
        return true;
    }
    return false;
  }
};

// Null when there is no such operator.
const Row* find_row(std::string_view name);

// Families. A new one is a line here and one in row.cpp.
std::span<const Row> activation_rows();
std::span<const Row> add_norm_rows();
std::span<const Row> arrange_rows();
std::span<const Row> attention_rows();
std::span<const Row> attention_gradient_rows();
std::span<const Row> batch_statistics_rows();
std::span<const Row> block_quant_rows();
std::span<const Row> cells_rows();
std::span<const Row> class_loss_rows();
std::span<const Row> collective_products_rows();
std::span<const Row> compare_rows();
std::span<const Row> complex_rows();
std::span<const Row> conv_rows();
std::span<const Row> copy_rows();
std::span<const Row> cross_entropy_rows();
std::span<const Row> deformable_attention_rows();
std::span<const Row> deformable_conv_rows();
std::span<const Row> distributed_experts_rows();
std::span<const Row> draws_rows();
std::span<const Row> elementwise_rows();
std::span<const Row> embedding_bag_rows();
std::span<const Row> fill_rows();
std::span<const Row> foreach_rows();
std::span<const Row> gates_rows();
std::span<const Row> grid_rows();
std::span<const Row> grouped_rows();
std::span<const Row> index_rows();
std::span<const Row> infer_attention_rows();
std::span<const Row> linalg_rows();
std::span<const Row> llm_rows();
std::span<const Row> loss_rows();
std::span<const Row> margin_loss_rows();
std::span<const Row> matmul_rows();
std::span<const Row> measure_rows();
std::span<const Row> microscaling_rows();
std::span<const Row> mla_rows();
std::span<const Row> moe_rows();
std::span<const Row> norm_rows();
std::span<const Row> optimizer_rows();
std::span<const Row> order_rows();
std::span<const Row> pool_rows();
std::span<const Row> quant_matmul_rows();
std::span<const Row> quantize_rows();
std::span<const Row> random_rows();
std::span<const Row> recurrent_rows();
std::span<const Row> reduce_rows();
std::span<const Row> regroup_rows();
std::span<const Row> resample_rows();
std::span<const Row> rotary_rows();
std::span<const Row> sample_rows();
std::span<const Row> scatter_rows();
std::span<const Row> sequence_loss_rows();
std::span<const Row> serving_rows();
std::span<const Row> shape_rows();
std::span<const Row> signal_rows();
std::span<const Row> softmax_rows();
std::span<const Row> sort_rows();
std::span<const Row> sparse_attention_rows();
std::span<const Row> unary_rows();
std::span<const Row> weight_quant_rows();

// Every row, family by family.
std::span<const std::span<const Row>> families();

}  // namespace anynpu::aclnn
