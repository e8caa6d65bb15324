// SPDX-License-Identifier: Apache-2.0
#include "collective/plans.h"

#include <algorithm>

#include "device/host_view.h"

namespace anynpu::collective {

namespace {

using device::Access;

constexpr uint64_t kMostBytes = uint64_t{1} << 46;
constexpr uint64_t kSmallBytes = 32 << 10;  // sent whole by an AllReduce, to all ranks together

Result<uint64_t> bytes_for(uint64_t count, Element element, const char* what) {
  if (count <= kMostBytes / bytes_of(element)) return count * bytes_of(element);
  return fail(Code::invalid_argument, "{} is {} elements of {}; expected at most {} bytes", what,
              count, name_of(element), kMostBytes);
}

// Memory that the operation uses; kept until it is over. Null for no bytes.
Result<std::byte*> use(Operation& op, const void* at, uint64_t bytes, Access access,
                       const char* what) {
  if (bytes == 0) return nullptr;
  ANYNPU_ASSIGN(auto range, device::check_range(at, bytes, access, what));
  std::byte* address = reinterpret_cast<std::byte*>(range.address);
  op.ranges.push_back(std::move(range));
  return address;
}

Status check_rank(const Group& group, uint32_t rank, const char* what) {
  if (rank < group->size()) return {};
  return fail(Code::invalid_argument, "{} is {}; expected a rank below {}", what, rank,
              group->size());
}

bool overlap(const std::byte* a, uint64_t a_bytes, const std::byte* b, uint64_t b_bytes) {
  return a && b && a < b + b_bytes && b < a + a_bytes;
}

// The input, or where a copy of it will be when the operation begins.
std::byte* staged(Operation& op, std::byte* in, uint64_t bytes) {
  op.staging.resize(bytes);
  op.copies.push_back({op.staging.data(), in, bytes});
  return op.staging.data();
}

void copy_own(Operation& op, std::byte* to, const std::byte* from, uint64_t bytes) {
  if (bytes && to != from) op.copies.push_back({to, from, bytes});
}

Operation::Flow flow_of(uint32_t peer, std::byte* at, uint64_t bytes) {
  Operation::Flow flow;
  flow.peer = peer;
  flow.parts.push_back({at, bytes, false});
  return flow;
}

// Calls f(peer) for all others, starting after this rank, so that not all start with rank 0.
template <typename F>
void for_peers(const Group& group, F&& f) {
  for (uint32_t i = 1; i < group->size(); ++i) f((group->rank() + i) % group->size());
}

// The share of a rank in `count` elements that all ranks reduce together.
struct Share {
  uint64_t first, count;
};
Share share_of(uint64_t count, uint32_t ranks, uint32_t rank) {
  const uint64_t base = count / ranks, rest = count % ranks;
  return {rank * base + std::min<uint64_t>(rank, rest), base + (rank < rest ? 1 : 0)};
}

std::shared_ptr<Operation> new_operation(const Group& group, Kind kind, Element element,
                                         ReduceOp reduce_op, uint64_t count) {
  return std::make_shared<Operation>(group, kind, element, reduce_op, count);
}

Status check_layout(const Layout& layout, const Group& group, const char* what) {
  if (layout.counts.size() == group->size() && layout.offsets.size() == group->size()) return {};
  return fail(Code::invalid_argument, "{} has {} counts and {} offsets; expected {}, one a rank",
              what, layout.counts.size(), layout.offsets.size(), group->size());
}

// Elements from the start to the end of the last one.
Result<uint64_t> span_of(const Layout& layout, Element element, const char* what) {
  uint64_t end = 0;
  for (size_t i = 0; i < layout.counts.size(); ++i) {
    if (layout.counts[i] == 0) continue;
    ANYNPU_TRY(bytes_for(layout.counts[i], element, what).status());
    ANYNPU_TRY(bytes_for(layout.offsets[i], element, what).status());
    end = std::max(end, layout.offsets[i] + layout.counts[i]);
  }
  return bytes_for(end, element, what);
}

}  // namespace

Layout Layout::even(uint32_t ranks, uint64_t count) {
  Layout layout;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    layout.counts.push_back(count);
    layout.offsets.push_back(rank * count);
  }
  return layout;
}

