// SPDX-License-Identifier: Apache-2.0
// Status: the outcome of anything that can fail. Ok is a null pointer, so passing it costs nothing.
// A failure owns a code, a message (what failed with its values, what was expected, what to do)
// and context notes added on the way up. Immutable once shared; safe to pass between threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"

namespace anynpu {

// name, meaning. The mapping to a vendor's numbers lives with that vendor's front door
// (api/acl/errors.cpp), nowhere else.
#define ANYNPU_STATUS_CODES(X)                                               \
  X(ok, "success")                                                           \
  X(invalid_argument, "an argument is outside its documented range")         \
  X(invalid_handle, "a handle is null, stale, or of another type")           \
  X(invalid_address, "memory that is not allocated, freed, or too small")    \
  X(unaligned_address, "an address lacks the alignment the call asks for")   \
  X(invalid_device, "no device has this index")                              \
  X(no_context, "the thread has no current context")                         \
  X(wrong_context, "objects of different contexts or devices were mixed")    \
  X(not_initialized, "the library was not initialised, or was finalised")    \
  X(already_initialized, "the library is initialised already")               \
  X(already_finalized, "the library is finalised already")                   \
  X(forked_process, "a forked child uses what its parent started")           \
  X(bad_call_order, "a call came before the one it depends on")              \
  X(not_found, "a name, index or id that does not exist")                    \
  X(already_exists, "a name or id that exists already")                      \
  X(file_not_found, "a file cannot be opened")                               \
  X(file_invalid, "a file has the wrong form")                               \
  X(parse_error, "text or bytes do not follow their grammar")                \
  X(io_error, "reading or writing failed")                                   \
  X(invalid_config, "a configuration value is outside its documented range") \
  X(invalid_dump_config, "the configuration of a dump has a wrong value")    \
  X(invalid_profiler_config, "a wrong key or value for the profiler")        \
  X(invalid_op_queue_config, "max_opqueue_num is no positive number")        \
  X(out_of_memory, "memory of the host or of a device is used up")           \
  X(out_of_streams, "the limit of streams is reached")                       \
  X(out_of_events, "the limit of events or notifies is reached")             \
  X(limit_exceeded, "another documented limit is reached")                   \
  X(unsupported_feature, "not available here, by design or not yet")         \
  X(unsupported_op, "an operator that is not there")                         \
  X(unsupported_dtype, "a data type an operation does not take")             \
  X(unsupported_shape, "a shape an operation does not take")                 \
  X(shape_mismatch, "shapes or sizes that do not fit each other")            \
  X(output_mismatch, "an output buffer cannot hold what a model gives")      \
  X(corrupt_model, "a model file that is damaged")                           \
  X(version_mismatch, "a file of another format version")                    \
  X(model_not_found, "no loaded model has this id")                          \
  X(bundle_not_found, "no loaded bundle has this id")                        \
  X(model_queue_not_found, "a queue to drive a model does not exist")        \
  X(model_has_no_gears, "a gear was chosen for a model without gears")       \
  X(gear_not_found, "the model was not compiled for this gear")              \
  X(parameter_input_size, "the buffer of a gear or of AIPP is too small")    \
  X(aipp_not_set, "the parameters of dynamic AIPP were not set")             \
  X(no_dynamic_aipp, "the input of the model has no dynamic AIPP")           \
  X(no_static_aipp, "the input of the model has no static AIPP")             \
  X(stream_not_subscribed, "no thread takes callbacks of this stream")       \
  X(thread_not_subscribed, "this thread takes no callbacks")                 \
  X(already_subscribed, "the stream has a thread for callbacks already")     \
  X(event_not_recorded, "the event was never recorded or has no time stamp") \
  X(profiling_not_running, "profiling was not initialised or not started")   \
  X(profiling_running, "profiling runs already")                             \
  X(profiling_conflict, "two ways of profiling exclude each other")          \
  X(profiling_failed, "the profile could not be written whole")              \
  X(profiling_type_unknown, "a kind of profiling data that does not exist")  \
  X(invalid_profiling_config, "profiling does not take these settings")      \
  X(model_already_subscribed, "the model is subscribed already")             \
  X(stamp_not_recorded, "a stamp or range that cannot be recorded now")      \
  X(not_complete, "the work is still running")                               \
  X(timeout, "the time given ran out")                                       \
  X(callback_timeout, "no callback arrived in the time given")               \
  X(task_failed, "a task of the stream failed")                              \
  X(aborted, "the work was aborted")                                         \
  X(cancelled, "the wait was interrupted")                                   \
  X(permission_denied, "the process may not do this")                        \
  X(internal, "a fault of AnyNPU itself")                                    \
  X(kernel_failed, "a kernel of the program trapped")                        \
  X(kernel_timeout, "a kernel ran longer than its launch allows")            \
  X(unexpected_exception, "a library below threw an exception")              \
  X(host_out_of_memory, "the host has no memory left")                       \
  X(out_of_handles, "the limit of objects is reached")                       \
  X(out_of_notifies, "the limit of notifies is reached")                     \
  X(invalid_stream, "a stream is null, destroyed, or of another kind")       \
  X(invalid_event, "an event is null, destroyed, or of another kind")        \
  X(time_reversed, "a time span ends before it begins")                      \
  X(unknown_queue, "no queue has this id")                                   \
  X(queue_full, "a queue took nothing in the time given")                    \
  X(queue_empty, "a queue had nothing in the time given")                    \
  X(already_registered, "memory that is registered already")                 \
  X(not_registered, "memory that was never registered")                      \
  X(option_not_set, "an option is read that was never set")                  \
  X(unknown_kernel, "a binary has no kernel of this name")                   \
  X(format_mismatch, "a layout that cannot become another")                  \
  X(op_input_mismatch, "inputs that an operator does not take")              \
  X(op_output_mismatch, "outputs that an operator does not give")            \
  X(folder_invalid, "a folder that cannot be read or written")               \
  X(capture_dependency, "a wait for an event the capture did not record")    \
  X(stream_unjoined, "a captured stream did not come back")                  \
  X(instance_capturing, "an instance that is still being captured")          \
  X(stream_capturing, "a stream that is being captured")                     \
  X(event_captured, "an event of a capture is used outside of it")           \
  X(stream_not_capturing, "a stream that is not being captured")             \
  X(capture_mode_forbids, "a call that the mode of a capture forbids")       \
  X(default_stream_captured, "the default stream takes no part in captures") \
  X(capture_conflict, "an event ties two captures together")                 \
  X(task_group_state, "a task group is begun or ended out of order")         \
  X(task_group_interrupted, "a task of another stream inside a task group")  \
  X(capture_unmatched, "a capture is ended on a stream that joined it")      \
  X(instance_running, "an instance that is running")                         \
  X(capture_wrong_thread, "a capture is ended by another thread")            \
  X(array_too_small, "an array cannot hold what is asked for")               \
  X(instance_not_updated, "changes of an instance cannot be applied")        \
  X(capture_forbids_waiting, "a wait for work that is only recorded")        \
  X(sub_capture_open, "an instance of a condition is not captured")          \
  X(capture_invalidated, "a capture was broken by a forbidden call")         \
  X(task_kind_refused, "a kind of task that is not taken here")              \
  X(label_of_other_context, "a label belongs to another context")            \
  X(op_not_updatable, "an operator that cannot replace another one")         \
  X(stream_not_of_instance, "a stream is not bound to this instance")        \
  X(unknown_symbol, "a binary has no variable of this name")                 \
  X(invalid_symbol, "an address that is no registered variable")             \
  X(invalid_device_function, "no registered function has this address")      \
  X(link_unsupported, "a kind of link that does not exist")                  \
  X(snapshot_lock_timeout, "work did not end before the lock")               \
  X(snapshot_lock_failed, "the process cannot be locked now")                \
  X(snapshot_unlock_failed, "the process cannot be unlocked now")            \
  X(snapshot_backup_failed, "no backup can be made now")                     \
  X(snapshot_restore_failed, "no backup can be restored now")                \
  X(snapshot_callback_failed, "a callback of a snapshot failed")             \
  X(snapshot_register_failed, "a snapshot callback is there already")

enum class Code : unsigned char {
#define X(name, meaning) name,
  ANYNPU_STATUS_CODES(X)
#undef X
};
#define X(name, meaning) +1
inline constexpr size_t kCodeCount = 0 ANYNPU_STATUS_CODES(X);
#undef X

std::string_view code_name(Code code);
std::string_view code_meaning(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return rep_ ? rep_->code : Code::ok; }
  // The message without notes. Empty when ok.
  const std::string& message() const;
  // Message and notes, innermost first, joined for a log line or a last-error call.
  std::string to_string() const;
  // The same failure with a note of what was being done. No effect on ok.
  Status with_note(std::string note) const;
  // The same message and notes with another code. No effect on ok.
  Status with_code(Code code) const;

