// SPDX-License-Identifier: Apache-2.0
// The table of aclnn operators: a row an operator, a file a family. tools/gen_aclnn reads the names
// of the rows from these files: headers declare every name, the library exports those that have one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace anynpu::aclnn {

class Recipe;

struct Row {
  std::string_view name;  // "aclnnAdd"
  void (*build)(Recipe& recipe) = nullptr;
  const char* op = "";  // for recipes that serve several operators: of src/ops
  // Every output element is computed from elements at its place in inputs that are broadcast: views
  // may be turned and repeated axes dropped before the recipe sees them.
  bool elementwise = false;
  int64_t number = 0;  // for recipes that serve several operators: what they differ in
};

// Null when there is no such operator.
const Row* find_row(std::string_view name);

// Families. A new one is a line here and one in row.cpp.
std::span<const Row> activation_rows();
std::span<const Row> arrange_rows();
std::span<const Row> attention_rows();
std::span<const Row> class_loss_rows();
std::span<const Row> compare_rows();
std::span<const Row> complex_rows();
std::span<const Row> conv_rows();
std::span<const Row> copy_rows();
std::span<const Row> draws_rows();
std::span<const Row> elementwise_rows();
std::span<const Row> embedding_bag_rows();
std::span<const Row> fill_rows();
std::span<const Row> foreach_rows();
std::span<const Row> grid_rows();
std::span<const Row> index_rows();
std::span<const Row> linalg_rows();
std::span<const Row> llm_rows();
std::span<const Row> loss_rows();
std::span<const Row> margin_loss_rows();
std::span<const Row> matmul_rows();
std::span<const Row> measure_rows();
std::span<const Row> norm_rows();
std::span<const Row> optimizer_rows();
std::span<const Row> order_rows();
std::span<const Row> pool_rows();
std::span<const Row> random_rows();
std::span<const Row> reduce_rows();
std::span<const Row> resample_rows();
std::span<const Row> scatter_rows();
std::span<const Row> shape_rows();
std::span<const Row> softmax_rows();
std::span<const Row> sort_rows();
std::span<const Row> unary_rows();

// Every row, family by family.
std::span<const std::span<const Row>> families();

}  // namespace anynpu::aclnn
