// SPDX-License-Identifier: Apache-2.0
#include "collective/transport.h"

#include "collective/network.h"
#include "collective/network_link.h"

namespace anynpu::collective {

namespace {

bool shares_memory(const Ends& ends) { return ends.mine.machine == ends.theirs.machine; }

Result<std::unique_ptr<Link>> connect_memory(const Ends& ends) {
  ANYNPU_ASSIGN(auto theirs, Segment::open(ends.theirs.segment));
  if (ends.my_rank >= theirs->ranks() || theirs->piece() < ends.piece) {
    return fail(Code::version_mismatch,
                "rank {} shares memory for {} ranks and pieces of {} bytes; expected more than {} "
                "ranks and {} bytes",
                ends.their_rank, theirs->ranks(), theirs->piece(), ends.my_rank, ends.piece);
  }
  return std::unique_ptr<Link>(std::make_unique<SharedLink>(
      ends.segment, ends.my_rank, std::move(theirs), ends.their_rank, ends.theirs.pid));
}

bool has_network(const Ends& ends) {
  return ends.mine.address_bytes && ends.theirs.address_bytes &&
         ends.theirs.address_bytes <= sizeof ends.theirs.address;
}

Result<std::unique_ptr<Link>> connect_network(const Ends& ends) {
  ANYNPU_ASSIGN(NetworkEngine * engine, network_engine());
  ANYNPU_ASSIGN(auto peer,
                engine->connect(std::span(ends.theirs.address, ends.theirs.address_bytes)));
  return std::unique_ptr<Link>(std::make_unique<NetworkLink>(
      *engine, std::move(peer), ends.key, ends.my_rank, ends.their_rank, ends.piece));
}

constexpr Transport kTransports[] = {
    {"shared memory", shares_memory, connect_memory},
    {"network", has_network, connect_network},
};

}  // namespace

Result<std::unique_ptr<Link>> connect(const Ends& ends) {
  for (const Transport& transport : kTransports) {
    if (!transport.reaches(ends)) continue;
    auto link = transport.connect(ends);
    if (link.ok()) return link;
    return link.status().with_note(format("while connecting rank {} to rank {} by {}", ends.my_rank,
                                          ends.their_rank, transport.name));
  }
  return fail(Code::unsupported_feature,
              "rank {} and rank {} run on different machines, in different containers or for "
              "different users; set HCCL_IF_IP in all processes to the address of their machine "
              "(docs/hccl.md)",
              ends.my_rank, ends.their_rank);
}

}  // namespace anynpu::collective
