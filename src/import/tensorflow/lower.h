// SPDX-License-Identifier: Apache-2.0
// The lowering functions of operators, by family: each reads the inputs and attributes of the
// builder's current node and adds nodes. Used by the table only.
#pragma once

#include <limits>

#include "import/tensorflow/builder.h"

namespace anynpu::tensorflow {

// Short forms that many of them use.
inline ValueId add(Builder& b, ValueId x, ValueId y) { return b.node("Add", 14, {x, y}); }
inline ValueId sub(Builder& b, ValueId x, ValueId y) { return b.node("Sub", 14, {x, y}); }
inline ValueId mul(Builder& b, ValueId x, ValueId y) { return b.node("Mul", 14, {x, y}); }
inline ValueId div(Builder& b, ValueId x, ValueId y) { return b.node("Div", 14, {x, y}); }
inline ValueId zeros_of(Builder& b, DType type, ValueId shape) {
  return b.node("Expand", 13, {b.scalar(type, 0), shape});
}
inline ValueId rows_at(Builder& b, ValueId x, ValueId rows) {
  return b.node("Gather", 13, {x, rows}, {{"axis", int64_t{0}}});
}
inline ValueId concat(Builder& b, std::vector<ValueId> parts, int64_t axis = 0) {
  return parts.size() == 1 ? parts[0] : b.node("Concat", 13, std::move(parts), {{"axis", axis}});
}
constexpr int64_t kToEnd = std::numeric_limits<int64_t>::max();  // of Builder::slice

// lower_basic.cpp: inputs, constants, and operators with the same operands as ours
void lower_placeholder(Builder& b);
void lower_next_element(Builder& b);  // of a dataset or a queue
void lower_const(Builder& b);
void lower_pass(Builder& b);         // output 0 is input 0
void lower_pass_all(Builder& b);     // IdentityN
void lower_nothing(Builder& b);      // NoOp, Assert
void lower_same(Builder& b);         // `becomes` with the same operands, in the model's layout
void lower_elementwise(Builder& b);  // the same, in either layout
// lower_elementwise.cpp
void lower_cast(Builder& b);
void lower_relu6(Builder& b);
void lower_leaky_relu(Builder& b);
void lower_square(Builder& b);
void lower_rsqrt(Builder& b);
void lower_squared_difference(Builder& b);
void lower_add(Builder& b);
void lower_add_n(Builder& b);
void lower_bias_add(Builder& b);
void lower_clip(Builder& b);
// lower_math.cpp
void lower_floor_mod(Builder& b);
void lower_truncate_mod(Builder& b);
void lower_xor(Builder& b);
void lower_zeros_like(Builder& b);
void lower_ones_like(Builder& b);
void lower_shift(Builder& b);
void lower_select(Builder& b);
// lower_matrix.cpp, lower_einsum.cpp
void lower_einsum(Builder& b);
void lower_matmul(Builder& b);
void lower_batch_matmul(Builder& b);
// lower_window.cpp
void lower_conv(Builder& b);
void lower_depthwise_conv(Builder& b);
void lower_max_pool(Builder& b);
void lower_avg_pool(Builder& b);
void lower_max_pool_argmax(Builder& b);
void lower_max_pool_grad(Builder& b);
// lower_backprop.cpp
void lower_conv_backprop(Builder& b);
void lower_depthwise_backprop(Builder& b);
void lower_filter_backprop(Builder& b);
void lower_avg_pool_grad(Builder& b);
// lower_norm.cpp
void lower_fused_batch_norm(Builder& b);
void lower_global_batch_norm(Builder& b);
void lower_softmax(Builder& b);
void lower_lrn(Builder& b);
void lower_l2_loss(Builder& b);
// lower_reduce.cpp
void lower_reduce(Builder& b);
// lower_shape.cpp
void lower_reshape(Builder& b);
void lower_transpose(Builder& b);
void lower_shape_of(Builder& b);
void lower_expand_dims(Builder& b);
void lower_squeeze(Builder& b);
void lower_pack(Builder& b);
void lower_concat(Builder& b);
void lower_concat_v2(Builder& b);
void lower_pad(Builder& b);
void lower_mirror_pad_grad(Builder& b);
// lower_slice.cpp
void lower_strided_slice(Builder& b);
void lower_strided_slice_grad(Builder& b);
void lower_strided_slice_update(Builder& b);
// lower_array.cpp
void lower_split(Builder& b);
void lower_split_v(Builder& b);
void lower_unpack(Builder& b);
void lower_slice(Builder& b);
void lower_tile(Builder& b);
void lower_fill(Builder& b);
void lower_broadcast_to(Builder& b);
void lower_range(Builder& b);
void lower_size(Builder& b);
void lower_rank(Builder& b);
void lower_shape_n(Builder& b);
void lower_reverse(Builder& b);
void lower_cumulate(Builder& b);
// lower_index.cpp
void lower_gather(Builder& b);
void lower_gather_nd(Builder& b);
void lower_scatter_nd(Builder& b);
void lower_tensor_scatter(Builder& b);
void lower_one_hot(Builder& b);
void lower_top_k(Builder& b);
void lower_where(Builder& b);
void lower_unique(Builder& b);
void lower_reverse_sequence(Builder& b);
// lower_image.cpp, lower_space.cpp
void lower_resize_bilinear(Builder& b);
void lower_resize_nearest(Builder& b);
void lower_resize_cubic(Builder& b);
void lower_depth_to_space(Builder& b);
void lower_space_to_depth(Builder& b);
void lower_extract_patches(Builder& b);
void lower_dilation(Builder& b);
void lower_space_to_batch(Builder& b);
void lower_batch_to_space(Builder& b);
// lower_weighted.cpp
void lower_resize_bicubic(Builder& b);
void lower_resize_area(Builder& b);
void lower_resize_grad(Builder& b);
void lower_resize_nearest_grad(Builder& b);
void lower_scale_and_translate(Builder& b);
// lower_colour.cpp
void lower_rgb_to_hsv(Builder& b);
void lower_hsv_to_rgb(Builder& b);
void lower_adjust_hue(Builder& b);
void lower_adjust_saturation(Builder& b);
void lower_adjust_contrast(Builder& b);
// lower_loss.cpp
void lower_softmax_loss(Builder& b);
void lower_sparse_softmax_loss(Builder& b);
void lower_bias_grad(Builder& b);
// lower_table.cpp
void lower_table(Builder& b);
void lower_table_find(Builder& b);
void lower_table_size(Builder& b);
// lower_text.cpp
void lower_as_string(Builder& b);
void lower_change_case(Builder& b);
void lower_string_to_number(Builder& b);
// lower_detect.cpp
void lower_crop_and_resize(Builder& b);
void lower_extract_glimpse(Builder& b);
void lower_nms(Builder& b);
void lower_nms_fixed(Builder& b);
void lower_nms_overlaps(Builder& b);
void lower_combined_nms(Builder& b);
// lower_draw.cpp
void lower_draw_boxes(Builder& b);
// lower_quantize.cpp
void lower_fake_quant(Builder& b);
void lower_fake_quant_grad(Builder& b);
void lower_quantize_and_dequantize(Builder& b);
// lower_recurrent.cpp
void lower_lstm_cell(Builder& b);
void lower_lstm_sequence(Builder& b);
void lower_gru_cell(Builder& b);
// lower_cudnn.cpp
void lower_cudnn_rnn(Builder& b);
// lower_flow.cpp
void lower_call(Builder& b);
void lower_if(Builder& b);
void lower_while(Builder& b);
void lower_case(Builder& b);
// lower_uneven_list.cpp: lists whose elements have different lengths
bool is_uneven(const Tensor& list);
bool differs_in_length(const Builder& b, ValueId list, ValueId element);
Tensor made_uneven(Builder& b, ValueId list);
Tensor empty_uneven(Builder& b, ValueId count, DType dtype, const Shape& element);
// Whether elements of this shape go into such a list: their first extent may differ.
bool has_rows(const Shape& element);
ValueId uneven_element(Builder& b, const Tensor& list, ValueId index);
void set_uneven_element(Builder& b, const Tensor& list, ValueId index, ValueId element);
void push_uneven_element(Builder& b, const Tensor& list, ValueId element);
// lower_list.cpp
void lower_list_reserve(Builder& b);
void lower_list_from_tensor(Builder& b);
void lower_list_stack(Builder& b);
void lower_list_get(Builder& b);
void lower_list_set(Builder& b);
void lower_list_length(Builder& b);
void lower_list_resize(Builder& b);
void lower_list_push(Builder& b);
void lower_list_pop(Builder& b);
void lower_list_gather(Builder& b);
void lower_list_scatter(Builder& b);
void lower_list_concat(Builder& b);
void lower_list_split(Builder& b);
void lower_list_element_shape(Builder& b);
void lower_array(Builder& b);
void lower_array_write(Builder& b);
void lower_array_read(Builder& b);
void lower_array_gather(Builder& b);
void lower_array_scatter(Builder& b);
void lower_array_size(Builder& b);
void lower_array_concat(Builder& b);
void lower_array_split(Builder& b);

// lower_special.cpp
void lower_round(Builder& b);
void lower_truncate_div(Builder& b);
void lower_equal(Builder& b);
void lower_bitcast(Builder& b);
void lower_with_alpha(Builder& b);
// lower_search.cpp
void lower_inplace(Builder& b);
void lower_sparse_to_dense(Builder& b);
void lower_dynamic_partition(Builder& b);
void lower_dynamic_stitch(Builder& b);
void lower_in_top_k(Builder& b);
void lower_nth_element(Builder& b);
void lower_bound(Builder& b);
void lower_unique_along(Builder& b);
void lower_invert_permutation(Builder& b);
void lower_list_diff(Builder& b);
// lower_segment.cpp
void lower_arg_reduce(Builder& b);
void lower_cumulative(Builder& b);
void lower_segment(Builder& b);
void lower_unsorted_segment(Builder& b);
void lower_sparse_segment(Builder& b);
void lower_sparse_segment_grad(Builder& b);
void lower_bincount(Builder& b);
void lower_histogram(Builder& b);
void lower_bucketize(Builder& b);
// lower_parts.cpp
void lower_parallel_concat(Builder& b);
void lower_concat_offset(Builder& b);
void lower_broadcast_args(Builder& b);
void lower_broadcast_gradient_args(Builder& b);
void lower_lin_space(Builder& b);
void lower_roll(Builder& b);
void lower_empty(Builder& b);
// lower_diagonal.cpp
void lower_matrix_diag(Builder& b);
void lower_matrix_diag_part(Builder& b);
void lower_matrix_set_diag(Builder& b);
void lower_diag(Builder& b);
void lower_matrix_band_part(Builder& b);
// lower_linear.cpp
void lower_cross(Builder& b);
void lower_log_determinant(Builder& b);
void lower_lu(Builder& b);
void lower_qr(Builder& b);
void lower_inverse(Builder& b);
void lower_matrix_solver(Builder& b);
void lower_svd(Builder& b);
void lower_eigen(Builder& b);
void lower_least_squares(Builder& b);
void lower_tridiagonal_matmul(Builder& b);
void lower_tridiagonal_solve(Builder& b);
void lower_banded_solve(Builder& b);
void lower_sparse_matmul(Builder& b);
void lower_sparse_add(Builder& b);
void lower_sparse_elementwise(Builder& b);
void lower_sparse_reduce(Builder& b);
// lower_sparse.cpp
void lower_sparse_fill_empty_rows(Builder& b);
void lower_sparse_reorder(Builder& b);
void lower_sparse_concat(Builder& b);
void lower_sparse_slice(Builder& b);
void lower_sparse_split(Builder& b);
void lower_sparse_reshape(Builder& b);
void lower_sparse_softmax(Builder& b);
void lower_sparse_reduce_max(Builder& b);
void lower_set_size(Builder& b);
// lower_ragged.cpp
void lower_ragged_gather(Builder& b);
void lower_ragged_to_sparse(Builder& b);
void lower_ragged_to_tensor(Builder& b);
void lower_ragged_to_variant(Builder& b);
void lower_ragged_from_variant(Builder& b);
void lower_ragged_bincount(Builder& b);
// lower_random.cpp
void lower_random_uniform(Builder& b);
void lower_random_normal(Builder& b);
void lower_truncated_normal(Builder& b);
void lower_random_uniform_int(Builder& b);
void lower_random_shuffle(Builder& b);
void lower_multinomial(Builder& b);
void lower_distorted_box(Builder& b);
// lower_sets.cpp
// The elements that a boolean tensor keeps, row by row along its last axis.
struct KeptElements {
  ValueId places = kNoValue;   // of them in the tensor (kept x rank)
  ValueId indices = kNoValue;  // the same, without what is not kept: a sparse tensor
  ValueId counts = kNoValue;   // of each row
  ValueId widest = kNoValue;   // the largest count, in a row of one
};
KeptElements kept_elements(Builder& b, ValueId kept);
void lower_set_operation(Builder& b);
void lower_ragged_range(Builder& b);
// lower_projective.cpp
void lower_projective_transform(Builder& b);
// lower_ctc.cpp
void lower_ctc_greedy(Builder& b);
void lower_ctc_loss(Builder& b);
void lower_edit_distance(Builder& b);
// lower_complex.cpp: false when the node has no complex input, or its row takes it as it is
bool lower_complex(Builder& b);
void lower_make_complex(Builder& b);
ValueId complex_function(Builder& b, const char* function, ValueId x, ValueId y = kNoValue);
// lower_fourier.cpp
void lower_fft(Builder& b);
void lower_rfft(Builder& b);
void lower_irfft(Builder& b);

}  // namespace anynpu::tensorflow
