// SPDX-License-Identifier: Apache-2.0
// The lowering rules of the operators that need more than renaming, by family: each reads the
// operator's attributes and adds nodes. Used only by the table.
#pragma once

#include "import/singleop/builder.h"

namespace anynpu::singleop {

// Short forms that many rules use.
inline ValueId add(Builder& b, ValueId x, ValueId y) { return b.node("Add", 13, {x, y}); }
inline ValueId sub(Builder& b, ValueId x, ValueId y) { return b.node("Sub", 13, {x, y}); }
inline ValueId mul(Builder& b, ValueId x, ValueId y) { return b.node("Mul", 13, {x, y}); }
inline ValueId div(Builder& b, ValueId x, ValueId y) { return b.node("Div", 13, {x, y}); }
// A number of the same type as a value.
inline ValueId number(Builder& b, ValueId like, double value) {
  return b.ok() ? b.scalar(b.dtype(like), value) : kNoValue;
}
inline ValueId sum(Builder& b, ValueId x, const std::vector<int64_t>& axes, bool keep) {
  return b.node("ReduceSum", 13, {x, b.list(axes)}, {{"keepdims", int64_t{keep}}});
}
// 16-bit floats as float32: the sum of products that goes into a float32 output is kept in it.
inline ValueId widened(Builder& b, ValueId x) {
  return is_short_float(b.dtype(x)) ? b.cast(x, DType::f32) : x;
}

// Whether a list is an input and not an attribute; D forms have attributes.
inline bool is_input(Builder& b, size_t index, const char* attribute) {
  return !b.type().ends_with("D") && !b.has_attr(attribute) && b.has(index);
}
// A list that must be known, as input `index` or as an attribute.
inline std::vector<int64_t> known_list(Builder& b, size_t index, const char* attribute) {
  return is_input(b, index, attribute) ? b.in_values(index) : b.ints(attribute);
}

// lower_elementwise.cpp
void lower_square(Builder& b);
void lower_rsqrt(Builder& b);
void lower_expm1(Builder& b);
void lower_log1p(Builder& b);
void lower_erfc(Builder& b);
void lower_exp(Builder& b);
void lower_log(Builder& b);
void lower_power(Builder& b);
void lower_fast_gelu(Builder& b);
void lower_gelu(Builder& b);
void lower_swish(Builder& b);
void lower_relu6(Builder& b);
void lower_leaky_relu(Builder& b);
void lower_elu(Builder& b);
void lower_celu(Builder& b);
void lower_hard_sigmoid(Builder& b);
void lower_shrink(Builder& b);
void lower_threshold(Builder& b);
void lower_clip(Builder& b);
void lower_ones_like(Builder& b);
void lower_zeros_like(Builder& b);
void lower_is_finite(Builder& b);
void lower_cast(Builder& b);
void lower_of_two(Builder& b);
void lower_not_equal(Builder& b);
void lower_floor_div(Builder& b);
void lower_truncate_div(Builder& b);
void lower_floor_mod(Builder& b);
void lower_truncate_mod(Builder& b);
void lower_div_no_nan(Builder& b);
void lower_squared_difference(Builder& b);
void lower_add_n(Builder& b);
void lower_adds(Builder& b);
void lower_muls(Builder& b);
void lower_axpy(Builder& b);
void lower_axpy_v2(Builder& b);
void lower_lerp(Builder& b);
void lower_addcmul(Builder& b);
void lower_addcdiv(Builder& b);
void lower_bias_add(Builder& b);
void lower_scale(Builder& b);
void lower_prelu(Builder& b);
void lower_quant(Builder& b);
// lower_reduce.cpp
void lower_reduce(Builder& b);
void lower_reduce_flags(Builder& b);
void lower_reduction(Builder& b);
void lower_cumsum(Builder& b);
void lower_arg(Builder& b);
void lower_arg_with_value(Builder& b);
void lower_top_k(Builder& b);
void lower_l2_normalize(Builder& b);
void lower_l2_loss(Builder& b);
void lower_lp_reduce(Builder& b);
void lower_lp_update(Builder& b);
// lower_matrix.cpp
void lower_matmul(Builder& b);
void lower_batch_matmul(Builder& b);
void lower_gemm(Builder& b);
void lower_fully_connection(Builder& b);
void lower_einsum(Builder& b);
// lower_window.cpp
void lower_conv(Builder& b);
void lower_depthwise_conv(Builder& b);
void lower_deconvolution(Builder& b);
void lower_conv_transpose(Builder& b);
void lower_conv_weight_gradient(Builder& b);
void lower_pooling(Builder& b);
void lower_max_pool(Builder& b);
void lower_max_pool_v3(Builder& b);
void lower_avg_pool(Builder& b);
void lower_global_pool(Builder& b);
void lower_resize(Builder& b);
void lower_resize_area(Builder& b);
void lower_resize_bicubic(Builder& b);
void lower_depth_to_space(Builder& b);
void lower_im2col(Builder& b);
void lower_max_pool_3d_argmax(Builder& b);
// lower_norm.cpp
void lower_bn_inference(Builder& b);
void lower_batch_norm(Builder& b);
void lower_layer_norm(Builder& b);
void lower_instance_norm(Builder& b);
void lower_group_norm(Builder& b);
void lower_rms_norm(Builder& b);
void lower_softmax(Builder& b);
void lower_lrn(Builder& b);
// lower_move.cpp
void lower_transpose(Builder& b);
void lower_trans_data(Builder& b);
void lower_reshape(Builder& b);
void lower_flatten(Builder& b);
void lower_squeeze(Builder& b);
void lower_unsqueeze(Builder& b);
void lower_concat(Builder& b);
void lower_concat_first(Builder& b);
void lower_concat_last(Builder& b);
void lower_pack(Builder& b);
void lower_unpack(Builder& b);
void lower_split(Builder& b);
void lower_split_v(Builder& b);
void lower_slice(Builder& b);
void lower_tile(Builder& b);
void lower_pad(Builder& b);
void lower_broadcast(Builder& b);
void lower_reverse(Builder& b);
void lower_crop(Builder& b);
void lower_triangle(Builder& b);
void lower_shape(Builder& b);
void lower_size(Builder& b);
void lower_fill(Builder& b);
void lower_range(Builder& b);
// lower_strided.cpp
void lower_strided_slice(Builder& b);
void lower_strided_slice_v2(Builder& b);
void lower_strided_slice_gradient(Builder& b);
// lower_index.cpp
void lower_gather(Builder& b);
void lower_gather_elements(Builder& b);
void lower_gather_nd(Builder& b);
void lower_scatter_elements(Builder& b);
void lower_scatter_nd(Builder& b);
void lower_one_hot(Builder& b);
void lower_select(Builder& b);
void lower_where(Builder& b);
void lower_non_zero(Builder& b);
void lower_unique(Builder& b);
void lower_segment(Builder& b);
// lower_recurrent.cpp
void lower_common_lstm(Builder& b);
void lower_common_gru(Builder& b);
void lower_dynamic_rnn(Builder& b);
void lower_dynamic_gru(Builder& b);
void lower_lstm_cell(Builder& b);
// lower_gradient.cpp
void lower_dynamic_rnn_gradient(Builder& b);
void lower_dynamic_gru_gradient(Builder& b);
void lower_cdist_gradient(Builder& b);
void lower_search_sorted(Builder& b);
// lower_detect.cpp
void lower_roi_align(Builder& b);
void lower_roi_pooling(Builder& b);
void lower_ps_roi_pooling(Builder& b);
void lower_non_max_suppression(Builder& b);
void lower_non_max_suppression_batch(Builder& b);
void lower_grid_sampler(Builder& b);
void lower_affine_grid(Builder& b);
void lower_upsample(Builder& b);
void lower_crop_and_resize(Builder& b);
void lower_im2col_back(Builder& b);
// lower_special.cpp
void lower_hard_max(Builder& b);
void lower_determinant(Builder& b);
void lower_reverse_sequence(Builder& b);
void lower_shift(Builder& b);
void lower_mvn(Builder& b);
void lower_nll_loss(Builder& b);
void lower_softmax_loss(Builder& b);
void lower_softmax_with_logits(Builder& b);
void lower_window(Builder& b);
void lower_bartlett_window(Builder& b);
void lower_eye(Builder& b);
void lower_masked_select(Builder& b);
void lower_masked_fill(Builder& b);
void lower_random(Builder& b);
void lower_multinomial(Builder& b);
void lower_quantize(Builder& b);
void lower_anti_quant(Builder& b);
void lower_dropout_mask(Builder& b);
void lower_dropout_v2(Builder& b);
void lower_eltwise(Builder& b);
void lower_global_lp_pool(Builder& b);
void lower_dft(Builder& b);
void lower_shuffle_channel(Builder& b);
// lower_update.cpp
void lower_apply_momentum(Builder& b);
void lower_apply_adagrad(Builder& b);
void lower_apply_adam(Builder& b);
void lower_apply_gradient_descent(Builder& b);
void lower_apply_rms_prop(Builder& b);
void lower_apply_centered_rms_prop(Builder& b);
void lower_apply_adadelta(Builder& b);
void lower_apply_ada_max(Builder& b);
void lower_apply_ftrl(Builder& b);
void lower_apply_proximal(Builder& b);
void lower_sgd(Builder& b);
void lower_assign(Builder& b);
// lower_slope.cpp
void lower_slope(Builder& b);
void lower_gelu_slope(Builder& b);
void lower_arc_slope(Builder& b);
void lower_shrink_slope(Builder& b);
void lower_softmax_slope(Builder& b);
void lower_bias_gradient(Builder& b);
void lower_bn_sums(Builder& b);
void lower_bn_update(Builder& b);
void lower_bn_update_gradient(Builder& b);
void lower_bn_reduce_gradient(Builder& b);
void lower_bn_infer_gradient(Builder& b);
void lower_layer_norm_gradient(Builder& b);
void lower_choice_gradient(Builder& b);
// lower_pool_gradient.cpp
void lower_max_pool_gradient(Builder& b);
void lower_avg_pool_gradient(Builder& b);
void lower_adaptive_average(Builder& b);
// lower_order.cpp
void lower_sort(Builder& b);
void lower_running_extreme(Builder& b);
void lower_running_product(Builder& b);
void lower_diagonal(Builder& b);
void lower_diagonal_part(Builder& b);
void lower_deviation(Builder& b);
void lower_inverse(Builder& b);
void lower_qr(Builder& b);
void lower_svd(Builder& b);
// lower_function.cpp
void lower_function(Builder& b);
void lower_angle(Builder& b);
void lower_polygamma(Builder& b);
void lower_logit(Builder& b);
void lower_hypot(Builder& b);
void lower_heaviside(Builder& b);
void lower_outer(Builder& b);
void lower_approximate_equal(Builder& b);
void lower_epsilon(Builder& b);
void lower_linear_space(Builder& b);
void lower_norm(Builder& b);
void lower_divergence(Builder& b);
void lower_running_log(Builder& b);
void lower_histogram(Builder& b);
void lower_dropout_bits(Builder& b);
void lower_matrix_solve(Builder& b);
void lower_log_determinant(Builder& b);
void lower_avg_pool_3d(Builder& b);
// lower_fourier.cpp
void lower_fft(Builder& b);
void lower_fft_shift(Builder& b);
void lower_fft_frequencies(Builder& b);
void lower_stft(Builder& b);
// lower_band.cpp
void lower_matrix_diag(Builder& b);
void lower_matrix_diag_part(Builder& b);
void lower_matrix_set_diag(Builder& b);
void lower_matrix_band_part(Builder& b);
void lower_triangle_indices(Builder& b);
void lower_cholesky_inverse(Builder& b);
// lower_draw.cpp
void lower_choice_with_mask(Builder& b);
void lower_dropout_channels(Builder& b);
void lower_random_categorical(Builder& b);
void lower_random_int(Builder& b);
void lower_random_shuffle(Builder& b);
void lower_random_permutation(Builder& b);
void lower_standard_laplace(Builder& b);
// lower_pairs.cpp
void lower_iou(Builder& b);
void lower_box_encode(Builder& b);
void lower_box_decode(Builder& b);
void lower_check_valid(Builder& b);
void lower_renorm(Builder& b);
void lower_in_top_k(Builder& b);
void lower_pdist(Builder& b);
void lower_multi_margin_loss(Builder& b);
void lower_lcm(Builder& b);
void lower_log_space(Builder& b);
// lower_place.cpp
void lower_inplace_rows(Builder& b);
void lower_inplace_index_add(Builder& b);
void lower_index_fill(Builder& b);
void lower_max_unpool(Builder& b);
void lower_blocks(Builder& b);
void lower_padding(Builder& b);
ValueId padded_symmetrically(Builder& b, ValueId x, const std::vector<int64_t>& pads);
// lower_factor.cpp
void lower_cholesky_solve(Builder& b);
void lower_geqrf(Builder& b);
void lower_orgqr(Builder& b);

}  // namespace anynpu::singleop
