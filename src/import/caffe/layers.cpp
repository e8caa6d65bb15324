// SPDX-License-Identifier: Apache-2.0
// The table of layer types, and the messages for those that are not in it.
#include "import/caffe/layers.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace anynpu::caffe {

namespace {

constexpr LayerType kLayerTypes[] = {
    {"AbsVal", "Abs", abs_val},
    {"ArgMax", "ArgMax + Cast", arg_max},
    {"BatchNorm", "BatchNormalization", batch_norm},
    {"BatchReindex", "Cast + Gather", batch_reindex},
    {"Bias", "Add", bias},
    {"BNLL", "Softplus", bnll},
    {"Concat", "Concat", concat},
    {"Convolution", "Conv", convolution},
    {"ConvolutionDepthwise", "Conv", convolution},
    {"Crop", "Slice", crop},
    {"Deconvolution", "ConvTranspose", deconvolution},
    {"DepthwiseConvolution", "Conv", convolution},
    {"DetectionOutput", "DetectionOutput", detection_output},
    {"Dropout", "", pass},
    {"Eltwise", "Add, Mul, Max", eltwise},
    {"ELU", "Elu", elu},
    {"Embed", "Cast + Gather + Add", embed},
    {"Exp", "Mul + Add + Exp", exp_layer},
    {"Flatten", "Flatten", flatten},
    {"Im2col", "Conv", im2col},
    {"InnerProduct", "Gemm", inner_product},
    {"Interp", "Slice + Resize", interp},
    {"Log", "Mul + Add + Log", log_layer},
    {"LRN", "LRN", lrn},
    {"LSTM", "Transpose + Split + MatMul + Add + Sigmoid + Tanh + Mul + Concat", lstm},
    {"MVN", "ReduceMean + Sub + Mul + Sqrt + Div", mvn},
    {"Normalize", "ReduceSumSquare + Add + Sqrt + Div + Mul", normalize},
    {"Permute", "Transpose", permute},
    {"Pooling", "MaxPool, AveragePool", pooling},
    {"Power", "Mul + Add + Pow", power},
    {"PReLU", "PRelu", prelu},
    {"PriorBox", "", prior_box},
    {"PSROIPooling", "PsRoiPool", ps_roi_pooling},
    {"Reduction", "ReduceSum, ReduceMean, ReduceL1, ReduceSumSquare", reduction},
    {"Region", "Split + Sigmoid + Softmax + Concat + Transpose", yolo_region},
    {"ReLU", "Relu, LeakyRelu", relu},
    {"ReLU6", "Clip", relu6},
    {"Reorg", "DepthToSpace, Transpose", reorg},
    {"Reshape", "Reshape", reshape_layer},
    {"ROIPooling", "MaxRoiPool", roi_pooling},
    {"Scale", "Mul + Add", scale},
    {"ShuffleChannel", "Reshape + Transpose", shuffle_channel},
    {"Sigmoid", "Sigmoid", sigmoid},
    {"Silence", "", silence},
    {"Slice", "Split", slice},
    {"Softmax", "Softmax", softmax},
    {"SSDDetectionOutput", "DetectionOutput", detection_output},
    {"Split", "", pass},
    {"SPP", "MaxPool + Flatten + Concat", spp},
    {"TanH", "Tanh", tanh_layer},
    {"Threshold", "Greater + Cast", threshold},
    {"Tile", "Tile", tile},
    {"Upsample", "Resize, MaxUnpool", upsample},
    {"Yolo", "Split + Sigmoid + Softmax + Concat + Transpose", yolo_region},
    {"YoloRegion", "Split + Sigmoid + Softmax + Concat + Transpose", yolo_region},
};

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
  for (const LayerType& known : kLayerTypes) {
    if (known.name == type) return known.add;
  }
  return nullptr;
}

std::span<const LayerType> layer_types() { return kLayerTypes; }

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
