// SPDX-License-Identifier: Apache-2.0
// The network engine: tagged messages between processes of different machines. It is a plug-in
// (plugin_ucx/, over UCX) that is opened when HCCL_IF_IP is set; ranks of one machine do not need
// it. Nothing blocks. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace anynpu::collective {

// The connection to another process.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  // Ok, or why nothing can be sent to it any more.
  virtual Status state() = 0;
};

// A message in flight. Its bytes must stay valid until it is done; destroying it cancels it.
class Message {
 public:
  virtual ~Message() = default;
  // Makes progress. A failure ends the message.
  virtual Result<bool> done() = 0;
};

class NetworkEngine {
 public:
  virtual ~NetworkEngine() = default;
  // The address that others connect to.
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

// The type of the plug-in's symbol anynpu_ucx_engine.
using OpenEngine = Status (*)(const char* ip, NetworkEngine** engine);

// The engine of this process. Null when HCCL_IF_IP is not set; fails if the plug-in is missing.
Result<NetworkEngine*> network_engine();

}  // namespace anynpu::collective
