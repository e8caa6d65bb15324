// SPDX-License-Identifier: Apache-2.0
// A prototxt as a list of layers in the new form: old `layers` entries get their type as a word,
// inputs of the net become Input layers, layers of the TRAIN phase are left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/prototext.h"
#include "tensor/shape.h"

namespace anynpu::caffe {

struct Layer {
  std::string name;
  std::string type;
  std::vector<std::string> bottoms;
  std::vector<std::string> tops;
  TextField text;                // the whole entry, for its parameters
  std::vector<Shape> in_shapes;  // of the tops; only for Input
};

struct NetText {
  std::string name;
  std::vector<Layer> layers;
};

// `file` is what messages call it.
Result<NetText> read_net(std::string_view prototxt, std::string_view file);

// "Convolution" for "CONVOLUTION" or the number 4 of the old form; empty when there is no such
// type.
std::string_view type_of_old_name(std::string_view name);

// Fields of one `..._param` message. An invalid value is recorded as the first failure and read as
// the default, so that a layer checks status() only once.
class Params {
 public:
  Params(const Layer& layer, std::string_view message);

  bool has(std::string_view field) const { return text_ && text_->find(field); }
  int64_t integer(std::string_view field, int64_t otherwise, int64_t least = 0,
                  int64_t most = 1 << 24);
  float real(std::string_view field, float otherwise);
  bool flag(std::string_view field, bool otherwise);
  std::string word(std::string_view field, const std::string& otherwise);
  std::vector<int64_t> integers(std::string_view field, int64_t least = 0, int64_t most = 1 << 24);
  std::vector<float> reals(std::string_view field);
  std::vector<std::string> words(std::string_view field);
  const TextField* message(std::string_view field) const {
    return text_ ? text_->find(field) : nullptr;
  }

  const Status& status() const { return status_; }

 private:
  template <typename T>
  bool read(const TextField& field, T& out);
  void keep(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  const TextField* text_;
  Status status_;
};

// The extents of a `shape { dim: 1 dim: 3 }`.
Result<Shape> read_shape(const TextField& text);

}  // namespace anynpu::caffe
