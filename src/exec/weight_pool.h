// SPDX-License-Identifier: Apache-2.0
// WeightPool: the packed weights and constants of plans, so that the plans of one model (its gears,
// or sets of shapes) share one copy of common weights. What pack() writes depends only on the
// kernel, the node's attributes and the constants (ops/kernel.h); constants are equal if they are
// the same constant of the model, or have the same bytes.
//
// Used in rounds: open() a chunk for each side, plan any number of graphs, allocate the chunks,
// fill them, close(). Plans hold the chunks they use; a chunk is freed with its last plan. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/memory.h"
#include "graph/graph.h"
#include "ops/kernel.h"

namespace anynpu::exec {

// Where weights are: on the host, for CPU kernels, or in the memory of a device.
enum class WeightSide : uint8_t { host, device };

struct WeightChunk {
  Memory memory;  // empty until all plans of the round are made
  size_t bytes = 0;
  WeightSide side = WeightSide::host;
};

class WeightPool {
 public:
  // Constants of `source` (and of its subgraphs) are identified by their address, so it must
  // outlive the pool. Null: no graph does.
  explicit WeightPool(const graph::Graph* source = nullptr);

  struct Reserved {
    std::shared_ptr<WeightChunk> chunk;
    size_t offset = 0;
    bool fresh = true;  // not written yet, and no earlier plan will write it
  };

  void open();
  const std::shared_ptr<WeightChunk>& chunk(WeightSide side) const {
    return side == WeightSide::host ? host_ : device_;
  }
  void close();

  // Space for a constant as it is; `bytes` stays valid until close().
  Reserved constant(std::span<const std::byte> bytes, WeightSide side = WeightSide::host);
  // Space for what `kernel` packs, on the side that its back end reads.
  Reserved packed(const ops::KernelDef& def, const ops::Kernel& kernel,
                  const ops::OpContext& context);

 private:
  struct StoredAt {
    std::weak_ptr<WeightChunk> chunk;
    size_t offset = 0;
  };
  using Bytes = std::span<const std::byte>;

  void note_constants(const graph::Graph& graph);
  // The same number for the same bytes; 0 when they cannot be compared.
  uint64_t number_of(Bytes bytes);
  Reserved reserve(const std::string& key, size_t bytes, WeightSide side);

  std::map<std::pair<const std::byte*, size_t>, uint64_t> source_;
  std::map<std::string, uint64_t> small_;  // by content
  size_t small_bytes_ = 0;
  std::vector<std::pair<Bytes, uint64_t>> large_;  // of this round
  uint64_t numbers_ = 0;
  std::map<std::string, StoredAt> stored_;
  std::shared_ptr<WeightChunk> host_, device_;
};

}  // namespace anynpu::exec
