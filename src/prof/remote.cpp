// SPDX-License-Identifier: Apache-2.0
#include "prof/remote.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/log.h"
#include "base/start_thread.h"
#include "prof/os_calls.h"

namespace anynpu::prof {

namespace {

constexpr size_t kLongestLine = size_t{1} << 20;

json::Value refusal(const std::string& message) {
  json::Value out;
  out.set("ok", false);
  out.set("message", message);
  return out;
}

json::Value outcome(const Result<std::string>& path) {
  if (!path.ok()) return refusal(path.status().to_string());
  json::Value out;
  out.set("ok", true);
  out.set("path", *path);
  return out;
}

// An answer is far smaller than a socket's buffer; a reader that does not take it loses it.
void send_line(int fd, const json::Value& value) {
  const std::string text = value.dump() + "\n";
  (void)::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

Status socket_failure(const char* what) {
  return fail(Code::io_error, "msprof cannot reach this process, because {} failed: {}", what,
              std::string(strerror(errno)));
}

}  // namespace

Result<std::unique_ptr<RemoteControl>> RemoteControl::listen(RemoteCommands commands) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = format("anynpu-msprof-{}", getpid());
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // a leading zero: abstract
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return socket_failure("socket");
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      ::listen(listener, 4) != 0) {
    Status status = socket_failure("listening");
    ::close(listener);
    return status;
  }
  const int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) {
    Status status = socket_failure("eventfd");
    ::close(listener);
    return status;
  }
  std::unique_ptr<RemoteControl> made(new RemoteControl(std::move(commands), listener, wake));
  ANYNPU_TRY(made->start());
  return made;
}

RemoteControl::RemoteControl(RemoteCommands commands, int listener, int wake)
    : commands_(std::move(commands)), listener_(listener), wake_(wake) {}

Status RemoteControl::start() {
  ANYNPU_ASSIGN(thread_, start_joined_thread("anynpu-msprof", Signals::none, [this] { run(); }));
  return {};
}

RemoteControl::~RemoteControl() {
  const uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
  if (thread_.joinable()) thread_.join();
  if (client_ >= 0) ::close(client_);
  ::close(wake_);
  ::close(listener_);
}

void RemoteControl::run() {
  ignore_os_calls_of_this_thread();
  for (;;) {
    pollfd waited[3] = {{wake_, POLLIN, 0}, {listener_, POLLIN, 0}, {client_, POLLIN, 0}};
    if (::poll(waited, client_ >= 0 ? 3 : 2, -1) < 0 && errno != EINTR) return;
    if (waited[0].revents) return;
    if (client_ >= 0 && waited[2].revents) read_client();
    if (waited[1].revents) greet();
  }
}

void RemoteControl::greet() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  ucred who{};
  socklen_t bytes = sizeof who;
  const bool known = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0;
  std::string refused;
  if (!known || (who.uid != geteuid() && who.uid != 0)) {
    refused = format("process {} belongs to user {}, msprof to user {}; run it as that user",
                     getpid(), geteuid(), who.uid);
  } else if (client_ >= 0) {
    refused = format(
        "process {} is being profiled by another msprof, process {}; let it quit "
        "first",
        getpid(), client_pid_);
  }
  if (!refused.empty()) {
    send_line(fd, refusal(refused));
    ::close(fd);
    return;
  }
  client_ = fd;
  client_pid_ = who.pid;
  send_line(fd, outcome(std::string()));
  ANYNPU_LOG(event, "msprof (process {}) is attached", client_pid_);
}

void RemoteControl::read_client() {
  char buffer[4096];
  const ssize_t count = ::recv(client_, buffer, sizeof buffer, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0 || pending_.size() + static_cast<size_t>(count) > kLongestLine) {
    return drop_client();
  }
  pending_.append(buffer, static_cast<size_t>(count));
  for (size_t end; (end = pending_.find('\n')) != std::string::npos;) {
    send_line(client_, answer(std::string_view(pending_).substr(0, end)));
    pending_.erase(0, end + 1);
  }
}

void RemoteControl::drop_client() {
  ::close(client_);
  client_ = -1;
  pending_.clear();
  if (commands_.running()) (void)commands_.stop();
  ANYNPU_LOG(event, "msprof (process {}) is gone", client_pid_);
}

json::Value RemoteControl::answer(std::string_view line) {
  const auto request = json::parse(line, "what msprof sent");
  if (!request.ok()) return refusal(request.status().to_string());
  const json::Value* given = request->find("command");
  const std::string command = given && given->string() ? *given->string() : "";
  if (command == "start") {
    const json::Value* profiler = request->find("profiler");
    return outcome(commands_.start(profiler ? *profiler : json::Value()));
  }
  if (command == "stop") return outcome(commands_.stop());
  return refusal(format("'{}' is no command; expected start or stop", command));
}

}  // namespace anynpu::prof
