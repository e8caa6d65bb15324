// SPDX-License-Identifier: Apache-2.0
// AscendCL in this process: started with the first session, ended by finalize. If the program
// called acl.init itself, it must also call acl.finalize. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "aclruntime/failure.h"

namespace anynpu::aclruntime {

// A context of its own on a device; the device is opened for it.
class Context {
 public:
  // Starts AscendCL if it is not running (`config`: a JSON file or empty; used only then).
  static Failure open(int device, const std::string& config, std::shared_ptr<Context>& context);
  ~Context();

  // Makes it the current context of the calling thread, where it stays.
  Failure use() const;
  int device() const { return device_; }

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  Context(int device, void* handle);
  const int device_;
  void* const handle_;
  const unsigned start_;  // which start of AscendCL it belongs to
};

// Counts the starts of AscendCL: what belongs to an earlier one must not be freed.
unsigned current_start();
// Makes the context of some live session on `device` current.
Failure use_device(int device);
// Resets the devices that were opened and ends AscendCL if it was started here.
Failure finalize();

}  // namespace anynpu::aclruntime
