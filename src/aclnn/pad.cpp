// SPDX-License-Identifier: Apache-2.0
// Borders by reflection and replication, windows as columns, channels in another order.
#include <algorithm>

#include "aclnn/arithmetic.h"
#include "aclnn/axis_map.h"

namespace anynpu::aclnn {

namespace pad {

namespace {

constexpr int64_t kReflect = 1;  // else the border element is repeated

// `padding` has front and back of the last axis first.
std::vector<AxisIndex> padded_axes(Recipe& r, const Shape& shape) {
  const auto padding = r.ints("padding");
  const size_t axes = padding.size() / 2;
  std::vector<AxisIndex> list;
  for (size_t a = 0; a < axes; ++a) {
    const int64_t extent = shape[shape.size() - axes + a];
    const int64_t front = padding[2 * (axes - 1 - a)], back = padding[2 * (axes - 1 - a) + 1];
    if (r.row().number == kReflect && (front >= extent || back >= extent)) {
      refuse("padding {} and {} of an axis with {} elements; expected less than these", front, back,
             extent);
    }
    AxisIndex index;
    for (int64_t o = -front; o < extent + back; ++o) {
      const int64_t mirrored = o < 0 ? -o : o >= extent ? 2 * (extent - 1) - o : o;
      index.push_back(r.row().number == kReflect ? mirrored
                                                 : std::clamp<int64_t>(o, 0, extent - 1));
    }
    list.push_back(std::move(index));
  }
  return list;
}

void forward(Recipe& r) {
  r.out("out", gather_axes(r, r.in("self"), padded_axes(r, r.shape("self"))));
}

void backward(Recipe& r) {
  const Value g = r.cast(r.in(0), computed_in(r.dtype(0)));
  const Shape shape = r.shape("self");
  const auto axes = padded_axes(r, shape);
  std::vector<AxisMap> maps;
  for (size_t a = 0; a < axes.size(); ++a) {
    maps.push_back(map_of(axes[a], shape[shape.size() - axes.size() + a]).transposed());
  }
  r.out("gradInput", map_axes(r, g, maps));
}

struct Windows {
  std::vector<int64_t> kernel, dilation, padding, stride;
  int64_t count(const Shape& shape, size_t axis) const {
    const int64_t extent = shape[shape.size() - 2 + axis];
    return (extent + 2 * padding[axis] - dilation[axis] * (kernel[axis] - 1) - 1) / stride[axis] + 1;
  }
};
Windows windows_of(Recipe& r) {
  return {r.ints("kernelSize"), r.ints("dilation"), r.ints("padding"), r.ints("stride")};
}

// Each window becomes a column.
void im2col(Recipe& r) {
  const Windows w = windows_of(r);
  Shape shape = r.shape("self");
  Value x = r.in("self");
  const bool single = shape.size() == 3;
  if (single) shape.insert(shape.begin(), 1), x = r.reshape(x, shape);
  const int64_t n = shape[0], c = shape[1];
  x = r.op("Pad", {x, r.constant({0, 0, w.padding[0], w.padding[1], 0, 0, w.padding[0], w.padding[1]})});
  std::vector<AxisIndex> index(2);
  int64_t counts[2];
  for (size_t a = 0; a < 2; ++a) {
    counts[a] = w.count(shape, a);
    for (int64_t k = 0; k < w.kernel[a]; ++k) {
      for (int64_t o = 0; o < counts[a]; ++o) {
        index[a].push_back(o * w.stride[a] + k * w.dilation[a]);
      }
    }
  }
  x = gather_axes(r, x, index);
  x = r.reshape(x, {n, c, w.kernel[0], counts[0], w.kernel[1], counts[1]});
  x = r.transpose(x, {0, 1, 2, 4, 3, 5});
  r.out("out", r.reshape(x, r.shape("out")));
}

void col2im(Recipe& r) {
  const Windows w = windows_of(r);
  Shape shape = r.shape(0);
  Value x = r.cast(r.in(0), computed_in(r.dtype(0)));
  if (shape.size() == 2) shape.insert(shape.begin(), 1), x = r.reshape(x, shape);
  const Value image = r.constant(r.ints("inputSize")), block = r.constant(w.kernel);
  x = r.op("Col2Im", {x, image, block},
           {{"dilations", w.dilation},
            {"pads", std::vector<int64_t>{w.padding[0], w.padding[1], w.padding[0], w.padding[1]}},
            {"strides", w.stride}});
  r.out("out", r.reshape(x, r.shape("out")));
}

void channel_shuffle(Recipe& r) {
  const Shape shape = r.shape("self");
  const int64_t groups = r.integer("groups");
  if (shape.size() < 3 || groups < 1 || shape[1] % groups != 0) {
    refuse("self is {} and groups {}; expected a number that divides axis 1", to_string(shape), groups);
  }
  int64_t behind = 1;
  for (size_t i = 2; i < shape.size(); ++i) behind *= shape[i];
  const Value x = r.reshape(r.in("self"), {shape[0], groups, shape[1] / groups, behind});
  r.out("out", r.reshape(r.transpose(x, {0, 2, 1, 3}), shape));
}

const Row kRows[] = {
    {"aclnnReflectionPad1d", forward, "", false, kReflect},
    {"aclnnReflectionPad2d", forward, "", false, kReflect},
    {"aclnnReflectionPad3d", forward, "", false, kReflect},
    {"aclnnReplicationPad1d", forward},
    {"aclnnReplicationPad2d", forward},
    {"aclnnReplicationPad3d", forward},
    {"aclnnReflectionPad1dBackward", backward, "", false, kReflect},
    {"aclnnReflectionPad2dBackward", backward, "", false, kReflect},
    {"aclnnReflectionPad3dBackward", backward, "", false, kReflect},
    {"aclnnReplicationPad1dBackward", backward},
    {"aclnnReplicationPad2dBackward", backward},
    {"aclnnReplicationPad3dBackward", backward},
    {"aclnnIm2col", im2col},
    {"aclnnIm2colBackward", col2im},
    {"aclnnChannelShuffle", channel_shuffle},
};

}  // namespace

}  // namespace pad

std::span<const Row> pad_rows() { return pad::kRows; }

}  // namespace anynpu::aclnn
