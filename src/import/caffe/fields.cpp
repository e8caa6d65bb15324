// SPDX-License-Identifier: Apache-2.0
#include "import/caffe/fields.h"

#include <algorithm>
#include <ranges>
#include <vector>

#include "base/nearest_name.h"

namespace anynpu::caffe {

namespace {

struct Message {
  std::string_view name;
  std::string_view fields;  // with a space between two
};

// Each has the fields of Caffe and those of the releases made from it (SSD, SegNet, R-FCN, PSPNet,
// YOLO) that the layers here understand, or that make no difference outside of training.
constexpr std::string_view kNet =
    "name input input_shape input_dim force_backward state debug_info layer layers "
    "engine default_forward_type default_backward_type default_forward_math default_backward_math";

constexpr std::string_view kLayer =
    "name type bottom top phase loss_weight param blobs blobs_lr weight_decay blob_share_mode "
    "propagate_down include exclude engine forward_type backward_type forward_math backward_math "
    "transform_param loss_param accuracy_param annotated_data_param argmax_param batch_norm_param "
    "bias_param clip_param concat_param contrastive_loss_param convolution_param crop_param "
    "data_param detection_evaluate_param detection_output_param dropout_param dummy_data_param "
    "eltwise_param elu_param embed_param exp_param flatten_param hdf5_data_param "
    "hdf5_output_param hinge_loss_param image_data_param infogain_loss_param inner_product_param "
    "input_param interp_param log_param lrn_param memory_data_param multibox_loss_param mvn_param "
    "norm_param parameter_param permute_param pooling_param power_param prelu_param "
    "prior_box_param psroi_pooling_param python_param recurrent_param reduction_param "
    "region_param relu_param relu6_param reorg_param reshape_param roi_pooling_param scale_param "
    "shuffle_channel_param sigmoid_param slice_param smooth_l1_loss_param softmax_param spp_param "
    "swish_param tanh_param threshold_param tile_param upsample_param video_data_param "
    "window_data_param yolo_param yolo_region_param";

constexpr std::string_view kYolo =
    "yolo_version coords classes boxes num softmax background softmaxtree anchors biases mask "
    "anchors_scale thresh nms_threshold bias_match jitter rescore absolute random object_scale "
    "noobject_scale class_scale coord_scale";

constexpr std::string_view kRule = "phase min_level max_level stage not_stage";

constexpr Message kMessages[] = {
    {"argmax_param", "out_max_val top_k axis"},
    {"batch_norm_param", "use_global_stats moving_average_fraction eps"},
    {"bias_param", "axis num_axes filler"},
    {"concat_param", "axis concat_dim"},
    {"convolution_param",
     "num_output bias_term pad kernel_size stride dilation pad_h pad_w kernel_h kernel_w stride_h "
     "stride_w dilation_h dilation_w group weight_filler bias_filler engine axis force_nd_im2col"},
    {"crop_param", "axis offset"},
    {"detection_output_param",
     "num_classes share_location background_label_id nms_param save_output_param code_type "
     "variance_encoded_in_target keep_top_k confidence_threshold visualize visualize_threshold "
     "save_file"},
    {"dropout_param", "dropout_ratio scale_train engine"},
    {"eltwise_param", "operation coeff stable_prod_grad engine"},
    {"elu_param", "alpha engine"},
    {"embed_param", "num_output input_dim bias_term weight_filler bias_filler"},
    {"exclude", kRule},
    {"exp_param", "base scale shift"},
    {"flatten_param", "axis end_axis"},
    {"include", kRule},
    {"inner_product_param", "num_output bias_term weight_filler bias_filler axis transpose engine"},
    {"input_param", "shape"},
    {"input_shape", "dim"},
    {"interp_param", "height width zoom_factor shrink_factor pad_beg pad_end"},
    {"log_param", "base scale shift"},
    {"lrn_param", "local_size alpha beta norm_region k engine"},
    {"mvn_param", "normalize_variance across_channels eps"},
    {"nms_param", "nms_threshold top_k eta"},
    {"norm_param", "across_spatial scale_filler channel_shared eps"},
    {"param", "name share_mode lr_mult decay_mult"},
    {"permute_param", "order"},
    {"pooling_param",
     "pool pad pad_h pad_w kernel_size kernel_h kernel_w stride stride_h stride_w dilation engine "
     "global_pooling round_mode ceil_mode"},
    {"power_param", "power scale shift"},
    {"prelu_param", "filler channel_shared"},
    {"prior_box_param",
     "min_size max_size aspect_ratio flip clip variance img_size img_h img_w step step_h step_w "
     "offset"},
    {"psroi_pooling_param", "spatial_scale output_dim group_size"},
    {"recurrent_param", "num_output weight_filler bias_filler debug_info expose_hidden"},
    {"reduction_param", "operation axis coeff"},
    {"region_param", kYolo},
    {"relu_param", "negative_slope engine"},
    {"reorg_param", "stride reverse"},
    {"reshape_param", "shape axis num_axes"},
    {"roi_pooling_param", "pooled_h pooled_w spatial_scale"},
    {"scale_param", "axis num_axes filler bias_term bias_filler"},
    {"shape", "dim"},
    {"shuffle_channel_param", "group"},
    {"sigmoid_param", "engine"},
    {"slice_param", "axis slice_point slice_dim"},
    {"softmax_param", "engine axis"},
    {"spp_param", "pyramid_height pool engine"},
    {"state", "phase level stage"},
    {"tanh_param", "engine"},
    {"threshold_param", "threshold"},
    {"tile_param", "axis tiles"},
    {"upsample_param",
     "scale scale_h scale_w stride stride_h stride_w upsample_h upsample_w pad_out_h pad_out_w"},
    {"yolo_param", kYolo},
    {"yolo_region_param", kYolo},
};

static_assert(std::ranges::is_sorted(kMessages, {}, &Message::name));

std::vector<std::string_view> names_in(std::string_view fields) {
  std::vector<std::string_view> names;
  for (const auto part : std::views::split(fields, ' '))
    names.emplace_back(part.begin(), part.end());
  return names;
}

const Message* find_message(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kMessages, name, {}, &Message::name);
  return found != std::end(kMessages) && found->name == name ? found : nullptr;
}

// `what`: how the message is called, "a layer".
Status check_names(const TextField& message, std::string_view what, std::string_view fields) {
  const auto known = names_in(fields);
  for (const TextField& field : message.fields) {
    const bool extension = field.name.starts_with('[');
    if (extension || std::ranges::find(known, field.name) != known.end()) continue;
    const std::string_view near = nearest_name(known, field.name);
    return fail(Code::parse_error, "{}: {} has no field '{}'{}; correct the name, or take it out",
                field.where(), what, field.name,
                near.empty() ? std::string() : format(", did you mean '{}'?", near));
  }
  return {};
}

// The messages inside of `message`, as far as they are known.
Status check_inner(const TextField& message) {
  for (const TextField& field : message.fields) {
    const Message* known = find_message(field.name);
    if (!known || field.kind != TextField::Kind::message) continue;
    ANYNPU_TRY(check_names(field, known->name, known->fields));
    ANYNPU_TRY(check_inner(field));
  }
  return {};
}

}  // namespace

Status check_net_fields(const TextField& net) {
  ANYNPU_TRY(check_names(net, "a net", kNet));
  return check_inner(net);  // layers are no messages of the table
}

Status check_layer_fields(const TextField& layer) {
  ANYNPU_TRY(check_names(layer, "a layer", kLayer));
  return check_inner(layer);
}

}  // namespace anynpu::caffe
