// SPDX-License-Identifier: Apache-2.0
// Lets msprof start and stop the collection in a running process. A thread listens on an abstract
// socket named after the process id, and serves one msprof at a time, of the same user or root:
// lines of JSON in both directions. When msprof disconnects, the collection it started is stopped.
//   {"command": "start", "profiler": {...}}   the section of acl.json
//   {"command": "stop"}
//   answers: {"ok": true, "path": PROF_*} or {"ok": false, "message": text}
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/json.h"
#include "base/result.h"

namespace anynpu::prof {

// Called by the listening thread, one at a time; each returns the path of the PROF_* directory.
struct RemoteCommands {
  std::function<Result<std::string>(const json::Value& profiler)> start;
  std::function<Result<std::string>()> stop;
  std::function<bool()> running;
};

class RemoteControl {
 public:
  // Fails with io_error if the name is taken or no socket can be created, and if the system cannot
  // create a thread.
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
