// SPDX-License-Identifier: Apache-2.0
#include "collective/socket_rendezvous.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/content_hash.h"
#include "collective/exchange.h"

namespace anynpu::collective {

namespace {

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }
  bool good() const { return descriptor_ >= 0; }
  // No read or write takes longer.
  void limit() const {
    const timeval second = {1, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
  }

 private:
  const int descriptor_;
};

struct SocketAddress {
  sockaddr_un address = {};
  socklen_t bytes = 0;
};
// A name that starts with a zero is no file.
SocketAddress address_of(const std::string& text) {
  SocketAddress named;
  named.address.sun_family = AF_UNIX;
  const std::string name = format("anynpu-hccl-{}-{}", getuid(),
                                  content_hash(std::as_bytes(std::span(text))).substr(0, 32));
  std::memcpy(named.address.sun_path + 1, name.data(), name.size());
  named.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return named;
}

Socket new_socket(int flags) {
  return Socket(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}

bool of_this_user(int descriptor) {
  ucred peer = {};
  socklen_t bytes = sizeof peer;
  return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
         peer.uid == getuid();
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}
bool read_all(int descriptor, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::recv(descriptor, bytes.data(), bytes.size(), 0);
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}

// Sends to one rank that connects; -1 when there is none, or it is of another user.
int64_t serve_one(int listener, std::span<const std::byte> bytes) {
  const Socket caller(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!caller.good() || !of_this_user(caller.get())) return -1;
  caller.limit();
  uint32_t rank = 0;
  if (!read_all(caller.get(), std::as_writable_bytes(std::span(&rank, 1)))) return -1;
  return write_all(caller.get(), bytes) ? int64_t{rank} : -1;
}

}  // namespace

Status send_to_all_ranks(const std::string& text, std::span<const std::byte> bytes, uint32_t ranks,
                         const Deadline& deadline) {
  const SocketAddress named = address_of(text);
  const Socket listener = new_socket(SOCK_NONBLOCK);
  const auto* address = reinterpret_cast<const sockaddr*>(&named.address);
  if (!listener.good() || bind(listener.get(), address, named.bytes) != 0 ||
      listen(listener.get(), 128) != 0) {
    return fail(errno == EADDRINUSE ? Code::already_exists : Code::io_error,
                "rank 0 cannot wait for the others ({}); only one program at a time can use one "
                "rank table",
                std::strerror(errno));
  }
  std::vector<bool> here(ranks, false);
  here[0] = true;
  uint32_t missing = ranks - 1;
  ANYNPU_ASSIGN(const bool all, poll_until(deadline, [&] {
                  for (int64_t rank; missing && (rank = serve_one(listener.get(), bytes)) >= 0;) {
                    if (rank >= int64_t{ranks} || here[static_cast<size_t>(rank)]) continue;
                    here[static_cast<size_t>(rank)] = true;
                    --missing;
                  }
                  return missing == 0;
                }));
  if (all) return {};
  std::vector<uint32_t> absent;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    if (!here[rank]) absent.push_back(rank);
  }
  return fail(Code::timeout,
              "{} of the rank table's {} did not come within {}; look whether they run",
              list_ranks(absent), ranks, connect_limit());
}

Status receive_from_rank_zero(const std::string& text, uint32_t rank, std::span<std::byte> bytes,
                              const Deadline& deadline) {
  const SocketAddress named = address_of(text);
  ANYNPU_ASSIGN(const bool got, poll_until(deadline, [&] {
                  const Socket root = new_socket(0);
                  root.limit();
                  const auto* address = reinterpret_cast<const sockaddr*>(&named.address);
                  return root.good() && ::connect(root.get(), address, named.bytes) == 0 &&
                         of_this_user(root.get()) &&
                         write_all(root.get(), std::as_bytes(std::span(&rank, 1))) &&
                         read_all(root.get(), bytes);
                }));
  if (got) return {};
  return fail(
      Code::timeout,
      "rank 0 of the rank table did not come within {}; look whether it runs, with the same "
      "file",
      connect_limit());
}

}  // namespace anynpu::collective
