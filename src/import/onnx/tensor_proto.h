// SPDX-License-Identifier: Apache-2.0
// TensorProto -> constant: every way of storage (raw_data, typed lists, external files) is
// converted to plain bytes in AnyNPU's layout.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/mapped_file.h"
#include "base/protowire.h"
#include "graph/graph.h"

namespace anynpu::onnx {

// The bytes of a model, and the folder of its external data.
struct Source {
  std::shared_ptr<const void> owner;
  std::string folder;  // empty: external data is refused
  std::map<std::string, std::shared_ptr<const MappedFile>> external;
  int64_t dense_bytes = 0;  // of what was sparse
  // Constants of UINT4 that were read as INT4, each element 8 lower (unsigned_fours.cpp).
  std::set<const graph::Constant*> unsigned_fours = {};
};

struct Tensor {
  std::string name;
  DType dtype = DType::undefined;
  Shape shape;
  std::shared_ptr<const graph::Constant> data;
};

Result<Tensor> read_tensor(const WireField& field, Source& source);
// A SparseTensorProto in its dense form, which is limited to 256 MiB; the name is that of its
// values.
Result<Tensor> read_sparse_tensor(const WireField& field, Source& source);

// The element type for TensorProto.DataType; fails for types AscendCL cannot describe.
Result<DType> dtype_of(int64_t onnx_type);

// A constant that owns a copy of `bytes`, aligned to 64.
std::shared_ptr<const graph::Constant> copy_constant(std::span<const std::byte> bytes);

// Strings in the layout of tensor/texts.h.
std::shared_ptr<const graph::Constant> string_constant(const std::vector<std::string_view>& texts);

// The part of an external file that a tensor names. `location` must lie inside source.folder.
struct ExternalData {
  std::string location;
  uint64_t offset = 0;
  uint64_t length = 0;
  bool has_length = false;
};
Result<graph::Constant> read_external(const ExternalData& where, uint64_t expected, Source& source);

}  // namespace anynpu::onnx