Plan plan_all_reduce(const Group& group, const void* in, void* out, uint64_t count, Element element,
                     ReduceOp reduce_op) {
  ANYNPU_TRY(check_reducible(element));
  ANYNPU_ASSIGN(const uint64_t bytes, bytes_for(count, element, "count"));
  auto op = new_operation(group, Kind::all_reduce, element, reduce_op, count);
  ANYNPU_ASSIGN(std::byte * from, use(*op, in, bytes, Access::read, "sendBuf"));
  ANYNPU_ASSIGN(std::byte * to, use(*op, out, bytes, Access::write, "recvBuf"));
  if (bytes == 0) return std::shared_ptr<Operation>();
  if (from != to && overlap(from, bytes, to, bytes)) from = staged(*op, from, bytes);
  op->reduces = true;
  const bool small = bytes <= group->piece() && bytes * (group->size() - 1) <= kSmallBytes;
  if (small) {
    op->reduction = {from, to, bytes, from == to, 0};
    for_peers(group, [&](uint32_t peer) { op->out.push_back(flow_of(peer, from, bytes)); });
    return op;
  }
  const uint64_t unit = bytes_of(element);
  const Share own = share_of(count, group->size(), group->rank());
  op->reduction = {from + own.first * unit, to + own.first * unit, own.count * unit, false, 0};
  for_peers(group, [&](uint32_t peer) {
    const Share theirs = share_of(count, group->size(), peer);
    Operation::Flow sends, receives;
    sends.peer = receives.peer = peer;
    if (theirs.count) {
      sends.parts.push_back({from + theirs.first * unit, theirs.count * unit, false});
      receives.parts.push_back({to + theirs.first * unit, theirs.count * unit, true});
    }
    if (own.count) sends.parts.push_back({to + own.first * unit, own.count * unit, true});
    op->out.push_back(std::move(sends));
    op->in.push_back(std::move(receives));
  });
  return op;
}

Plan plan_reduce(const Group& group, const void* in, void* out, uint64_t count, Element element,
                 ReduceOp reduce_op, uint32_t root) {
  ANYNPU_TRY(check_reducible(element));
  ANYNPU_TRY(check_rank(group, root, "root"));
  ANYNPU_ASSIGN(const uint64_t bytes, bytes_for(count, element, "count"));
  auto op = new_operation(group, Kind::reduce, element, reduce_op, count);
  ANYNPU_ASSIGN(std::byte * from, use(*op, in, bytes, Access::read, "sendBuf"));
  const bool is_root = group->rank() == root;
  ANYNPU_ASSIGN(std::byte * to, use(*op, out, is_root ? bytes : 0, Access::write, "recvBuf"));
  if (bytes == 0) return std::shared_ptr<Operation>();
  if (!is_root) {
    op->out.push_back(flow_of(root, from, bytes));
    return op;
  }
  if (from != to && overlap(from, bytes, to, bytes)) from = staged(*op, from, bytes);
  op->reduces = true;
  op->reduction = {from, to, bytes, false, 0};
  return op;
}

Plan plan_reduce_scatter(const Group& group, const void* in, const Layout& layout, void* out,
                         uint64_t count, Element element, ReduceOp reduce_op) {
  ANYNPU_TRY(check_reducible(element));
  ANYNPU_TRY(check_layout(layout, group, "sendBuf"));
  if (layout.counts[group->rank()] != count) {
    return anynpu::fail(Code::invalid_argument,
                        "recvCount is {}, but sendCounts gives {} to this rank, {}", count,
                        layout.counts[group->rank()], group->rank());
  }
  ANYNPU_ASSIGN(const uint64_t in_bytes, span_of(layout, element, "sendCounts"));
  ANYNPU_ASSIGN(const uint64_t bytes, bytes_for(count, element, "recvCount"));
  auto op = new_operation(group, Kind::reduce_scatter, element, reduce_op, count);
  ANYNPU_ASSIGN(std::byte * from, use(*op, in, in_bytes, Access::read, "sendBuf"));
  ANYNPU_ASSIGN(std::byte * to, use(*op, out, bytes, Access::write, "recvBuf"));
  if (in_bytes == 0) return std::shared_ptr<Operation>();
  const uint64_t unit = bytes_of(element);
  const uint64_t own = layout.offsets[group->rank()] * unit;
  if (to != from + own && overlap(from, in_bytes, to, bytes)) from = staged(*op, from, in_bytes);
  op->reduces = bytes > 0;
  op->reduction = {from + own, to, bytes, false, 0};
  for_peers(group, [&](uint32_t peer) {
    if (layout.counts[peer] == 0) return;
    op->out.push_back(
        flow_of(peer, from + layout.offsets[peer] * unit, layout.counts[peer] * unit));
  });
  return op;
}

