// SPDX-License-Identifier: Apache-2.0
// Random schedules against a sequential oracle. A program is a random list of steps over streams,
// events and notifies. The oracle runs it one step after the other; the runtime runs it on streams,
// submitted by several threads, with tasks that finish later, limited engines, waits from the host
// and aborts of nothing. Every stream carries a running value that later steps read without locks:
// an order that is not kept gives another value, or a data race under the thread sanitizer.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "base/thread_pool.h"
#include "device/cpu/cpu_device.h"
#include "device/event.h"
#include "device/notify.h"
#include "device/stream.h"

namespace anynpu::device {
namespace {

constinit TaskKind kStep{"step", Engine::control};
constinit TaskKind kLimited{"limited step", Engine::vdec};
constinit TaskKind kLate{"late step", Engine::compute};

struct Step {
  enum Kind { compute, limited, late, publish, consume, host_sync, host_event } kind;
  int stream;
  int cell = 0;  // publish writes it, consume reads it
  int event = 0;
  uint64_t operand = 0;
};

uint64_t mix(uint64_t value, uint64_t operand) {
  return (value ^ operand) * 0x9e3779b97f4a7c15u + (value >> 29);
}

struct Program {
  int streams;
  int events;
  int cells = 0;
  std::vector<Step> steps = {};
};

Program random_program(std::mt19937& random, int length) {
  Program program{static_cast<int>(random() % 6 + 2), static_cast<int>(random() % 4 + 1)};
  std::vector<int> last_cell(static_cast<size_t>(program.events), -1);
  for (int i = 0; i < length; ++i) {
    Step step{Step::compute, static_cast<int>(random() % program.streams)};
    step.operand = random();
    const unsigned dice = random() % 100;
    step.event = static_cast<int>(random() % program.events);
    int& published = last_cell[static_cast<size_t>(step.event)];
    if (dice < 20) {
      step.kind = Step::publish;
      published = step.cell = program.cells++;
    } else if (dice < 45 && published >= 0) {
      step.kind = Step::consume;
      step.cell = published;
    } else if (dice < 55) {
      step.kind = Step::late;
    } else if (dice < 65) {
      step.kind = Step::limited;
    } else if (dice < 67) {
      step.kind = Step::host_sync;
    } else if (dice < 69 && published >= 0) {
      step.kind = Step::host_event;
    }
    program.steps.push_back(step);
  }
  return program;
}

std::vector<uint64_t> run_sequentially(const Program& program) {
  std::vector<uint64_t> values(static_cast<size_t>(program.streams), 1);
  std::vector<uint64_t> cells(static_cast<size_t>(program.cells), 0);
  for (const Step& step : program.steps) {
    uint64_t& value = values[static_cast<size_t>(step.stream)];
    if (step.kind == Step::publish) {
      cells[static_cast<size_t>(step.cell)] = value;
    } else if (step.kind == Step::consume) {
      value = mix(value, cells[static_cast<size_t>(step.cell)]);
    } else if (step.kind < Step::publish) {
      value = mix(value, step.operand);
    }
  }
  return values;
}

class LimitedDevice : public CpuDevice {
 public:
  LimitedDevice() : CpuDevice(0, 0, size_t{1} << 20) { limit(Engine::vdec, 1); }
};

// Submits one step the way a program would.
void submit(const Step& step, const std::vector<std::shared_ptr<Stream>>& streams,
            const std::vector<std::shared_ptr<Event>>& events, std::vector<uint64_t>& values,
            std::vector<uint64_t>& cells) {
  Stream& stream = *streams[static_cast<size_t>(step.stream)];
  Event& event = *events[static_cast<size_t>(step.event)];
  uint64_t* value = &values[static_cast<size_t>(step.stream)];
  uint64_t* cell = step.kind >= Step::publish && step.kind <= Step::consume
                       ? &cells[static_cast<size_t>(step.cell)]
                       : nullptr;
  const uint64_t operand = step.operand;
  const auto advance = [value, operand] {
    *value = mix(*value, operand);
    return Status();
  };
  switch (step.kind) {
    case Step::compute:
      EXPECT_TRUE(stream.submit(kStep, advance).ok());
      break;
    case Step::limited:
      EXPECT_TRUE(stream.submit(kLimited, advance).ok());
      break;
    case Step::late:
      EXPECT_TRUE(stream
                      .submit(kLate,
                              [value, operand](TaskRun& run) {
                                auto late = std::make_shared<Completion>(run.defer());
                                ThreadPool::instance().submit_after(
                                    operand % 3 ? 0 : operand % 50'000, [late, value, operand] {
                                      *value = mix(*value, operand);
                                      late->finish({});
                                    });
                                return Outcome::pending;
                              })
                      .ok());
      break;
    case Step::publish:
      EXPECT_TRUE(stream
                      .submit(kStep,
                              [value, cell] {
                                *cell = *value;
                                return Status();
                              })
                      .ok());
      EXPECT_TRUE(event.record(stream).ok());
      break;
    case Step::consume:
      EXPECT_TRUE(event.wait_in(stream).ok());
      EXPECT_TRUE(stream
                      .submit(kStep,
                              [value, cell] {
                                *value = mix(*value, *cell);
                                return Status();
                              })
                      .ok());
      break;
    case Step::host_sync: {
      const uint64_t before = stream.submitted();  // other threads may submit more meanwhile
      EXPECT_TRUE(stream.synchronize().ok());
      EXPECT_GE(stream.completed(), before);
      break;
    }
    case Step::host_event:
      EXPECT_TRUE(event.synchronize(Deadline::never()).ok());
      break;
  }
}

std::vector<uint64_t> run_on_streams(const Program& program, std::mt19937& random) {
  auto device = std::make_shared<LimitedDevice>();
  std::vector<std::shared_ptr<Stream>> streams;
  for (int i = 0; i < program.streams; ++i) {
    streams.push_back(std::make_shared<Stream>(
        device, std::weak_ptr<Context>(), StreamOptions{static_cast<uint32_t>(random() % 8), 0}));
  }
  std::vector<std::shared_ptr<Event>> events;
  for (int i = 0; i < program.events; ++i) {
    events.push_back(std::make_shared<Event>(std::weak_ptr<Context>(), 0));
  }
  std::vector<uint64_t> values(streams.size(), 1);
  std::vector<uint64_t> cells(static_cast<size_t>(program.cells), 0);

  // Several submitting threads take turns in the program's order, so that "last recorded" means
  // the same as for the oracle; host waits happen outside the turn.
  std::mutex turn;
  size_t next = 0;
  const auto submitter = [&] {
    for (;;) {
      Step step;
      {
        std::lock_guard lock(turn);
        if (next == program.steps.size()) return;
        step = program.steps[next++];
        if (step.kind < Step::host_sync) {
          submit(step, streams, events, values, cells);
          continue;
        }
      }
      submit(step, streams, events, values, cells);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < random() % 3 + 1; ++i) threads.emplace_back(submitter);
  for (auto& thread : threads) thread.join();
  // Streams end in random order, some waited for, some closed with work queued.
  std::shuffle(events.begin(), events.end(), random);
  for (auto& stream : streams) {
    if (random() % 2) {
      EXPECT_TRUE(stream->synchronize().ok());
    }
  }
  for (auto& stream : streams) stream->close(Stream::Close::drain, Deadline::never());
  return values;
}

TEST(StreamModel, RandomProgramsGiveTheSequentialResult) {
#ifdef ANYNPU_SANITIZED
  constexpr int kRounds = 300;
#else
  constexpr int kRounds = 1500;
#endif
  for (int round = 0; round < kRounds; ++round) {
    std::mt19937 random(static_cast<unsigned>(round) + 1);
    const Program program = random_program(random, 20 + static_cast<int>(random() % 200));
    ASSERT_EQ(run_on_streams(program, random), run_sequentially(program)) << "seed " << round + 1;
  }
}

TEST(StreamModel, ManyStreamsOnFewCoresAllFinish) {
  // 8 devices x 4 streams, each waiting for the one before.
  std::vector<std::shared_ptr<Stream>> streams;
  for (int d = 0; d < 8; ++d) {
    auto device = std::make_shared<CpuDevice>(d, d, size_t{1} << 20);
    for (int s = 0; s < 4; ++s) {
      streams.push_back(
          std::make_shared<Stream>(device, std::weak_ptr<Context>(), StreamOptions{}));
    }
  }
  uint64_t chain = 0;
  for (int round = 0; round < 50; ++round) {
    auto event = std::make_shared<Event>(std::weak_ptr<Context>(), 0);
    for (size_t i = 0; i < streams.size(); ++i) {
      if (i > 0) {
        ASSERT_TRUE(event->wait_in(*streams[i]).ok());
      }
      ASSERT_TRUE(streams[i]
                      ->submit(kStep,
                               [&chain] {
                                 ++chain;
                                 return Status();
                               })
                      .ok());
      ASSERT_TRUE(event->record(*streams[i]).ok());
    }
    ASSERT_TRUE(streams.back()->synchronize().ok());
  }
  EXPECT_EQ(chain, 50u * 32);
  for (auto& stream : streams) stream->close(Stream::Close::drain, Deadline::never());
}

}  // namespace
}  // namespace anynpu::device
