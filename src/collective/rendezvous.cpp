// SPDX-License-Identifier: Apache-2.0
#include "collective/rendezvous.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "base/fork_guard.h"

namespace anynpu::collective {

namespace {

constexpr uint64_t kMagic = 0x3164726f6279;  // "ybord1"
constexpr size_t kWhyBytes = 1024;
constexpr size_t kMostKept = 1024;

// What this process keeps for others.
struct Kept {
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<Rendezvous>> by_secret;
};
Kept& kept() {
  static auto* all = new Kept;
  return *all;
}

}  // namespace

struct Rendezvous::Slot {
  std::atomic<uint32_t> stage;
  RankRecord record;
};
struct Rendezvous::Page {
  std::atomic<uint32_t> ranks;   // as the first rank said
  std::atomic<uint32_t> failed;  // 1: being written, 2: there
  char why[kWhyBytes];
  Slot slots[kMostRanks];
};

Result<std::shared_ptr<Rendezvous>> Rendezvous::attach(std::shared_ptr<SharedFile> file,
                                                       const ShareTicket& ticket) {
  ANYNPU_ASSIGN(void* page, file->map(nullptr, sizeof(Page), 0));
  return std::shared_ptr<Rendezvous>(
      new Rendezvous(std::move(file), static_cast<Page*>(page), ticket));
}

Result<std::shared_ptr<Rendezvous>> Rendezvous::create() {
  mark_runtime_used();
  ANYNPU_ASSIGN(auto file, SharedFile::create(sizeof(Page), kMagic));
  const ShareTicket ticket = file->share(SharedFile::Admit::anyone);
  ANYNPU_ASSIGN(auto rendezvous, attach(std::move(file), ticket));
  std::lock_guard lock(kept().mutex);
  if (kept().by_secret.size() >= kMostKept) {
    return fail(Code::limit_exceeded,
                "{} root infos of this process were never used by all of their ranks; make a "
                "communicator of each",
                kMostKept);
  }
  kept().by_secret.emplace(ticket.secret, rendezvous);
  return rendezvous;
}

Result<std::shared_ptr<Rendezvous>> Rendezvous::open(const ShareTicket& ticket) {
  mark_runtime_used();
  if (ticket.pid == getpid()) {
    std::lock_guard lock(kept().mutex);
    const auto at = kept().by_secret.find(ticket.secret);
    if (at != kept().by_secret.end()) return at->second;
  }
  ANYNPU_ASSIGN(auto file, SharedFile::open(ticket));
  if (file->label() != kMagic || file->bytes() < sizeof(Page)) {
    return fail(Code::version_mismatch,
                "the root info is of another release; use one release of AnyNPU for all ranks");
  }
  return attach(std::move(file), ticket);
}

void Rendezvous::release_all() {
  std::map<uint64_t, std::shared_ptr<Rendezvous>> dropped;
  std::lock_guard lock(kept().mutex);
  dropped.swap(kept().by_secret);
}

Rendezvous::~Rendezvous() { munmap(page_, sizeof(Page)); }

Status Rendezvous::take_slot(uint32_t rank, uint32_t ranks) {
  uint32_t said = 0;
  if (!page_->ranks.compare_exchange_strong(said, ranks) && said != ranks) {
    Status differs = fail(Code::invalid_argument,
                          "rank {} says that there are {} ranks, another one said {}; pass the "
                          "same number in all",
                          rank, ranks, said);
    give_up(rank, differs);
    return differs;
  }
  uint32_t before = 0;
  if (page_->slots[rank].stage.compare_exchange_strong(before,
                                                       static_cast<uint32_t>(Stage::taken))) {
    return {};
  }
  return fail(
      Code::already_exists,
      "rank {} of this root info is taken; pass another rank in each process, and get a new "
      "root info for each communicator",
      rank);
}

void Rendezvous::publish(uint32_t rank, const RankRecord& record) {
  page_->slots[rank].record = record;
  page_->slots[rank].stage.store(static_cast<uint32_t>(Stage::published),
                                 std::memory_order_release);
}

RankRecord Rendezvous::record(uint32_t rank) const { return page_->slots[rank].record; }

bool Rendezvous::is_of_this_process() const { return ticket_.pid == getpid(); }

std::string Rendezvous::failure() const {
  if (page_->failed.load(std::memory_order_acquire) != 2) return {};
  return {page_->why, strnlen(page_->why, kWhyBytes)};
}

void Rendezvous::mark_connected(uint32_t rank) {
  page_->slots[rank].stage.store(static_cast<uint32_t>(Stage::connected),
                                 std::memory_order_release);
}

std::vector<uint32_t> Rendezvous::below(uint32_t ranks, Stage stage) const {
  std::vector<uint32_t> found;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const uint32_t at = page_->slots[rank].stage.load(std::memory_order_acquire);
    if (at < static_cast<uint32_t>(stage)) found.push_back(rank);
  }
  return found;
}

