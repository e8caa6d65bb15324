// SPDX-License-Identifier: Apache-2.0
// What a captured graph costs beside its work: an execution of 50 tasks that do nothing, and the
// wait for it; and of two streams that fork and join once.
#include "../acl_session.h"
#include "../harness.h"
#include "acl/rt/model_instance.h"
#include "device/runtime.h"

namespace anynpu::bench {
namespace {

constinit device::TaskKind kNothing{"empty", device::Engine::control};
constexpr int kTasks = 50;

void submit_empty(aclrtStream stream, int count) {
  const auto found = *device::Runtime::instance().stream(reinterpret_cast<Handle>(stream));
  for (int i = 0; i < count; ++i) (void)found->submit(kNothing, [] { return Status(); });
}

double run_us(aclmdlRI graph, aclrtStream stream) {
  return ns_per_call(1'000,
                     [&] {
                       ANYNPU_MUST(aclmdlRIExecuteAsync(graph, stream));
                       ANYNPU_MUST(aclrtSynchronizeStream(stream));
                     }) /
         1e3;
}

}  // namespace

ANYNPU_BENCH(acl_replay) {
  AclSession session;
  aclrtStream stream = nullptr;
  aclmdlRI graph = nullptr;
  ANYNPU_MUST(aclrtCreateStream(&stream));
  ANYNPU_MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  submit_empty(stream, kTasks);
  ANYNPU_MUST(aclmdlRICaptureEnd(stream, &graph));
  report.add({"replay of a captured graph of 50 empty tasks + stream synchronize", 5, "us",
              value_of([&] { return run_us(graph, stream); }), ""});
  ANYNPU_MUST(aclmdlRIDestroy(graph));
  aclrtDestroyStream(stream);
}

ANYNPU_BENCH(acl_replay_forked) {
  AclSession session;
  aclrtStream streams[2] = {};
  aclrtEvent events[2] = {};
  aclmdlRI graph = nullptr;
  for (auto& stream : streams) ANYNPU_MUST(aclrtCreateStream(&stream));
  for (auto& event : events) ANYNPU_MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  ANYNPU_MUST(aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  ANYNPU_MUST(aclrtRecordEvent(events[0], streams[0]));
  ANYNPU_MUST(aclrtStreamWaitEvent(streams[1], events[0]));
  submit_empty(streams[0], kTasks / 2);
  submit_empty(streams[1], kTasks / 2);
  ANYNPU_MUST(aclrtRecordEvent(events[1], streams[1]));
  ANYNPU_MUST(aclrtStreamWaitEvent(streams[0], events[1]));
  ANYNPU_MUST(aclmdlRICaptureEnd(streams[0], &graph));
  report.add({"replay of a graph of two streams of 25 empty tasks", 50, "us",
              value_of([&] { return run_us(graph, streams[0]); }), "two threads meet twice"});
  ANYNPU_MUST(aclmdlRIDestroy(graph));
  for (auto& event : events) aclrtDestroyEvent(event);
  for (auto& stream : streams) aclrtDestroyStream(stream);
}

}  // namespace anynpu::bench
