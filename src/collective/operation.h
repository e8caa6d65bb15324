// SPDX-License-Identifier: Apache-2.0
// One collective operation of one rank, as a stream task. It is a plan of flows: what is sent to
// each peer, what is received from each, and what is reduced; plans.cpp makes the plans. The task
// moves what it can, polls for a few microseconds, then parks its stream and is continued by timers
// of the thread pool: no thread waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "collective/communicator.h"
#include "collective/element.h"
#include "device/memory.h"
#include "device/stream.h"

namespace anynpu::collective {

enum class Kind : uint8_t {
  all_reduce,
  reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  scatter,
  all_to_all,
  barrier,
  pair,
};

class Operation : public std::enable_shared_from_this<Operation> {
 public:
  struct Part {
    std::byte* at = nullptr;
    uint64_t bytes = 0;
    bool reduced = false;  // the result of the reduction: sent as far as it is ready
  };
  // What is sent to a peer, or received from it, in order.
  struct Flow {
    uint32_t peer = 0;
    std::vector<Part> parts;
    Turn* turn = nullptr;  // for point-to-point flows, which have their own order
    // Progress.
    uint64_t ticket = 0;
    size_t part = 0;
    uint64_t done = 0;  // bytes of this part
    bool over() const { return part == parts.size(); }
  };
  // Reduces one array of all ranks (this rank's at `own`) into `to`. Peers send theirs first.
  struct Reduction {
    std::byte* own = nullptr;
    std::byte* to = nullptr;
    uint64_t bytes = 0;
    bool after_sending = false;  // `to` is still being sent
    uint64_t done = 0;
  };
  struct LocalCopy {
    std::byte* to;
    const std::byte* from;
    uint64_t bytes;
  };

  Operation(std::shared_ptr<Communicator> communicator, Kind kind, Element element,
            ReduceOp reduce_op, uint64_t count);
  ~Operation();

  std::vector<Flow> out, in;
  std::vector<LocalCopy> copies;  // done first
  Reduction reduction;
  bool reduces = false;
  std::vector<device::Range> ranges;  // keeps the memory
  std::vector<std::byte> staging;     // for inputs that outputs overwrite

  // Queues `operation`; its position in the communicator's order is fixed now, unless the stream is
  // being captured.
  static Status submit(std::shared_ptr<Operation> operation, device::Stream& stream);

 private:
  enum class Step { over, moved, stuck };
  void begin();
  Step step(Status& status);
  Result<bool> move();
  Status send_some(Flow& flow, bool& moved);
  Status receive_some(Flow& flow, bool& moved);
  Status reduce_some(bool& moved);
  Status check_head(uint32_t peer, const PieceHead& found, const PieceHead& expected) const;
  PieceHead head_of(uint64_t ticket, bool reduced, uint64_t total) const;
  bool all_over() const;
  bool spin(Status& status);
  Status watch();
  std::vector<uint32_t> awaited() const;
  std::string describe() const;
  void finish_flow(Flow& flow);
  void end(const Status& status);
  void look_after(uint64_t delay_ns);
  device::Outcome run(device::TaskRun& run);

  const std::shared_ptr<Communicator> comm_;
  const Kind kind_;
  const Element element_;
  const ReduceOp reduce_op_;
  const uint64_t count_;
  const Lane lane_;
  uint64_t ticket_ = 0;
  uint64_t epoch_ = 0;
  bool has_place_ = false;  // it holds its tickets
  bool begun_ = false;
  uint64_t moved_at_ = 0;
  uint64_t watched_at_ = 0;
  device::Completion completion_;
};

std::string_view name_of(Kind kind);

}  // namespace anynpu::collective