Plan plan_all_gather(const Group& group, const void* in, uint64_t count, void* out,
                     const Layout& layout, Element element) {
  ANYNPU_TRY(check_layout(layout, group, "recvBuf"));
  if (layout.counts[group->rank()] != count) {
    return fail(Code::invalid_argument, "sendCount is {}, but recvCounts has {} for this rank, {}",
                count, layout.counts[group->rank()], group->rank());
  }
  ANYNPU_ASSIGN(const uint64_t bytes, bytes_for(count, element, "sendCount"));
  ANYNPU_ASSIGN(const uint64_t out_bytes, span_of(layout, element, "recvCounts"));
  auto op = new_operation(group, Kind::all_gather, element, ReduceOp::sum, count);
  ANYNPU_ASSIGN(std::byte * from, use(*op, in, bytes, Access::read, "sendBuf"));
  ANYNPU_ASSIGN(std::byte * to, use(*op, out, out_bytes, Access::write, "recvBuf"));
  if (out_bytes == 0) return std::shared_ptr<Operation>();
  const uint64_t unit = bytes_of(element);
  std::byte* const own = to + layout.offsets[group->rank()] * unit;
  if (from != own && overlap(from, bytes, to, out_bytes)) from = staged(*op, from, bytes);
  copy_own(*op, own, from, bytes);
  for_peers(group, [&](uint32_t peer) {
    if (bytes) op->out.push_back(flow_of(peer, from, bytes));
    if (layout.counts[peer] == 0) return;
    op->in.push_back(flow_of(peer, to + layout.offsets[peer] * unit, layout.counts[peer] * unit));
  });
  return op;
}

Plan plan_broadcast(const Group& group, void* data, uint64_t count, Element element,
                    uint32_t root) {
  ANYNPU_TRY(check_rank(group, root, "root"));
  ANYNPU_ASSIGN(const uint64_t bytes, bytes_for(count, element, "count"));
  auto op = new_operation(group, Kind::broadcast, element, ReduceOp::sum, count);
  const bool is_root = group->rank() == root;
  ANYNPU_ASSIGN(std::byte * at,
                use(*op, data, bytes, is_root ? Access::read : Access::write, "buf"));
  if (bytes == 0) return std::shared_ptr<Operation>();
  if (!is_root) {
    op->in.push_back(flow_of(root, at, bytes));
    return op;
  }
  for_peers(group, [&](uint32_t peer) { op->out.push_back(flow_of(peer, at, bytes)); });
  return op;
}

Plan plan_scatter(const Group& group, const void* in, void* out, uint64_t count, Element element,
                  uint32_t root) {
  ANYNPU_TRY(check_rank(group, root, "root"));
  ANYNPU_ASSIGN(const uint64_t bytes, bytes_for(count, element, "recvCount"));
  ANYNPU_ASSIGN(const uint64_t all_bytes,
                span_of(Layout::even(group->size(), count), element, "recvCount of all ranks"));
  auto op = new_operation(group, Kind::scatter, element, ReduceOp::sum, count);
  const bool is_root = group->rank() == root;
  ANYNPU_ASSIGN(std::byte * from, use(*op, in, is_root ? all_bytes : 0, Access::read, "sendBuf"));
  ANYNPU_ASSIGN(std::byte * to, use(*op, out, bytes, Access::write, "recvBuf"));
  if (bytes == 0) return std::shared_ptr<Operation>();
  if (!is_root) {
    op->in.push_back(flow_of(root, to, bytes));
    return op;
  }
  if (to != from + root * bytes && overlap(from, all_bytes, to, bytes)) {
    from = staged(*op, from, all_bytes);
  }
  copy_own(*op, to, from + root * bytes, bytes);
  for_peers(group,
            [&](uint32_t peer) { op->out.push_back(flow_of(peer, from + peer * bytes, bytes)); });
  return op;
}

