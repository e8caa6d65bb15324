// SPDX-License-Identifier: Apache-2.0
// The messages of a .mindir file as they are written: a main graph, functions, primitives. Nothing
// is interpreted here; tensor data stays in the file's memory.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/protowire.h"
#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace anynpu::mindspore {

struct Tensor {
  std::string name;
  DType dtype = DType::undefined;
  int64_t stored_type = 0;  // the file's number
  Shape shape;
  std::span<const std::byte> data;
  std::string location;  // of data in a file beside the model; else empty
  int64_t offset = 0, length = 0;
  int64_t compression = 0;
};

// The numbers of the file that are told apart here.
enum class AttrType : int64_t {
  none = 25,
  real = 1,
  u8 = 2,
  i64 = 7,
  text = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u64 = 13,
  bf16 = 16,
  tensor = 17,
  tensors = 19,
  tuple = 20,
  list = 21,
  dict = 22,
  umonad = 23,
  iomonad = 24,
};

struct Attribute {
  std::string name;
  int64_t type = 0;  // AttrType, or a kind that has no name here
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<Tensor> tensors;
  std::vector<Attribute> values;  // of a tuple or list

  bool is(AttrType kind) const { return type == static_cast<int64_t>(kind); }
};

struct Node {
  std::string name;
  std::string op_type;  // "REF::MatMul:21" is a primitive or a function, "Constant" a value
  std::string scope;    // "Default/fc1-Dense/MatMul-op0"
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> attributes;
};

struct ValueInfo {
  std::string name;
  std::vector<Tensor> tensors;  // type and shape
  Attribute attribute;          // of what is no tensor
};

struct GraphProto {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Tensor> parameters;
  std::vector<ValueInfo> inputs, outputs;
};

struct Primitive {
  std::string name;     // what nodes refer to: "MatMul:21"
  std::string op_type;  // "MatMul"
  std::vector<Attribute> attributes;
};

struct Model {
  std::string producer, version;
  GraphProto graph;
  std::map<std::string, GraphProto> functions;
  std::map<std::string, Primitive> primitives;
};

// `bytes` must outlive the model.
Result<Model> read_mindir(std::span<const std::byte> bytes);

}  // namespace anynpu::mindspore
