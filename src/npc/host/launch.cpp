// SPDX-License-Identifier: Apache-2.0
#include "npc/host/launch.h"

#include <unistd.h>

#include "npc/host/kernel_profile.h"
#include "npc/host/recorder.h"
#include "trace/trace.h"

namespace anynpu::npc {

namespace {
constinit device::TaskKind kLaunch{"hpe_kernel", device::Engine::npc};
}

struct LaunchJob {
  LaunchJob(std::shared_ptr<HostModule> m, LaunchRequest r, std::shared_ptr<Lane> l)
      : module(std::move(m)), request(std::move(r)), lane(std::move(l)) {
    module->launches_.fetch_add(1, std::memory_order_relaxed);
  }
  ~LaunchJob() { module->launches_.fetch_sub(1, std::memory_order_release); }
  LaunchJob(const LaunchJob&) = delete;
  LaunchJob& operator=(const LaunchJob&) = delete;

  Status run() {
    LaunchStats stats;
    const trace::TraceZone zone(trace::Category::op, name, correlation);
    Status status = module->host().cluster().launch(module->module(), request, &stats);
    if (status.code() == Code::task_failed || status.code() == Code::kernel_timeout) {
      lane->host().add_exception(*lane, status, stats.trap_report);
    }
    if (Recorder* record = recorder()) {
      record->add_kernel(stats, lane->stream().id(), thread);
    }
    if (profiled) KernelProfile::instance().add(std::move(stats));
    return status;
  }

  const std::shared_ptr<HostModule> module;
  const LaunchRequest request;
  const std::shared_ptr<Lane> lane;
  std::vector<std::shared_ptr<Block>> blocks;  // memory the parameters point into
  bool profiled = false;
  const int thread = recorder() ? gettid() : 0;
  trace::NameId name{};
  const uint32_t correlation = trace::current_correlation();
};

Result<std::shared_ptr<HostModule>> HostModule::load(ClusterHost& host,
                                                     std::span<const std::byte> object) {
  ANYNPU_ASSIGN(auto module, Module::load(host.cluster(), object));
  return std::shared_ptr<HostModule>(new HostModule(host, std::move(module)));
}

Status launch(const std::shared_ptr<HostModule>& module, LaunchRequest request,
              const std::shared_ptr<Lane>& lane) {
  const Cluster& cluster = module->host().cluster();
  ANYNPU_TRY(cluster.check(module->module(), request));
  auto job = std::make_shared<LaunchJob>(module, std::move(request), lane);
  job->profiled = KernelProfile::instance().enabled();
  // Interned only while tracing: it takes a lock.
  if (trace::enabled(trace::Category::op)) job->name = trace::intern(job->request.kernel);
  for (const uint32_t word : job->request.args) {
    if (auto block = cluster.find(word); block.ok()) job->blocks.push_back(std::move(*block));
  }
  return lane->stream().submit(kLaunch, [job = std::move(job)] { return job->run(); });
}

}  // namespace anynpu::npc
