// SPDX-License-Identifier: Apache-2.0
#include "collective/root_info.h"

#include <algorithm>
#include <cstring>

#include "collective/board.h"

namespace anynpu::collective {

namespace {

struct Root {
  char magic[8];
  MachineId machine;
  ShareTicket board;
};
constexpr char kMagic[8] = {'a', 'n', 'y', 'h', 'c', 'c', 'l', '1'};
static_assert(sizeof(Root) <= kRootInfoBytes);

}  // namespace

Status make_root_info(RootInfo info) {
  ANYNPU_ASSIGN(const auto board, Board::create());
  Root root;
  std::memcpy(root.magic, kMagic, sizeof kMagic);
  root.machine = this_machine();
  root.board = board->ticket();
  std::fill(info.begin(), info.end(), std::byte{0});
  std::memcpy(info.data(), &root, sizeof root);
  return {};
}

Status check_rank_numbers(uint32_t rank, uint32_t ranks) {
  if (ranks == 0 || ranks > Board::kMostRanks) {
    return fail(Code::invalid_argument, "nRanks is {}; expected 1 to {}", ranks, Board::kMostRanks);
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
  if (!(root.machine == this_machine())) {
    return fail(Code::unsupported_feature,
                "the root info was made on another machine, in another container or by another "
                "user, and no network engine is there; see docs/hccl.md");
  }
  ANYNPU_ASSIGN(auto board, Board::open(root.board));
  ANYNPU_ASSIGN(auto joined, BoardExchange::join(std::move(board), rank, ranks));
  return std::unique_ptr<Exchange>(std::move(joined));
}

}  // namespace anynpu::collective
