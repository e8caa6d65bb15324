// SPDX-License-Identifier: Apache-2.0
// ModelDef: the vendor's description of a model as a graph of its operators. It is the whole of an
// .air file and part 0 of a .om file of the vendor. Read as it is written; tensor data stays in the
// file's memory.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/protowire.h"
#include "base/result.h"
#include "import/singleop/op.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace anynpu::ge {

struct TensorDef {
  std::string name;
  DType dtype = DType::undefined;
  Format format = Format::undefined;  // undefined: a name that is not known here
  std::string layout;                 // that name
  Shape shape;
  bool has_shape = false;
  // Shape and format before they were changed for the chip; as above where the file has none.
  Shape origin_shape;
  Format origin_format = Format::undefined;
  int64_t size = 0, weight_size = 0, data_offset = 0;
  std::span<const std::byte> data;  // of a constant, when it is here

  bool is_blocked() const;  // in a format of the chip
};

struct OpDef {
  std::string name, type;
  std::vector<std::string> inputs;  // "conv1:0"; "conv1:-1" orders operators; "" is left out
  std::vector<std::string> subgraphs;
  singleop::Attrs attrs;                     // those that operators have
  std::map<std::string, TensorDef> tensors;  // attributes that are tensors: the value of a Const
  std::vector<TensorDef> input_descs, output_descs;

  int64_t int_attr(const std::string& key, int64_t otherwise) const;
  std::string string_attr(const std::string& key, const std::string& otherwise = {}) const;
};

struct GraphDef {
  std::string name;
  std::vector<OpDef> ops;
};

struct ModelDef {
  std::string name, custom_version;
  uint64_t version = 0;
  std::vector<GraphDef> graphs;  // the main one, then those that operators name
  singleop::Attrs attrs;

  std::string string_attr(const std::string& key) const;
};

// `bytes` must outlive the model.
Result<ModelDef> read_model_def(std::span<const std::byte> bytes);

// Whether a file starts as a ModelDef does, and not as one of the other protobufs that models are.
bool looks_like_model_def(std::span<const std::byte> bytes);

// "NC1HWC0" -> Format::nc1hwc0; undefined for other names.
Format format_named(std::string_view name);
// The element type of a number in DataType of the file.
DType dtype_of_number(int64_t number);
// "DT_FLOAT": what the file calls it.
std::string dtype_name(int64_t number);

}  // namespace anynpu::ge