Plan plan_all_to_all(const Group& group, const void* in, const Layout& in_layout,
                     Element in_element, void* out, const Layout& out_layout, Element out_element) {
  if (in_element != out_element) {
    return fail(Code::invalid_argument, "sendType is {} and recvType is {}; expected the same",
                name_of(in_element), name_of(out_element));
  }
  ANYNPU_TRY(check_layout(in_layout, group, "sendBuf"));
  ANYNPU_TRY(check_layout(out_layout, group, "recvBuf"));
  const uint32_t self = group->rank();
  if (in_layout.counts[self] != out_layout.counts[self]) {
    return fail(Code::invalid_argument,
                "rank {} sends itself {} elements, but receives {} from itself", self,
                in_layout.counts[self], out_layout.counts[self]);
  }
  ANYNPU_ASSIGN(const uint64_t in_bytes, span_of(in_layout, in_element, "sendCounts"));
  ANYNPU_ASSIGN(const uint64_t out_bytes, span_of(out_layout, out_element, "recvCounts"));
  auto op =
      new_operation(group, Kind::all_to_all, in_element, ReduceOp::sum, in_layout.counts[self]);
  ANYNPU_ASSIGN(std::byte * from, use(*op, in, in_bytes, Access::read, "sendBuf"));
  ANYNPU_ASSIGN(std::byte * to, use(*op, out, out_bytes, Access::write, "recvBuf"));
  // A rank without data takes part all the same: others may have some.
  if (overlap(from, in_bytes, to, out_bytes)) from = staged(*op, from, in_bytes);
  const uint64_t unit = bytes_of(in_element);
  copy_own(*op, to + out_layout.offsets[self] * unit, from + in_layout.offsets[self] * unit,
           in_layout.counts[self] * unit);
  for_peers(group, [&](uint32_t peer) {
    if (const uint64_t n = in_layout.counts[peer] * unit) {
      op->out.push_back(flow_of(peer, from + in_layout.offsets[peer] * unit, n));
    }
    if (const uint64_t n = out_layout.counts[peer] * unit) {
      op->in.push_back(flow_of(peer, to + out_layout.offsets[peer] * unit, n));
    }
  });
  return op;
}

Plan plan_barrier(const Group& group) {
  auto op = new_operation(group, Kind::barrier, Element::u8, ReduceOp::sum, 0);
  for_peers(group, [&](uint32_t peer) {
    op->out.push_back(flow_of(peer, nullptr, 0));
    op->in.push_back(flow_of(peer, nullptr, 0));
  });
  return op;
}

Plan plan_transfers(const Group& group, std::span<const Transfer> transfers) {
  const Element first = transfers.empty() ? Element::u8 : transfers[0].element;
  auto op = new_operation(group, Kind::pair, first, ReduceOp::sum,
                          transfers.empty() ? 0 : transfers[0].count);
  // What a rank sends to itself, in order, is what it receives from itself.
  std::vector<Operation::LocalCopy> to_self;
  size_t received = 0;
  for (const Transfer& transfer : transfers) {
    ANYNPU_TRY(check_rank(group, transfer.peer, "a peer's rank"));
    ANYNPU_ASSIGN(const uint64_t bytes, bytes_for(transfer.count, transfer.element, "count"));
    const Access access = transfer.sends ? Access::read : Access::write;
    ANYNPU_ASSIGN(std::byte * at,
                  use(*op, transfer.at, bytes, access, transfer.sends ? "sendBuf" : "recvBuf"));
    if (bytes == 0) continue;
    if (transfer.peer == group->rank()) {
      if (transfer.sends) to_self.push_back({nullptr, at, bytes});
      continue;
    }
    Operation::Flow flow = flow_of(transfer.peer, at, bytes);
    flow.turn = transfer.sends ? &group->sends(transfer.peer) : &group->receives(transfer.peer);
    (transfer.sends ? op->out : op->in).push_back(std::move(flow));
  }
  for (const Transfer& transfer : transfers) {
    if (transfer.peer != group->rank() || transfer.sends || transfer.count == 0) continue;
    const uint64_t bytes = transfer.count * bytes_of(transfer.element);
    if (received == to_self.size() || to_self[received].bytes != bytes) {
      return fail(Code::invalid_argument,
                  "rank {} receives {} bytes from itself that it does not send", group->rank(),
                  bytes);
    }
    to_self[received++].to = static_cast<std::byte*>(transfer.at);
  }
  if (received != to_self.size()) {
    return fail(Code::invalid_argument, "rank {} sends itself {} bytes that it does not receive",
                group->rank(), to_self[received].bytes);
  }
  op->copies = std::move(to_self);
  if (op->out.empty() && op->in.empty() && op->copies.empty()) return std::shared_ptr<Operation>();
  return op;
}

}  // namespace anynpu::collective
