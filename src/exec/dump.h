// SPDX-License-Identifier: Apache-2.0
// Observers that write files: the dump of a model's layers, and the operators that overflow (guide
// 7.12). One for each loaded model; thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "exec/dump_file.h"
#include "exec/observer.h"

namespace anynpu::exec {

struct DumpOptions {
  std::string folder;               // "{dump_path}/{time}/{device}"
  std::string model;                // empty for a single operator
  std::vector<std::string> layers;  // empty: all
  bool inputs = false, outputs = true;
  bool statistics = false;
  std::vector<std::string> columns;  // of the statistics; empty: all
  uint32_t model_id = 0;             // set after the model got its id
  uint32_t stream = 0;
  // Watchers: after each of these nodes, the outputs of `layers` are written again.
  std::vector<std::string> watchers;
  int32_t device = 0;
};

class Dump : public StepObserver {
 public:
  explicit Dump(DumpOptions options) : options_(std::move(options)) {}
  void set_model_id(uint32_t id) override { options_.model_id = id; }
  void begin() override;
  bool wants(const std::string& op, const std::string& name) const override;
  Status before(const StepView& step) override;
  Status after(const StepView& step) override;

 protected:
  // Of the run in this thread.
  std::string folder() const;
  Status write(const StepView& step, const std::string& name, const OperatorDump& dump) const;
  DumpOptions options_;

 private:
  std::atomic<uint64_t> runs_{0};
};

// Bits of the status register that the guide explains.
enum Overflow : uint32_t {
  kNegation = 0x8,
  kWhole = 0x10,
  kFloat = 0x20,
  kNegativeToUnsigned = 0x80,
  kToHalf = 0x100,
  kCube = 0x400,
};

// The overflow bits of a step's outputs; 0 for none: infinities or NaNs that no input has, integers
// out of range, lossy conversions.
uint32_t overflow_status(const StepView& step);

// Two files per operator that overflows: its dump, and where it happened. Without a folder only the
// device's overflow status is set.
class OverflowDump final : public Dump {
 public:
  using Dump::Dump;
  Status before(const StepView& step) override;
  Status after(const StepView& step) override;
};

// The overflow bits of a device since the last reset (aclrtGetOverflowStatus), set by models made
// with --status_check=1.
uint32_t overflow_bits(int32_t device);
void add_overflow(int32_t device, uint32_t bits);
void reset_overflow(int32_t device);

// The operator that fails, with its inputs as they were and its outputs as they are.
class ExceptionDump final : public Dump {
 public:
  using Dump::Dump;
  Status after(const StepView& step) override { return {}; }
  void failed(const StepView& step, const Status& status) override;
};

// Writes the outputs of the watched layers when they are computed and again after each watcher:
// a difference shows which node overwrote them.
class WatcherDump final : public Dump {
 public:
  using Dump::Dump;
  bool wants(const std::string& op, const std::string& name) const override;
  Status before(const StepView& step) override { return {}; }
  Status after(const StepView& step) override;
};

std::shared_ptr<Dump> make_dump(DumpOptions options);
std::shared_ptr<Dump> make_overflow_dump(DumpOptions options);
std::shared_ptr<Dump> make_exception_dump(DumpOptions options);
std::shared_ptr<Dump> make_watcher_dump(DumpOptions options);

// The second file: one record of `status`, in our own layout (docs/dump.md).
std::string overflow_record(uint32_t model, uint32_t stream, uint32_t task, uint32_t status,
                            uint64_t code_address, uint64_t argument_address);

}  // namespace anynpu::exec