// Why waiting on is no use, or ok.
Status Rendezvous::lost(uint32_t ranks) const {
  if (const std::string why = failure(); !why.empty()) return fail(Code::task_failed, "{}", why);
  if (!maker_.alive()) {
    return fail(Code::task_failed,
                "process {}, which made the root info, ended before all ranks had met",
                ticket_.pid);
  }
  const MachineId here = this_machine();
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const Slot& slot = page_->slots[rank];
    if (slot.stage.load(std::memory_order_acquire) < static_cast<uint32_t>(Stage::published))
      continue;
    if (!(slot.record.machine == here) || PeerProcess(slot.record.pid).alive()) continue;
    return fail(Code::task_failed, "process {} of rank {} ended before all ranks had met",
                slot.record.pid, rank);
  }
  return {};
}

Status Rendezvous::wait_for(uint32_t ranks, Stage stage, const char* what, const Deadline& deadline,
                            RemoteRanks* remote_ranks) {
  Status gone;
  uint64_t looked = now_ns();
  ANYNPU_ASSIGN(const bool all, poll_until(deadline, [&] {
                  if (remote_ranks) remote_ranks->serve();
                  if (below(ranks, stage).empty()) return true;
                  if (now_ns() - looked < 20'000'000) return false;
                  looked = now_ns();
                  gone = lost(ranks);
                  return !gone.ok();
                }));
  if (!gone.ok()) return gone;
  if (all) return {};
  return fail(Code::timeout, "{} of {} did not {} within {}; look whether they run",
              list_ranks(below(ranks, stage)), ranks, what, connect_limit());
}

Result<std::vector<RankRecord>> Rendezvous::collect(uint32_t ranks, const Deadline& deadline,
                                                    RemoteRanks* remote_ranks) {
  ANYNPU_TRY(wait_for(ranks, Stage::published, "join the communicator", deadline, remote_ranks));
  std::vector<RankRecord> records;
  for (uint32_t rank = 0; rank < ranks; ++rank) records.push_back(page_->slots[rank].record);
  return records;
}

Status Rendezvous::wait_connected(uint32_t ranks, const Deadline& deadline,
                                  RemoteRanks* remote_ranks) {
  ANYNPU_TRY(wait_for(ranks, Stage::connected, "connect", deadline, remote_ranks));
  std::shared_ptr<Rendezvous> dropped;
  std::lock_guard lock(kept().mutex);
  const auto at = kept().by_secret.find(ticket_.secret);
  if (at != kept().by_secret.end()) {
    dropped = std::move(at->second);
    kept().by_secret.erase(at);
  }
  return {};
}

void Rendezvous::give_up(uint32_t rank, const Status& why) {
  uint32_t none = 0;
  if (!page_->failed.compare_exchange_strong(none, 1)) return;
  const std::string text = format("rank {} gave up: {}", rank, why.message());
  const size_t length = std::min(text.size(), kWhyBytes - 1);
  std::memcpy(page_->why, text.data(), length);
  page_->why[length] = 0;
  page_->failed.store(2, std::memory_order_release);
}

Result<std::unique_ptr<RendezvousExchange>> RendezvousExchange::join(
    std::shared_ptr<Rendezvous> rendezvous, uint32_t rank, uint32_t ranks) {
  ANYNPU_TRY(rendezvous->take_slot(rank, ranks));
  return std::unique_ptr<RendezvousExchange>(
      new RendezvousExchange(std::move(rendezvous), rank, ranks));
}

}  // namespace anynpu::collective
