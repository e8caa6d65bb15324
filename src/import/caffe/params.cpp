// SPDX-License-Identifier: Apache-2.0
#include "import/caffe/net_text.h"

namespace anynpu::caffe {

Params::Params(const Layer& layer, std::string_view message) : text_(layer.text.find(message)) {
  if (text_ && text_->kind != TextField::Kind::message) {
    status_ = fail(Code::parse_error, "{}: '{}' is '{}'; expected a message in braces",
                   text_->where(), message, text_->text);
    text_ = nullptr;
  }
}

template <typename T>
bool Params::read(const TextField& field, T& out) {
  Status status = field.to(out);
  if (status.ok()) return true;
  keep(std::move(status));
  return false;
}

int64_t Params::integer(std::string_view field, int64_t otherwise, int64_t least, int64_t most) {
  const TextField* found = text_ ? text_->find(field) : nullptr;
  int64_t value = otherwise;
  if (!found || !read(*found, value)) return otherwise;
  if (value >= least && value <= most) return value;
  keep(fail(Code::invalid_argument, "{}: '{}' is {}; expected {} to {}", found->where(), field,
            value, least, most));
  return otherwise;
}

float Params::real(std::string_view field, float otherwise) {
  const TextField* found = text_ ? text_->find(field) : nullptr;
  float value = otherwise;
  return found && read(*found, value) ? value : otherwise;
}

bool Params::flag(std::string_view field, bool otherwise) {
  const TextField* found = text_ ? text_->find(field) : nullptr;
  bool value = otherwise;
  return found && read(*found, value) ? value : otherwise;
}

std::string Params::word(std::string_view field, const std::string& otherwise) {
  const TextField* found = text_ ? text_->find(field) : nullptr;
  std::string value;
  return found && read(*found, value) ? value : otherwise;
}

std::vector<int64_t> Params::integers(std::string_view field, int64_t least, int64_t most) {
  std::vector<int64_t> values;
  if (!text_) return values;
  for (const TextField* found : text_->all(field)) {
    int64_t value = 0;
    if (!read(*found, value)) continue;
    if (value < least || value > most) {
      keep(fail(Code::invalid_argument, "{}: '{}' is {}; expected {} to {}", found->where(), field,
                value, least, most));
      continue;
    }
    values.push_back(value);
  }
  return values;
}

std::vector<float> Params::reals(std::string_view field) {
  std::vector<float> values;
  if (!text_) return values;
  for (const TextField* found : text_->all(field)) {
    float value = 0;
    if (read(*found, value)) values.push_back(value);
  }
  return values;
}

std::vector<std::string> Params::words(std::string_view field) {
  std::vector<std::string> values;
  if (!text_) return values;
  for (const TextField* found : text_->all(field)) {
    std::string value;
    if (read(*found, value)) values.push_back(std::move(value));
  }
  return values;
}

Result<Shape> read_shape(const TextField& text) {
  Shape shape;
  for (const TextField* field : text.all("dim")) {
    int64_t extent = 0;
    ANYNPU_TRY(field->to(extent));
    // Caffe has no unknown extents; -1 and 0 mean "given on the command line".
    shape.push_back(extent <= 0 ? kDynamicDim : extent);
  }
  ANYNPU_TRY(check_shape(shape), "{}", text.where());
  return shape;
}

}  // namespace anynpu::caffe
