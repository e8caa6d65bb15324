// SPDX-License-Identifier: Apache-2.0
// The network engine: messages between processes of different machines, by tags. It is a plug-in
// (plugin_ucx/, over UCX) that is opened when a program says by HCCL_IF_IP that there are several
// machines; without it ranks of one machine work as ever. Nothing blocks. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace anynpu::collective {

// Another process, as this one reaches it.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  // Ok, or why nothing can be sent to it any more.
  virtual Status state() = 0;
};

// A message under way. The bytes stay where they are until it is done; dropping it gives it up.
class Message {
 public:
  virtual ~Message() = default;
  // Moves things on. A failure ends the message.
  virtual Result<bool> done() = 0;
};

class NetworkEngine {
 public:
  virtual ~NetworkEngine() = default;
  // What others connect to.
  virtual const std::vector<uint8_t>& address() const = 0;
  virtual Result<std::shared_ptr<Endpoint>> connect(std::span<const uint8_t> address) = 0;
  // When a message is done: the other side has taken it, or it has left this one.
  enum class Until { taken, gone };
  virtual Result<std::unique_ptr<Message>> send(const std::shared_ptr<Endpoint>& to, uint64_t tag,
                                                std::span<const std::byte> bytes,
                                                Until until = Until::taken) = 0;
  // Messages of one tag are received in the order they were sent.
  virtual Result<std::unique_ptr<Message>> receive(uint64_t tag, std::span<std::byte> bytes) = 0;
};

// What the plug-in exports: anynpu_ucx_engine.
using OpenEngine = Status (*)(const char* ip, NetworkEngine** engine);

// That of this process. Null when HCCL_IF_IP is not set; fails when the plug-in is not there.
Result<NetworkEngine*> network_engine();

}  // namespace anynpu::collective
