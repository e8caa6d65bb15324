// SPDX-License-Identifier: Apache-2.0
#include "service/model/execute.h"

#include "base/spare_pool.h"
#include "device/runtime.h"
#include "service/model/binding.h"
#include "service/task_kinds.h"
#include "trace/trace.h"

namespace anynpu::service {

namespace {

constinit device::TaskKind kExecute{"model execution", device::Engine::compute};
constinit device::TaskKind kExecuteLoops{"model execution", device::Engine::compute, true};
constinit device::TaskKind kExecuteQueued =
    device::TaskKind::queued("model execution", device::Engine::compute);

// Bindings of asynchronous executions are used again, so that queueing one allocates nothing. Never
// destroyed: streams may end after this file's objects.
SparePool<Binding>& spare_bindings() {
  static auto* pool = new SparePool<Binding>;
  return *pool;
}
struct ReturnToPool {
  void operator()(Binding* binding) const {
    binding->clear();
    spare_bindings().give(std::unique_ptr<Binding>(binding));
  }
};
using PooledBinding = std::unique_ptr<Binding, ReturnToPool>;

struct ExecuteOptions {
  int32_t timeout_ms = -1;
  exec::Buffer work;
};

Result<ExecuteOptions> read_options(Handle handle) {
  if (!handle) return ExecuteOptions{};
  ANYNPU_ASSIGN(auto config, resolve<ExecuteConfig>(handle));
  const ExecuteOptions options{config->stream_timeout_ms, {config->work, config->work_size}};
  if (!options.work.data && options.work.bytes > 0) {
    return fail(Code::invalid_argument,
                "the execution has work memory of {} bytes at no address; set "
                "ACL_MDL_WORK_ADDR_PTR (2) too",
                options.work.bytes);
  }
  return options;
}

// A synchronous execution stands in no queue: its failure is reported as if it had been the next
// task of the default stream.
void report(const device::Context& context, const Status& status) {
  const device::Stream& stream = *context.default_stream();
  device::report_failure({context.device()->id(), stream.id(),
                          static_cast<uint32_t>(stream.submitted() + 1),
                          device::current_thread_number(), kExecute.text, status});
}

// An execution in the calling thread is a task of the default stream to a profile; its number is
// that of the call.
Status run_traced(uint32_t model_id, Binding& binding, const device::Context& context) {
  const uint64_t begin = trace::enabled(trace::Category::task) ? ticks() : 0;
  Status status = binding.run();
  if (begin) [[unlikely]] {
    const uint32_t call = trace::current_correlation();
    trace::slice(
        trace::Category::task, kExecute.name.id(), begin, ticks(), call, model_id,
        {context.default_stream()->id() | uint64_t{call} << 32, 0,
         static_cast<uint32_t>(context.device()->id()), static_cast<uint32_t>(kExecute.engine)});
  }
  if (!status.ok()) [[unlikely]]
    report(context, status);
  return status;
}

Status enqueue(const ExecuteCall& call, const std::shared_ptr<device::Stream>& stream,
               exec::Buffer work) {
  PooledBinding binding(spare_bindings().take().release());
  if (!binding) binding.reset(new Binding);
  ANYNPU_TRY(binding->bind(call, *stream->device()));
  ANYNPU_TRY(binding->bind_work(work));
  device::TaskKind& kind = binding->only_enqueues() ? kExecuteQueued
                           : binding->has_loops()   ? kExecuteLoops
                                                    : kExecute;
  return stream->submit(
      {kind, call.model_id}, [binding = std::move(binding)](device::TaskRun& run) {
        return run.done(queued_by("aclmdlExecuteAsync", binding->run(&run.stream().queue())));
      });
}

}  // namespace

Status execute(const ExecuteCall& call) {
  ANYNPU_ASSIGN(auto context, device::Runtime::instance().current());
  // One a thread, so that repeated executions allocate nothing here.
  static thread_local Binding binding;
  Status status = binding.bind(call, *context->device());
  if (status.ok()) status = run_traced(call.model_id, binding, *context);
  binding.clear();
  return status;
}

Status execute_async(const ExecuteCall& call, Handle stream_handle, Handle config) {
  ANYNPU_ASSIGN(const ExecuteOptions options, read_options(config));
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(stream_handle));
  return enqueue(call, stream, options.work);
}

Status execute_and_wait(const ExecuteCall& call, Handle stream_handle, Handle config) {
  ANYNPU_ASSIGN(const ExecuteOptions options, read_options(config));
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(stream_handle));
  ANYNPU_TRY(enqueue(call, stream, options.work));
  return stream->synchronize(options.timeout_ms < 0 ? Deadline::never()
                                                    : Deadline::after_ms(options.timeout_ms));
}

}  // namespace anynpu::service
