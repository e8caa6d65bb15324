// SPDX-License-Identifier: Apache-2.0
// Lets msprof start and stop the collection of a process that runs. A thread listens at a socket
// whose abstract name carries the process id, and serves one msprof at a time, of the same user or
// root: lines of JSON in both directions. When msprof goes away, what it started is stopped.
//   {"command": "start", "profiler": {...}}   the section of acl.json
//   {"command": "stop"}
//   answers: {"ok": true, "path": PROF_*} or {"ok": false, "message": sentence}
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/json.h"
#include "base/result.h"

namespace anynpu::prof {

// Called by the listening thread, one at a time; each gives the path of the PROF_* directory.
struct RemoteCommands {
  std::function<Result<std::string>(const json::Value& profiler)> start;
  std::function<Result<std::string>()> stop;
  std::function<bool()> running;
};

class RemoteControl {
 public:
  // Fails with io_error when the name is taken or no socket is to be had, and where the system
  // gives no thread.
  static Result<std::unique_ptr<RemoteControl>> listen(RemoteCommands commands);
  // Ends the thread; an msprof that is connected sees the end of the stream.
  ~RemoteControl();
  RemoteControl(const RemoteControl&) = delete;
  RemoteControl& operator=(const RemoteControl&) = delete;

 private:
  RemoteControl(RemoteCommands commands, int listener, int wake);
  Status start();
  void run();
  void greet();
  void read_client();
  void drop_client();
  json::Value answer(std::string_view line);

  const RemoteCommands commands_;
  const int listener_;
  const int wake_;
  int client_ = -1;
  int client_pid_ = 0;
  std::string pending_;  // of the client, up to the end of a line
  std::thread thread_;
};

}  // namespace anynpu::prof
