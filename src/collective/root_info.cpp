// SPDX-License-Identifier: Apache-2.0
#include "collective/root_info.h"

#include <algorithm>
#include <cstring>

#include "collective/network.h"
#include "collective/network_exchange.h"
#include "collective/rendezvous.h"

namespace anynpu::collective {

namespace {

struct Root {
  char magic[8];
  MachineId machine;
  ShareTicket rendezvous;
  uint32_t address_bytes;  // in the network; 0: one machine
  uint8_t address[2048];
};
constexpr char kMagic[8] = {'a', 'n', 'y', 'h', 'c', 'c', 'l', '1'};
static_assert(sizeof(Root) <= kRootInfoBytes);

}  // namespace

Status make_root_info(RootInfo info) {
  ANYNPU_ASSIGN(const auto rendezvous, Rendezvous::create());
  ANYNPU_ASSIGN(const NetworkEngine* engine, network_engine());
  Root root = {};
  std::memcpy(root.magic, kMagic, sizeof kMagic);
  root.machine = this_machine();
  root.rendezvous = rendezvous->ticket();
  if (engine) {
    const auto& address = engine->address();
    root.address_bytes = static_cast<uint32_t>(address.size());
    if (address.size() > sizeof root.address) {
      return fail(Code::internal, "the network engine has an address of {} bytes", address.size());
    }
    std::copy(address.begin(), address.end(), root.address);
  }
  std::fill(info.begin(), info.end(), std::byte{0});
  std::memcpy(info.data(), &root, sizeof root);
  return {};
}

Status check_rank_numbers(uint32_t rank, uint32_t ranks) {
  if (ranks == 0 || ranks > Rendezvous::kMostRanks) {
    return fail(Code::invalid_argument, "nRanks is {}; expected 1 to {}", ranks,
                Rendezvous::kMostRanks);
  }
  if (rank < ranks) return {};
  return fail(Code::invalid_argument, "rank is {}; expected less than nRanks, {}", rank, ranks);
}

Result<std::unique_ptr<Exchange>> join_root(std::span<const std::byte, kRootInfoBytes> info,
                                            uint32_t rank, uint32_t ranks) {
  ANYNPU_TRY(check_rank_numbers(rank, ranks));
  Root root;
  std::memcpy(&root, info.data(), sizeof root);
  if (std::memcmp(root.magic, kMagic, sizeof kMagic) != 0) {
    return fail(Code::invalid_argument,
                "the root info is not what HcclGetRootInfo filled in; send all of its {} bytes to "
                "every rank",
                kRootInfoBytes);
  }
  ANYNPU_ASSIGN(NetworkEngine * engine, network_engine());
  if (!(root.machine == this_machine())) {
    if (engine && root.address_bytes && root.address_bytes <= sizeof root.address) {
      return NetworkExchange::join(*engine, std::span(root.address, root.address_bytes),
                                   root.rendezvous.secret, rank, ranks);
    }
    return fail(Code::unsupported_feature,
                "the root info was made on another machine, in another container or by another "
                "user; set HCCL_IF_IP in all processes to the address of their machine "
                "(docs/hccl.md)");
  }
  ANYNPU_ASSIGN(auto rendezvous, Rendezvous::open(root.rendezvous));
  ANYNPU_ASSIGN(auto joined, RendezvousExchange::join(rendezvous, rank, ranks));
  if (engine && rendezvous->is_of_this_process()) {
    joined->set_remote_ranks(std::make_unique<NetworkRemoteRanks>(*engine, *rendezvous, ranks));
  }
  return std::unique_ptr<Exchange>(std::move(joined));
}

}  // namespace anynpu::collective
