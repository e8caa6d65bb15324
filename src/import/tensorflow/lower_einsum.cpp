// SPDX-License-Identifier: Apache-2.0
// Einsum of two tensors is a matrix product between reshapes where it can be: the passes that look
// for attention and layers find it then. Everything else is our Einsum.
#include <algorithm>
#include <map>
#include <numeric>

#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

struct Labels {
  std::string left, right, out;
  bool plain = false;  // two operands, each label once in each, no ellipsis
};

bool each_once(const std::string& labels) {
  std::string sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

Labels parse_equation(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  Labels labels;
  const size_t comma = text.find(','), arrow = text.find("->");
  if (comma == text.npos || arrow == text.npos || text.find(',', comma + 1) != text.npos ||
      text.find('.') != text.npos || comma > arrow)
    return labels;
  labels.left = text.substr(0, comma);
  labels.right = text.substr(comma + 1, arrow - comma - 1);
  labels.out = text.substr(arrow + 2);
  labels.plain = each_once(labels.left) && each_once(labels.right) && each_once(labels.out);
  return labels;
}

bool has(const std::string& labels, char one) { return labels.find(one) != labels.npos; }

// The axes of `from` in the order of `to`.
Ints order_of(const std::string& from, const std::string& to) {
  Ints order;
  for (char label : to) order.push_back(static_cast<int64_t>(from.find(label)));
  return order;
}

int64_t extent_of(const std::string& labels, const std::map<char, int64_t>& extents) {
  int64_t product = 1;
  for (char label : labels) product *= extents.at(label);
  return product;
}

bool lower_as_product(Builder& b, const Labels& e, ValueId x, ValueId y) {
  std::map<char, int64_t> extents;
  if (!b.is_fixed(x) || !b.is_fixed(y) || b.rank(x) != static_cast<int64_t>(e.left.size()) ||
      b.rank(y) != static_cast<int64_t>(e.right.size()))
    return false;
  for (size_t i = 0; i < e.left.size(); ++i) extents[e.left[i]] = b.shape(x)[i];
  for (size_t i = 0; i < e.right.size(); ++i) {
    const auto [found, fresh] = extents.try_emplace(e.right[i], b.shape(y)[i]);
    if (!fresh && found->second != b.shape(y)[i]) return false;
  }
  std::string batch, rows, columns, inner;
  for (char label : e.left) {
    if (has(e.right, label)) {
      (has(e.out, label) ? batch : inner) += label;
    } else if (has(e.out, label)) {
      rows += label;
    } else {
      return false;  // summed over alone
    }
  }
  for (char label : e.right) {
    if (has(e.left, label)) continue;
    if (!has(e.out, label)) return false;
    columns += label;
  }
  if (inner.empty() || e.out.size() != batch.size() + rows.size() + columns.size()) return false;
  const auto arranged = [&](ValueId id, const std::string& from, const std::string& a,
                            const std::string& c) {
    const ValueId turned = b.transpose(id, order_of(from, batch + a + c));
    Ints shape;
    for (char label : batch) shape.push_back(extents.at(label));
    shape.push_back(extent_of(a, extents));
    shape.push_back(extent_of(c, extents));
    return b.shape(turned) == shape ? turned : b.reshape(turned, shape);
  };
  // A weight without batch multiplies all rows at once, and their axes stay as they are.
  ValueId left = kNoValue;
  if (batch.empty() && e.left == rows + inner && !rows.empty()) {
    Ints shape;
    for (char label : rows) shape.push_back(extents.at(label));
    shape.push_back(extent_of(inner, extents));
    left = inner.size() == 1 ? x : b.reshape(x, shape);
  } else {
    left = arranged(x, e.left, rows, inner);
  }
  const ValueId right = arranged(y, e.right, inner, columns);
  ValueId product = b.node("MatMul", 13, {left, right});
  Ints shape;
  const std::string made = batch + rows + columns;
  for (char label : made) shape.push_back(extents.at(label));
  if (b.ok() && b.shape(product) != shape) product = b.reshape(product, shape);
  b.out(0, b.transpose(product, order_of(made, e.out)));
  return true;
}

}  // namespace

namespace {

// Whether what is left of the left operand comes behind what is left of the right one: then the
// product the other way round needs no Transpose behind it.
bool is_turned(const Labels& e) {
  size_t left = e.out.npos, right = 0;
  for (size_t i = 0; i < e.out.size(); ++i) {
    const bool in_left = has(e.left, e.out[i]), in_right = has(e.right, e.out[i]);
    if (in_left && !in_right) left = std::min(left, i);
    if (in_right && !in_left) right = i;
  }
  return left != e.out.npos && right < left && right > 0;
}

}  // namespace

void lower_einsum(Builder& b) {
  const std::string equation = b.s("equation", "");
  const std::vector<ValueId> inputs = b.all_inputs();
  if (!b.ok()) return;
  const Labels labels = parse_equation(equation);
  if (labels.plain && inputs.size() == 2) {
    const Labels turned{labels.right, labels.left, labels.out, true};
    const bool done = is_turned(labels) ? lower_as_product(b, turned, inputs[1], inputs[0])
                                        : lower_as_product(b, labels, inputs[0], inputs[1]);
    if (done) return;
  }
  b.out(0, b.node("Einsum", 12, inputs, {{"equation", equation}}));
}

}  // namespace anynpu::tensorflow
