// SPDX-License-Identifier: Apache-2.0
// The active dump: from the library's configuration, or set by the program at run time. Provides
// the observers for models and operators loaded from now on. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "exec/dump.h"
#include "om/model.h"
#include "service/config/config.h"

namespace anynpu::service {

// The dump that a program sets between start and finish. One instance per process.
class DumpControl {
 public:
  static DumpControl& instance();

  // Fails with bad_call_order when it was started already, or the configuration of the library has
  // a dump.
  Status start();
  // Reads the section "dump" of a file; counts for what is loaded from now on. Fails with
  // bad_call_order before start, with invalid_dump_config.
  Status set_file(const char* path);
  Status finish();
  // What is on now; nothing when no dump is.
  std::optional<DumpConfig> active() const;

 private:
  DumpControl() = default;
  Status check_started(const char* otherwise) const;
  void forget();

  mutable std::mutex mutex_;
  bool started_ = false;
  std::optional<DumpConfig> set_;
};

// Null when the model needs no observer. Its id is set later.
std::shared_ptr<exec::StepObserver> observer_for_model(const om::Meta& meta, int32_t device);
// For single operators (dump_op_switch, exceptions), including custom operators.
std::shared_ptr<exec::StepObserver> observer_for_operators(int32_t device);

// The folder for the output of kernels (dump_kernel_data); empty: none.
struct KernelDumpTarget {
  std::string folder;
  bool prints = false, assertions = false;
};
KernelDumpTarget kernel_dump_target(int32_t device);

}  // namespace anynpu::service
