// SPDX-License-Identifier: Apache-2.0
#include "prof/remote.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>

namespace anynpu::prof {
namespace {

// What msprof does, by hand.
class Client {
 public:
  Client() : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = "anynpu-msprof-" + std::to_string(getpid());
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    connected =
        ::connect(fd_, reinterpret_cast<const sockaddr*>(&address),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) == 0;
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // "" at the end of the stream.
  std::string line() {
    std::string text;
    for (char c; ::read(fd_, &c, 1) == 1 && c != '\n';) text += c;
    return text;
  }
  std::string ask(const std::string& text) {
    EXPECT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
    return line();
  }
  bool connected = false;

 private:
  const int fd_;
};

struct Calls {
  std::atomic<int> starts{0}, stops{0};
  std::atomic<bool> running{false};
  RemoteCommands commands() {
    return {[this](const json::Value& profiler) -> Result<std::string> {
              if (!profiler.object()) return fail(Code::invalid_argument, "no section");
              ++starts;
              running = true;
              return std::string("PROF_1");
            },
            [this]() -> Result<std::string> {
              ++stops;
              running = false;
              return std::string("PROF_1");
            },
            [this] { return running.load(); }};
  }
};

constexpr const char* kStart = "{\"command\": \"start\", \"profiler\": {}}\n";
constexpr const char* kStop = "{\"command\": \"stop\"}\n";

TEST(RemoteTest, commands_are_answered_and_nonsense_is_refused_with_a_message) {
  Calls calls;
  auto control = RemoteControl::listen(calls.commands());
  ASSERT_TRUE(control.ok()) << control.status().to_string();
  Client client;
  ASSERT_TRUE(client.connected);
  EXPECT_NE(client.line().find("true"), std::string::npos);
  EXPECT_NE(client.ask(kStart).find("PROF_1"), std::string::npos);
  EXPECT_NE(client.ask(kStop).find("PROF_1"), std::string::npos);
  EXPECT_NE(client.ask("{\"command\": \"start\"}\n").find("no section"), std::string::npos);
  EXPECT_NE(client.ask("{\"command\": \"dance\"}\n").find("expected start or stop"),
            std::string::npos);
  EXPECT_NE(client.ask("][\n").find("false"), std::string::npos);
  EXPECT_NE(client.ask("\n").find("false"), std::string::npos);
  EXPECT_EQ(calls.starts, 1);
  EXPECT_EQ(calls.stops, 1);
}

TEST(RemoteTest, a_second_client_is_refused_and_one_that_leaves_stops_what_it_started) {
  Calls calls;
  auto control = RemoteControl::listen(calls.commands());
  ASSERT_TRUE(control.ok());
  {
    Client first;
    first.line();
    first.ask(kStart);
    Client second;
    EXPECT_NE(second.line().find("another msprof"), std::string::npos);
    EXPECT_EQ(second.line(), "");
  }
  while (calls.running) usleep(1000);
  EXPECT_EQ(calls.stops, 1);
  Client third;
  EXPECT_NE(third.line().find("true"), std::string::npos);
}

TEST(RemoteTest, a_line_without_an_end_is_cut_off) {
  Calls calls;
  auto control = RemoteControl::listen(calls.commands());
  ASSERT_TRUE(control.ok());
  Client client;
  client.line();
  EXPECT_EQ(client.ask(std::string((1 << 20) + 5000, 'x')), "");
}

TEST(RemoteTest, ends_with_a_client_attached_and_can_listen_again) {
  Calls calls;
  for (int i = 0; i < 20; ++i) {
    auto control = RemoteControl::listen(calls.commands());
    ASSERT_TRUE(control.ok());
    EXPECT_FALSE(RemoteControl::listen(calls.commands()).ok());  // the name is taken
    Client client;
    client.line();
    control->reset();
    EXPECT_EQ(client.line(), "");
  }
}

}  // namespace
}  // namespace anynpu::prof
