// SPDX-License-Identifier: Apache-2.0
// The table of layer types, and the sentences for those that are not in it.
#include "import/caffe/layers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace anynpu::caffe {

namespace {

constexpr std::array<std::pair<std::string_view, LayerFunction>, 55> kLayers = {{
    {"AbsVal", abs_val},
    {"ArgMax", arg_max},
    {"BatchNorm", batch_norm},
    {"BatchReindex", batch_reindex},
    {"Bias", bias},
    {"BNLL", bnll},
    {"Concat", concat},
    {"Convolution", convolution},
    {"ConvolutionDepthwise", convolution},
    {"Crop", crop},
    {"Deconvolution", deconvolution},
    {"DepthwiseConvolution", convolution},
    {"DetectionOutput", detection_output},
    {"Dropout", pass},
    {"Eltwise", eltwise},
    {"ELU", elu},
    {"Embed", embed},
    {"Exp", exp_layer},
    {"Flatten", flatten},
    {"Im2col", im2col},
    {"InnerProduct", inner_product},
    {"Interp", interp},
    {"Log", log_layer},
    {"LRN", lrn},
    {"LSTM", lstm},
    {"MVN", mvn},
    {"Normalize", normalize},
    {"Permute", permute},
    {"Pooling", pooling},
    {"Power", power},
    {"PReLU", prelu},
    {"PriorBox", prior_box},
    {"PSROIPooling", ps_roi_pooling},
    {"Reduction", reduction},
    {"Region", yolo_region},
    {"ReLU", relu},
    {"ReLU6", relu6},
    {"Reorg", reorg},
    {"Reshape", reshape_layer},
    {"ROIPooling", roi_pooling},
    {"Scale", scale},
    {"ShuffleChannel", shuffle_channel},
    {"Sigmoid", sigmoid},
    {"Silence", silence},
    {"Slice", slice},
    {"Softmax", softmax},
    {"SSDDetectionOutput", detection_output},
    {"Split", pass},
    {"SPP", spp},
    {"TanH", tanh_layer},
    {"Threshold", threshold},
    {"Tile", tile},
    {"Upsample", upsample},
    {"Yolo", yolo_region},
    {"YoloRegion", yolo_region},
}};

constexpr std::array<std::string_view, 9> kData = {
    "AnnotatedData", "Data",       "DummyData", "HDF5Data",  "ImageData",
    "MemoryData",    "WindowData", "Python",    "VideoData",
};

constexpr std::array<std::string_view, 12> kTraining = {
    "Accuracy",
    "ContrastiveLoss",
    "DetectionEvaluate",
    "EuclideanLoss",
    "HDF5Output",
    "HingeLoss",
    "InfogainLoss",
    "MultiBoxLoss",
    "SmoothL1Loss",
    "SoftmaxWithLoss",
    "SigmoidCrossEntropyLoss",
    "MultinomialLogisticLoss",
};

}  // namespace

LayerFunction layer_function(std::string_view type) {
  for (const auto& [name, function] : kLayers) {
    if (name == type) return function;
  }
  return nullptr;
}

std::string refusal_of(const std::string& type) {
  if (type == "Input" || layer_function(type)) return {};
  if (type == "Python") {
    return "it runs Python code inside Caffe; put the layers it stands for in its place";
  }
  if (contains(kData, type)) {
    return "it reads training data, so this is the prototxt of a training; use the deploy "
           "prototxt, or put a layer of type Input with its shape in its place";
  }
  if (contains(kTraining, type)) {
    return "it belongs to training; use the deploy prototxt, or leave the layer out";
  }
  return "layers of this type are not in this release; put layers that are in its place, or end "
         "the "
         "net in front of it";
}

bool needs_weights(const Layer& layer) {
  constexpr std::array<std::string_view, 10> always = {
      "BatchNorm",     "Convolution", "ConvolutionDepthwise", "DepthwiseConvolution",
      "Deconvolution", "Embed",       "InnerProduct",         "LSTM",
      "Normalize",     "PReLU"};
  if (contains(always, layer.type)) return true;
  return (layer.type == "Scale" || layer.type == "Bias") && layer.bottoms.size() == 1;
}

}  // namespace anynpu::caffe
