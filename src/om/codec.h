// SPDX-License-Identifier: Apache-2.0
// Graph and description as protobuf messages (field numbers: docs/om_format.md). Constants are
// kept apart, in the weights section, and named by offset and size.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/protowire.h"
#include "om/model.h"

namespace anynpu::om {

// Gathers constants in the order of the weights section; one that is used twice is kept once.
class WeightTable {
 public:
  uint64_t add(const std::shared_ptr<const graph::Constant>& constant);
  const std::vector<std::shared_ptr<const graph::Constant>>& list() const { return list_; }
  uint64_t size() const { return size_; }

 private:
  std::vector<std::shared_ptr<const graph::Constant>> list_;
  std::map<const std::byte*, uint64_t> offsets_;
  uint64_t size_ = 0;
};

// The constants: the weights section, or files beside the model that replace parts of it.
struct Weights {
  struct Piece {
    uint64_t offset = 0;  // of its first byte in the section
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
  };
  std::vector<Piece> pieces;

  // Null when no piece holds all of these bytes.
  std::shared_ptr<const graph::Constant> find(uint64_t offset, uint64_t size) const;
};

WireWriter encode_graph(const graph::Graph& graph, WeightTable& weights);
Result<graph::Graph> decode_graph(WireReader reader, const Weights& weights);

WireWriter encode_meta(const Meta& meta);
Result<Meta> decode_meta(WireReader reader);

// A file that holds a part of the weights section.
struct WeightFile {
  std::string name;
  uint64_t offset = 0, size = 0;
  uint32_t checksum = 0;
};
WireWriter encode_files(const std::vector<WeightFile>& files);
Result<std::vector<WeightFile>> decode_files(WireReader reader);

// The element type or storage format behind a stored number; fails for unknown ones.
Result<DType> decode_dtype(int64_t number);
Result<Format> decode_format(int64_t number);

}  // namespace anynpu::om
