// SPDX-License-Identifier: Apache-2.0
// The plans of the collective operations. Arguments are checked when a plan is made: addresses,
// sizes, ranks, types; a count of 0 gives null, nothing to do. Data is sent directly from rank to
// rank: each element is reduced by one rank, in rank order, and then sent to all ranks that need
// it, which moves the least data. Small arrays are sent whole and reduced by every rank, in one
// trip.
//
// Outputs may be in place, or overlap the inputs in any other way, which costs a copy.
#pragma once

#include <memory>
#include <span>

#include "collective/operation.h"

namespace anynpu::collective {

using Plan = Result<std::shared_ptr<Operation>>;
using Group = std::shared_ptr<Communicator>;

Plan plan_all_reduce(const Group& group, const void* in, void* out, uint64_t count, Element element,
                     ReduceOp reduce_op);
Plan plan_reduce(const Group& group, const void* in, void* out, uint64_t count, Element element,
                 ReduceOp reduce_op, uint32_t root);
Plan plan_broadcast(const Group& group, void* data, uint64_t count, Element element, uint32_t root);
Plan plan_scatter(const Group& group, const void* in, void* out, uint64_t count, Element element,
                  uint32_t root);
Plan plan_barrier(const Group& group);

// The position of each rank's elements, in elements from the start.
struct Layout {
  std::vector<uint64_t> counts;
  std::vector<uint64_t> offsets;
  // `count` elements a rank, one after the other.
  static Layout even(uint32_t ranks, uint64_t count);
  static Layout of(std::span<const uint64_t> counts, std::span<const uint64_t> offsets) {
    return {{counts.begin(), counts.end()}, {offsets.begin(), offsets.end()}};
  }
};
Plan plan_all_gather(const Group& group, const void* in, uint64_t count, void* out,
                     const Layout& layout, Element element);
Plan plan_reduce_scatter(const Group& group, const void* in, const Layout& layout, void* out,
                         uint64_t count, Element element, ReduceOp reduce_op);
Plan plan_all_to_all(const Group& group, const void* in, const Layout& in_layout,
                     Element in_element, void* out, const Layout& out_layout, Element out_element);

// Sends and receives that go on at the same time.
struct Transfer {
  bool sends;
  void* at;
  uint64_t count;
  Element element;
  uint32_t peer;
};
Plan plan_transfers(const Group& group, std::span<const Transfer> transfers);

}  // namespace anynpu::collective
