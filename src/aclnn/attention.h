// SPDX-License-Identifier: Apache-2.0
// What attention in training and its gradient have in common: layouts, lengths, masks.
#pragma once

#include <string>
#include <vector>

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

// The layout of the tensors, and the number of heads.
struct AttentionLayout {
  std::string name;
  int64_t heads = 1, key_heads = 1;
  bool counted = false;  // TND: the tokens of all samples, concatenated
};

// Refuses layouts that training does not have: it has BNSD, BSND, BSH, SBH, TND.
AttentionLayout attention_layout(Recipe& r, Param query, Param key);

// 0 added after the scale, 1 before it, 2 and 3 slopes (ops/attention/flash.h). First versions: 1.
int64_t shift_type(Recipe& r);
// A shift as batch, heads, rows, columns; slopes as batch, heads, 1, 1. Empty when there is none.
Value attention_shift(Recipe& r, Param shift);

// A node of FlashAttention (ops/attention/flash.h) or of its gradient, which takes `more` behind
// the operator's inputs and has dY, Y and logarithms there. Keys and shifts have other names in
// gradients.
struct AttentionCall {
  const char *key = "key", *key_rope = "keyRope", *shift = "realShiftOptional";
};
std::vector<Value> attention_node(Recipe& r, const char* op, const AttentionLayout& l,
                                  const AttentionCall& call, const std::vector<Value>& more,
                                  size_t outputs, DType type);

}  // namespace anynpu::aclnn
