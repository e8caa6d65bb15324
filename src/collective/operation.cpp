// SPDX-License-Identifier: Apache-2.0
#include "collective/operation.h"

#include <algorithm>

#include "base/spin.h"
#include "base/thread_pool.h"
#include "device/host_view.h"
#include "device/recorder.h"

namespace anynpu::collective {

namespace {

constinit device::TaskKind kCollective{"hccl", device::Engine::control};

constexpr uint64_t kSpinNs = 30'000;  // looked again at once, before the stream is parked
// Then after so long, and longer and longer once the peers have been away for a while. A thread
// that sleeps is put on a core at once when its time has come, also on a machine that is busy.
constexpr uint64_t kPollNs = 20'000;
constexpr uint64_t kPatienceNs = 20'000'000;
constexpr uint64_t kSlowestPollNs = 1'000'000;
constexpr uint64_t kWatchNs = 5'000'000;  // how often peers are asked whether they live

constexpr std::string_view kKinds[] = {"AllReduce", "Reduce",    "ReduceScatter",
                                       "AllGather", "Broadcast", "Scatter",
                                       "AlltoAll",  "Barrier",   "Send or Recv"};

}  // namespace

std::string_view name_of(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

Operation::Operation(std::shared_ptr<Communicator> communicator, Kind kind, Element element,
                     ReduceOp reduce_op, uint64_t count)
    : comm_(std::move(communicator)),
      kind_(kind),
      element_(element),
      reduce_op_(reduce_op),
      count_(count),
      lane_(kind == Kind::pair ? Lane::pair : Lane::collective) {}

Operation::~Operation() {
  if (!has_place_) return;
  comm_->fail(fail(Code::aborted,
                   "{} was dropped before it was over, because its stream was aborted, destroyed "
                   "or had failed; the other ranks cannot go on",
                   describe()));
}

std::string Operation::describe() const {
  if (kind_ == Kind::barrier) return format("Barrier {} of rank {}", ticket_, comm_->rank());
  const bool is_reduction = kind_ <= Kind::reduce_scatter;
  return format("{}{}{} of {} {} on rank {}", name_of(kind_), is_reduction ? " " : "",
                is_reduction ? name_of(reduce_op_) : "", count_, name_of(element_), comm_->rank());
}

Status Operation::submit(std::shared_ptr<Operation> operation, device::Stream& stream) {
  Operation& op = *operation;
  ANYNPU_TRY(op.comm_->failure());
  if (!stream.recorder()) op.begin();
  uint64_t bytes = 0;
  for (const Flow& flow : op.out) {
    for (const Part& part : flow.parts) bytes += part.bytes;
  }
  return stream.submit(
      {kCollective, bytes},
      [operation = std::move(operation)](device::TaskRun& run) { return operation->run(run); });
}

// Takes its place in the order. A recorded task does so each time it is run.
void Operation::begin() {
  epoch_ = comm_->epoch();
  if (lane_ == Lane::collective) ticket_ = comm_->collectives().take();
  for (auto* flows : {&out, &in}) {
    for (Flow& flow : *flows) {
      flow.part = 0, flow.done = 0;
      flow.ticket = flow.turn ? flow.turn->take() : ticket_;
    }
  }
  reduction.done = 0;
  begun_ = false;
  moved_at_ = watched_at_ = 0;
  has_place_ = true;
}

// Gives its place to the next one.
void Operation::end(const Status& status) {
  if (!status.ok()) comm_->fail(status);
  if (lane_ == Lane::collective && epoch_ == comm_->epoch()) comm_->collectives().pass();
  has_place_ = false;
}

device::Outcome Operation::run(device::TaskRun& run) {
  if (!has_place_) begin();
  Status status;
  if (spin(status)) {
    end(status);
    return run.done(status.ok() ? status : status.with_code(Code::task_failed));
  }
  completion_ = run.defer();
  look_after(kPollNs);
  return device::Outcome::pending;
}

void Operation::look_after(uint64_t delay_ns) {
  ThreadPool::instance().submit_after(delay_ns, [self = shared_from_this(), delay_ns] {
    if (!self->completion_.wanted()) {
      // The stream was aborted: the destructor notifies the communicator.
      auto dropped = std::move(self->completion_);
      return;
    }
    Status status;
    if (self->spin(status)) {
      self->end(status);
      auto completion = std::move(self->completion_);
      completion.finish(status.ok() ? status : status.with_code(Code::task_failed));
      return;
    }
    const bool recent = now_ns() - self->moved_at_ < kPatienceNs;
    self->look_after(recent ? kPollNs : std::min(2 * delay_ns, kSlowestPollNs));
  });
}

// Steps until it is over (true), or until nothing has moved for a moment.
bool Operation::spin(Status& status) {
  uint64_t still_since = 0;
  for (;;) {
    switch (step(status)) {
      case Step::over:
        return true;
      case Step::moved:
        still_since = 0;
        continue;
      case Step::stuck:
        break;
    }
    const uint64_t now = now_ns();
    if (still_since == 0) still_since = now;
    if (now - still_since >= kSpinNs) return false;
    spin_pause();
  }
}

Operation::Step Operation::step(Status& status) {
  status = comm_->enter_step(epoch_);
  if (!status.ok()) return Step::over;
  auto moved = move();
  comm_->leave_step();
  if (!moved.ok()) {
    status = moved.status();
    return Step::over;
  }
  if (*moved) moved_at_ = now_ns();
  if (all_over()) return Step::over;
  if (*moved) return Step::moved;
  status = watch();
  return status.ok() ? Step::stuck : Step::over;
}

Result<bool> Operation::move() {
  if (lane_ == Lane::collective && !comm_->collectives().is(ticket_)) return false;
  if (!begun_) {
    for (const LocalCopy& copy : copies) {
      ANYNPU_TRY(device::copy_bytes(copy.to, copy.from, copy.bytes));
    }
    begun_ = true;
  }
  bool moved = false;
  for (Flow& flow : out) ANYNPU_TRY(send_some(flow, moved));
  if (reduces && reduction.done < reduction.bytes) ANYNPU_TRY(reduce_some(moved));
  if (!reduces || reduction.done == reduction.bytes) {
    for (Flow& flow : in) ANYNPU_TRY(receive_some(flow, moved));
  }
  return moved;
}

bool Operation::all_over() const {
  const auto sent = [&](const Flow& flow) {
    return flow.over() && comm_->link(flow.peer).flushed(lane_);
  };
  const auto received = [](const Flow& flow) { return flow.over(); };
  return begun_ && (!reduces || reduction.done == reduction.bytes) &&
         std::all_of(out.begin(), out.end(), sent) && std::all_of(in.begin(), in.end(), received);
}

PieceHead Operation::head_of(uint64_t ticket, bool reduced, uint64_t total) const {
  auto what = static_cast<uint32_t>(kind_) << 24 | static_cast<uint32_t>(element_) << 16 |
              static_cast<uint32_t>(reduce_op_) << 8 | static_cast<uint32_t>(reduced);
  // Transfers of one batch have types of their own: only their bytes are compared.
  if (kind_ == Kind::pair) what &= 0xff000000u;
  return {ticket, total, what, 0};
}

void Operation::finish_flow(Flow& flow) {
  flow.done = 0;
  if (++flow.part == flow.parts.size() && flow.turn) flow.turn->pass();
}

// A part without bytes is one piece without bytes: only barriers have them.
Status Operation::send_some(Flow& flow, bool& moved) {
  if (flow.over() || (flow.turn && !flow.turn->is(flow.ticket))) return {};
  Link& link = comm_->link(flow.peer);
  while (!flow.over()) {
    const Part& part = flow.parts[flow.part];
    const uint64_t bytes = std::min<uint64_t>(comm_->piece(), part.bytes - flow.done);
    if (part.reduced && flow.done + bytes > reduction.done) return {};
    std::byte* room = link.room(lane_);
    if (!room) return {};
    ANYNPU_TRY(device::copy_bytes(room, part.at + flow.done, bytes));
    PieceHead head = head_of(flow.ticket, part.reduced, part.bytes);
    head.bytes = static_cast<uint32_t>(bytes);
    link.send(lane_, head);
    moved = true;
    flow.done += bytes;
    if (flow.done == part.bytes) finish_flow(flow);
  }
  return {};
}

Status Operation::receive_some(Flow& flow, bool& moved) {
  if (flow.over() || (flow.turn && !flow.turn->is(flow.ticket))) return {};
  Link& link = comm_->link(flow.peer);
  while (!flow.over()) {
    const Part& part = flow.parts[flow.part];
    const auto arrived = link.arrived(lane_);
    if (!arrived) return {};
    PieceHead expected = head_of(flow.ticket, part.reduced, part.bytes);
    expected.bytes =
        static_cast<uint32_t>(std::min<uint64_t>(comm_->piece(), part.bytes - flow.done));
    ANYNPU_TRY(check_head(flow.peer, arrived->head, expected));
    ANYNPU_TRY(device::copy_bytes(part.at + flow.done, arrived->data, expected.bytes));
    link.taken(lane_);
    moved = true;
    flow.done += expected.bytes;
    if (flow.done == part.bytes) finish_flow(flow);
  }
  return {};
}

Status Operation::reduce_some(bool& moved) {
  if (reduction.after_sending) {
    for (const Flow& flow : out) {
      if (!flow.over()) return {};
    }
  }
  std::vector<const void*> inputs(comm_->size());
  while (reduction.done < reduction.bytes) {
    PieceHead expected = head_of(ticket_, false, reduction.bytes);
    const uint64_t bytes = std::min<uint64_t>(comm_->piece(), reduction.bytes - reduction.done);
    expected.bytes = static_cast<uint32_t>(bytes);
    for (uint32_t peer = 0; peer < comm_->size(); ++peer) {
      if (peer == comm_->rank()) continue;
      const auto arrived = comm_->link(peer).arrived(lane_);
      if (!arrived) return {};
      ANYNPU_TRY(check_head(peer, arrived->head, expected));
      inputs[peer] = arrived->data;
    }
    device::HostRange views[] = {{reduction.own + reduction.done, bytes, device::Access::read},
                                 {reduction.to + reduction.done, bytes, device::Access::write}};
    ANYNPU_TRY(device::with_host_view(views, [&] {
      inputs[comm_->rank()] = views[0].address;
      reduce_elements(element_, reduce_op_, views[1].address, inputs, bytes / bytes_of(element_));
      return Status();
    }));
    for (uint32_t peer = 0; peer < comm_->size(); ++peer) {
      if (peer != comm_->rank()) comm_->link(peer).taken(lane_);
    }
    reduction.done += bytes;
    moved = true;
    // What is reduced goes out before more is reduced, so that peers do not wait for it.
    for (Flow& flow : out) ANYNPU_TRY(send_some(flow, moved));
  }
  return {};
}

Status Operation::check_head(uint32_t peer, const PieceHead& found,
                             const PieceHead& expected) const {
  if (found.same_part(expected) && found.bytes == expected.bytes) return {};
  const auto kind = static_cast<size_t>(found.what >> 24);
  const auto element = element_of(found.what >> 16 & 0xff);
  return fail(Code::shape_mismatch,
              "{} (operation {}) expects {} bytes from rank {}, which sends {} bytes of {} for its "
              "{} (operation {}); all ranks must make the same calls with the same counts, types "
              "and operations in the same order",
              describe(), expected.operation, expected.total, peer, found.total,
              element.ok() ? name_of(*element) : "unknown type",
              kind < std::size(kKinds) ? kKinds[kind] : "unknown operation", found.operation);
}

// The ranks that this one waits for now.
std::vector<uint32_t> Operation::awaited() const {
  std::vector<uint32_t> peers;
  const auto add = [&](uint32_t peer) {
    if (std::find(peers.begin(), peers.end(), peer) == peers.end()) peers.push_back(peer);
  };
  if (reduces && reduction.done < reduction.bytes) {
    for (uint32_t peer = 0; peer < comm_->size(); ++peer) {
      if (peer != comm_->rank() && !comm_->link(peer).arrived(lane_)) add(peer);
    }
  }
  for (const Flow& flow : in) {
    if (!flow.over()) add(flow.peer);
  }
  for (const Flow& flow : out) {
    const bool waits =
        flow.over() ? !comm_->link(flow.peer).flushed(lane_) : !flow.parts[flow.part].reduced;
    if (waits) add(flow.peer);
  }
  std::sort(peers.begin(), peers.end());
  return peers;
}

// Nothing moved: are the peers there, and is there time left?
Status Operation::watch() {
  const uint64_t now = now_ns();
  const bool my_turn = lane_ != Lane::collective || comm_->collectives().is(ticket_);
  if (moved_at_ == 0 || !my_turn) moved_at_ = now;
  if (watched_at_ == 0) watched_at_ = now;
  if (now - watched_at_ < kWatchNs) return {};
  watched_at_ = now;
  if (!my_turn) return {};
  for (const uint32_t peer : awaited()) {
    Status state = comm_->link(peer).peer_state();
    if (state.ok()) continue;
    // It may have sent all it had before it went.
    const auto waits_for_data = [&](const Flow& flow) { return flow.peer == peer && !flow.over(); };
    const bool reads = (reduces && reduction.done < reduction.bytes) ||
                       std::any_of(in.begin(), in.end(), waits_for_data);
    if (reads && comm_->link(peer).arrived(lane_)) continue;
    return state.with_note(format("{} waits for it", describe()));
  }
  if (now - moved_at_ < comm_->exec_timeout_ns()) return {};
  return fail(Code::timeout,
              "{} waited {} s for {} (HCCL_EXEC_TIMEOUT); they run, but do not take part in "
              "operation {} of communicator '{}'",
              describe(), comm_->exec_timeout_ns() / 1'000'000'000u, list_ranks(awaited()), ticket_,
              comm_->name());
}

}  // namespace anynpu::collective
