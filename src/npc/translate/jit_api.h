// SPDX-License-Identifier: Apache-2.0
// The interface of the plug-in libanynpu_npc.so, which holds LLVM. The core opens it on first use
// (plugin.h); both are built together, so C++ types cross it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "npc/translate/host_state.h"
#include "npc/translate/program.h"

namespace anynpu::npc {

// How to get from a frame of translated code to its caller's: the caller's stack pointer is this
// frame's (or its base pointer) plus a distance; right below lies the return address.
struct FrameRule {
  bool from_base_pointer = false;
  int32_t distance = 0;    // 0: not known
  int32_t saved_base = 0;  // base pointer of the caller, from its stack pointer; 0: unchanged
};

// Host code of one module, ready to run. Immutable.
class HostCode {
 public:
  virtual ~HostCode() = default;
  // Starts of kernels: count = start(base, count). Null: there is none.
  virtual void* kernel(uint32_t entry) const = 0;
  virtual void* indirect(uint32_t entry) const = 0;
  // From a signal handler: whether a host address is inside.
  virtual bool contains(const void* host) const = 0;
  // Code offsets of the instruction at a host address: the innermost function first, then those it
  // was inlined into. Empty when the address is not in this code.
  virtual std::vector<uint32_t> locate(const void* host) const = 0;
  virtual FrameRule frame_at(const void* host) const = 0;
};

class Jit {
 public:
  virtual ~Jit() = default;
  // What objects depend on beside the program: compiler version, processor, its features.
  virtual std::string signature() const = 0;
  // How many of the steps are done: four for each function.
  using OnStep = std::function<void(uint64_t done, uint64_t total)>;
  // An ELF object; empty and `error` set when it cannot be made.
  virtual std::string compile(const Program& program, const OnStep& on_step,
                              std::string& error) = 0;
  // Null and `error` set when the object cannot be used.
  virtual std::unique_ptr<HostCode> load(const std::string& object, const HostHelpers& helpers,
                                         std::string& error) = 0;
};

}  // namespace anynpu::npc

extern "C" anynpu::npc::Jit* anynpu_npc_jit();
