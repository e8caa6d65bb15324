// SPDX-License-Identifier: Apache-2.0
#include "import/caffe/builder.h"

#include "ops/registry.h"

namespace anynpu::caffe {

using graph::Constant;
using graph::kNoValue;
using graph::Value;

namespace {

template <typename T>
std::shared_ptr<const Constant> constant_of(std::shared_ptr<const std::vector<T>> elements) {
  return std::make_shared<const Constant>(Constant{elements, std::as_bytes(std::span(*elements))});
}

Shape without_ones(const Shape& shape) {
  Shape kept;
  for (int64_t extent : shape) {
    if (extent != 1) kept.push_back(extent);
  }
  return kept;
}

// Far beyond what networks have; it keeps the arithmetic on extents from overflowing.
constexpr int64_t kMaxExtent = int64_t{1} << 32;
constexpr int64_t kMaxElements = int64_t{1} << 48;
constexpr size_t kMaxRank = 8;

}  // namespace

Status check_extents(const Shape& shape) {
  ANYNPU_TRY(check_shape(shape));
  int64_t count = 1;
  bool fits = shape.size() <= kMaxRank;
  for (int64_t extent : shape) {
    fits = fits && extent <= kMaxExtent && (extent <= 0 || count <= kMaxElements / extent);
    if (fits && extent > 0) count *= extent;
  }
  if (fits) return {};
  return fail(Code::unsupported_shape,
              "a blob has the shape {}; expected at most {} axes, {} elements along each and {} in "
              "all: check the extents of the inputs and the parameters of the layer",
              to_string(shape), kMaxRank, kMaxExtent, kMaxElements);
}

Status Builder::expect(size_t bottoms, size_t tops) const {
  if (bottoms_.size() == bottoms && tops_.size() == tops) return {};
  return fail(Code::invalid_argument,
              "it has {} bottoms and {} tops; expected {} and {}: correct its bottom and top lines",
              bottoms_.size(), tops_.size(), bottoms, tops);
}

Status Builder::expect_at_least(size_t bottoms, size_t tops) const {
  if (bottoms_.size() >= bottoms && tops_.size() >= tops) return {};
  return fail(Code::invalid_argument,
              "it has {} bottoms and {} tops; expected at least {} and {}: correct its bottom and "
              "top lines",
              bottoms_.size(), tops_.size(), bottoms, tops);
}

Result<int64_t> Builder::axis(int64_t given, int64_t count) const {
  const int64_t made = given < 0 ? given + count : given;
  if (made >= 0 && made < count) return made;
  return fail(Code::invalid_argument, "axis is {}; expected {} to {} for a bottom of the shape {}",
              given, -count, count - 1,
              bottoms_.empty() ? std::string("unknown") : to_string(shape(bottoms_[0])));
}

Status Builder::need_static(ValueId id) const {
  if (is_static(shape(id))) return {};
  return fail(Code::unsupported_shape,
              "its bottom has the shape {}; this layer needs fixed extents, give them with "
              "--input_shape",
              to_string(shape(id)));
}

Result<int64_t> Builder::extent(ValueId id, int64_t index) const {
  if (index < 0 || index >= rank(id)) {
    return fail(Code::unsupported_shape, "its bottom has the shape {}; expected at least {} axes",
                to_string(shape(id)), index + 1);
  }
  const int64_t made = shape(id)[static_cast<size_t>(index)];
  if (made >= 0) return made;
  return fail(Code::unsupported_shape,
              "its bottom has the shape {}; axis {} must be fixed, give it with --input_shape",
              to_string(shape(id)), index);
}

size_t Builder::weight_count() const {
  if (!weights_) return 0;
  const auto found = weights_->find(layer_->name);
  return found == weights_->end() ? 0 : found->second.size();
}

Result<const Blob*> Builder::blob(size_t index) const {
  if (index < weight_count()) return &weights_->find(layer_->name)->second[index];
  return fail(
      Code::not_found,
      "it has {} weight blobs in the caffemodel; expected at least {}: give the .caffemodel "
      "that belongs to this prototxt",
      weight_count(), index + 1);
}

Result<ValueId> Builder::weight(size_t index, const Shape& shape) {
  ANYNPU_ASSIGN(const Blob* found, blob(index));
  // Old files hold four extents, filled up with ones.
  if (without_ones(found->shape) != without_ones(shape)) {
    return fail(Code::shape_mismatch,
                "weight blob {} is {} in the caffemodel, the prototxt asks for {}; the two files "
                "belong to different nets",
                index, to_string(found->shape), to_string(shape));
  }
  Value value;
  value.name = value_names_.take(format("{}/weight_{}", layer_->name, index));
  value.dtype = DType::f32;
  value.shape = shape;
  value.has_shape = true;
  value.constant = constant_of(found->data);
  return graph_.add_value(std::move(value));
}

ValueId Builder::constant(Shape shape, std::vector<float> elements) {
  Value value;
  value.name = value_names_.take(layer_->name + "/constant");
  value.dtype = DType::f32;
  value.shape = std::move(shape);
  value.has_shape = true;
  value.constant = constant_of(std::make_shared<const std::vector<float>>(std::move(elements)));
  return graph_.add_value(std::move(value));
}

ValueId Builder::integers(std::vector<int64_t> elements) {
  Value value;
  value.name = value_names_.take(layer_->name + "/integers");
  value.dtype = DType::i64;
  value.shape = {static_cast<int64_t>(elements.size())};
  value.has_shape = true;
  value.constant = constant_of(std::make_shared<const std::vector<int64_t>>(std::move(elements)));
  return graph_.add_value(std::move(value));
}

Result<std::vector<ValueId>> Builder::add_several(std::string_view op, std::vector<ValueId> inputs,
                                                  Attrs attrs, size_t outputs,
                                                  std::string_view domain) {
  graph::Node node;
  node.op = op;
  node.domain = domain;
  node.opset = domain.empty() ? kOpset : 1;
  node.name = layer_->name;  // the final names are set when the layer is complete
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  for (size_t i = 0; i < outputs; ++i) {
    Value value;
    value.name = value_names_.take(format("{}/{}", layer_->name, op));
    node.outputs.push_back(graph_.add_value(std::move(value)));
  }
  ANYNPU_ASSIGN(const ops::OpContext context, ops::infer(graph_, node));
  for (size_t i = 0; i < outputs; ++i) {
    Value& value = graph_.values[static_cast<size_t>(node.outputs[i])];
    value.dtype = context.outputs[i].dtype;
    value.shape = context.outputs[i].shape;
    value.has_shape = context.outputs[i].has_shape;
    if (!value.has_shape) {
      return fail(Code::unsupported_shape,
                  "the shape of '{}' stays unknown; give the extents of the inputs with "
                  "--input_shape",
                  value.name);
    }
    ANYNPU_TRY(check_extents(value.shape));
  }
  std::vector<ValueId> made = node.outputs;
  graph_.nodes.push_back(std::move(node));
  return made;
}

Result<ValueId> Builder::add(std::string_view op, std::vector<ValueId> inputs, Attrs attrs,
                             std::string_view domain) {
  ANYNPU_ASSIGN(const auto made, add_several(op, std::move(inputs), std::move(attrs), 1, domain));
  return made[0];
}

Result<ValueId> Builder::reshape(ValueId id, std::vector<int64_t> shape) {
  return add("Reshape", {id, integers(std::move(shape))});
}

Status Builder::set_top(size_t index, ValueId id) {
  if (index >= tops_.size()) {
    return fail(Code::invalid_argument, "it has {} tops; expected at least {}: add a top line",
                tops_.size(), index + 1);
  }
  tops_[index] = id;
  return {};
}

}  // namespace anynpu::caffe