 private:
  struct Rep {
    Code code;
    std::string message;
    std::string notes;
  };
  std::shared_ptr<const Rep> rep_;
};

// fail(Code::invalid_argument, "memcpy: count is {}, expected at most {}; pass ...", count, max)
template <typename... Args>
Status fail(Code code, FormatString<Args...> text, const Args&... args) {
  return Status(code, anynpu::format(text, args...));
}

}  // namespace anynpu

#define ANYNPU_CONCAT_(a, b) a##b
#define ANYNPU_CONCAT(a, b) ANYNPU_CONCAT_(a, b)

// Returns from the enclosing function when expr fails; further arguments format a note.
#define ANYNPU_TRY(expr, ...)                                                   \
  do {                                                                          \
    if (::anynpu::Status try_status_ = (expr); !try_status_.ok())               \
      return try_status_ __VA_OPT__(.with_note(::anynpu::format(__VA_ARGS__))); \
  } while (0)

// ANYNPU_ASSIGN(auto file, open(path), "while loading '{}'", path);
#define ANYNPU_ASSIGN(target, expr, ...) \
  ANYNPU_ASSIGN_IMPL_(ANYNPU_CONCAT(result_, __LINE__), target, expr __VA_OPT__(, ) __VA_ARGS__)
#define ANYNPU_ASSIGN_IMPL_(result, target, expr, ...)                                            \
  auto result = (expr);                                                                           \
  if (!result.ok()) return result.status() __VA_OPT__(.with_note(::anynpu::format(__VA_ARGS__))); \
  target = std::move(result).value()
