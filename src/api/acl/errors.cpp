// SPDX-License-Identifier: Apache-2.0
#include "api/acl/errors.h"

#include "base/failure_lines.h"
#include "base/log.h"
#include "base/recent_failure.h"

namespace anynpu::acl {

namespace {

struct Number {
  aclError code;
  std::string_view name;
};

struct CodeMapping {
  Code code;
  Number base;
  Number runtime;
  Number model;
  std::string_view advice;
};

#define ROW(code, base, runtime, model, advice) \
  CodeMapping { Code::code, {base, #base}, {runtime, #runtime}, {model, #model}, advice }
// The same number whatever the function. Not by ROW, which would get the number instead of its
// name.
#define SAME(code, number, advice) \
  CodeMapping { Code::code, {number, #number}, {number, #number}, {number, #number}, advice }

// code, base functions, aclrt functions, aclmdl and aclop functions, what to do. In the order of
// Code.
constexpr CodeMapping kCodeMappings[] = {
    ROW(ok, ACL_SUCCESS, ACL_SUCCESS, ACL_SUCCESS, ""),
    ROW(invalid_argument, ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_PARAM_INVALID,
        ACL_ERROR_INVALID_PARAM, "Correct the argument that is named above."),
    ROW(invalid_handle, ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_INVALID_HANDLE,
        ACL_ERROR_INVALID_PARAM,
        "Pass a handle that its create function returned and that was not destroyed."),
    ROW(invalid_address, ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_PARAM_INVALID,
        ACL_ERROR_INVALID_PARAM, "Pass memory that is allocated and large enough."),
    ROW(unaligned_address, ACL_ERROR_MEMORY_ADDRESS_UNALIGNED, ACL_ERROR_RT_ADDR_UNALIGNED,
        ACL_ERROR_MEMORY_ADDRESS_UNALIGNED, "Align the address as the call documents it."),
    ROW(invalid_device, ACL_ERROR_INVALID_DEVICE, ACL_ERROR_RT_INVALID_DEVICEID,
        ACL_ERROR_INVALID_DEVICE, "Use a device id below the number aclrtGetDeviceCount gives."),
    ROW(no_context, ACL_ERROR_RT_CONTEXT_NULL, ACL_ERROR_RT_CONTEXT_NULL, ACL_ERROR_RT_CONTEXT_NULL,
        "Call aclrtSetDevice or aclrtSetCurrentContext in this thread first."),
    ROW(wrong_context, ACL_ERROR_RESOURCE_NOT_MATCH, ACL_ERROR_RT_STREAM_CONTEXT,
        ACL_ERROR_RT_MODEL_CONTEXT, "Use objects of one context in one call."),
    ROW(not_initialized, ACL_ERROR_UNINITIALIZE, ACL_ERROR_UNINITIALIZE, ACL_ERROR_UNINITIALIZE,
        "Call aclInit before and aclFinalize after all other calls."),
    ROW(already_initialized, ACL_ERROR_REPEAT_INITIALIZE, ACL_ERROR_REPEAT_INITIALIZE,
        ACL_ERROR_REPEAT_INITIALIZE, "Call aclInit once per process."),
    ROW(already_finalized, ACL_ERROR_REPEAT_FINALIZE, ACL_ERROR_REPEAT_FINALIZE,
        ACL_ERROR_REPEAT_FINALIZE, "Call aclFinalize once for each aclInit."),
    ROW(forked_process, ACL_ERROR_UNINITIALIZE, ACL_ERROR_UNINITIALIZE, ACL_ERROR_UNINITIALIZE,
        "Start the child before the first call, or as a new program instead of by fork."),
    ROW(bad_call_order, ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_PARAM_INVALID,
        ACL_ERROR_INVALID_PARAM, "Make the calls in the documented order."),
    ROW(not_found, ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_PARAM_INVALID,
        ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, "Check the name or id."),
    ROW(already_exists, ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_PARAM_INVALID,
        ACL_ERROR_INVALID_PARAM, "Use another name or id, or remove the first one."),
    ROW(file_not_found, ACL_ERROR_INVALID_FILE, ACL_ERROR_RT_FILE_OPEN,
        ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, "Check the path and the rights of the file."),
    ROW(file_invalid, ACL_ERROR_INVALID_FILE, ACL_ERROR_INVALID_FILE, ACL_ERROR_PARSE_MODEL,
        "Pass a file of the documented form."),
    ROW(parse_error, ACL_ERROR_PARSE_FILE, ACL_ERROR_PARSE_FILE, ACL_ERROR_PARSE_FILE,
        "Correct the text at the place named above."),
    ROW(io_error, ACL_ERROR_WRITE_FILE, ACL_ERROR_RT_FILE_WRITE, ACL_ERROR_READ_MODEL_FAILURE,
        "Check the disk, its free space and the rights of the folder."),
    ROW(invalid_config, ACL_ERROR_FILE_ATTR_INVALID, ACL_ERROR_RT_PARAM_INVALID,
        ACL_ERROR_INVALID_PARAM, "Correct the value of the configuration."),
    ROW(invalid_dump_config, ACL_ERROR_INVALID_DUMP_CONFIG, ACL_ERROR_INVALID_DUMP_CONFIG,
        ACL_ERROR_INVALID_DUMP_CONFIG, "Correct the value of the configuration."),
    ROW(invalid_profiler_config, ACL_ERROR_INVALID_PARAM, ACL_ERROR_INVALID_PARAM,
        ACL_ERROR_INVALID_PARAM, "Correct the value of the configuration."),
    ROW(invalid_op_queue_config, ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG,
        ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG, ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG,
        "Correct the value of the configuration."),
    ROW(out_of_memory, ACL_ERROR_BAD_ALLOC, ACL_ERROR_RT_MEMORY_ALLOCATION,
        ACL_ERROR_GE_MEMORY_ALLOCATION,
        "Free memory, ask for less, or raise ANYNPU_DEVICE_MEMORY if a device is full."),
    ROW(out_of_streams, ACL_ERROR_RT_NO_STREAM_RESOURCE, ACL_ERROR_RT_NO_STREAM_RESOURCE,
        ACL_ERROR_RT_NO_STREAM_RESOURCE, "Destroy streams, or raise ANYNPU_MAX_STREAMS."),
    ROW(out_of_events, ACL_ERROR_RT_NO_EVENT_RESOURCE, ACL_ERROR_RT_NO_EVENT_RESOURCE,
        ACL_ERROR_RT_NO_EVENT_RESOURCE, "Destroy events that are no longer used."),
    ROW(limit_exceeded, ACL_ERROR_STORAGE_OVER_LIMIT, ACL_ERROR_RT_OVER_LIMIT,
        ACL_ERROR_STORAGE_OVER_LIMIT, "Stay under the documented limit."),
    ROW(unsupported_feature, ACL_ERROR_FEATURE_UNSUPPORTED, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        ACL_ERROR_FEATURE_UNSUPPORTED, "See docs/api_coverage.md for what is there."),
    ROW(unsupported_op, ACL_ERROR_OP_NOT_FOUND, ACL_ERROR_OP_NOT_FOUND, ACL_ERROR_OP_NOT_FOUND,
        "See docs/ops.md for the operators that are there."),
    ROW(unsupported_dtype, ACL_ERROR_UNSUPPORTED_DATA_TYPE, ACL_ERROR_UNSUPPORTED_DATA_TYPE,
        ACL_ERROR_UNSUPPORTED_DATA_TYPE, "Use a data type that is named above."),
    ROW(unsupported_shape, ACL_ERROR_FEATURE_UNSUPPORTED, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        ACL_ERROR_GE_SHAPE_INVALID, "Use a shape of the kind named above."),
    ROW(shape_mismatch, ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_PARAM_INVALID,
        ACL_ERROR_MODEL_INPUT_NOT_MATCH, "Make shapes and sizes agree."),
    // The run of a model tells it, so the call that waits for the stream gives the model's number
    // too.
    ROW(output_mismatch, ACL_ERROR_MODEL_OUTPUT_NOT_MATCH, ACL_ERROR_MODEL_OUTPUT_NOT_MATCH,
        ACL_ERROR_MODEL_OUTPUT_NOT_MATCH, "Give the output buffer as many bytes as named above."),
    ROW(corrupt_model, ACL_ERROR_PARSE_MODEL, ACL_ERROR_PARSE_MODEL, ACL_ERROR_PARSE_MODEL,
        "Build the model file again with atc."),
    ROW(version_mismatch, ACL_ERROR_DESERIALIZE_MODEL, ACL_ERROR_DESERIALIZE_MODEL,
        ACL_ERROR_DESERIALIZE_MODEL, "Build the model file again with the atc of this version."),
    ROW(model_not_found, ACL_ERROR_INVALID_MODEL_ID, ACL_ERROR_INVALID_MODEL_ID,
        ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, "Pass the id that a load function gave."),
    ROW(bundle_not_found, ACL_ERROR_INVALID_BUNDLE_MODEL_ID, ACL_ERROR_INVALID_BUNDLE_MODEL_ID,
        ACL_ERROR_INVALID_BUNDLE_MODEL_ID, "Pass the id that loading the bundle gave."),
    ROW(model_queue_not_found, ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID,
        ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID, ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID,
        "Pass the ids of queues that exist."),
    ROW(model_has_no_gears, ACL_ERROR_MODEL_NOT_DYNAMIC, ACL_ERROR_MODEL_NOT_DYNAMIC,
        ACL_ERROR_MODEL_NOT_DYNAMIC, "Leave out the call, or compile the model with gears."),
    ROW(gear_not_found, ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID,
        ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID, ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID,
        "Choose a gear that the model was compiled for."),
    ROW(parameter_input_size, ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID,
        ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID, ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID,
        "Give the buffer as many bytes as named above."),
    ROW(aipp_not_set, ACL_ERROR_GE_AIPP_NOT_EXIST, ACL_ERROR_GE_AIPP_NOT_EXIST,
        ACL_ERROR_GE_AIPP_NOT_EXIST, "Set the parameters before the execution."),
    ROW(no_dynamic_aipp, ACL_ERROR_GE_AIPP_NOT_EXIST, ACL_ERROR_GE_AIPP_NOT_EXIST,
        ACL_ERROR_GE_AIPP_NOT_EXIST, "Use the index of an input with dynamic AIPP."),
    ROW(no_static_aipp, ACL_ERROR_NOT_STATIC_AIPP, ACL_ERROR_NOT_STATIC_AIPP,
        ACL_ERROR_NOT_STATIC_AIPP, "Use the index of an input with static AIPP."),
    ROW(stream_not_subscribed, ACL_ERROR_STREAM_NOT_SUBSCRIBE, ACL_ERROR_RT_STREAM_NO_CB_REG,
        ACL_ERROR_STREAM_NOT_SUBSCRIBE, "Call aclrtSubscribeReport for the stream first."),
    ROW(thread_not_subscribed, ACL_ERROR_THREAD_NOT_SUBSCRIBE, ACL_ERROR_RT_THREAD_SUBSCRIBE,
        ACL_ERROR_THREAD_NOT_SUBSCRIBE, "Call aclrtSubscribeReport with this thread's id first."),
    ROW(already_subscribed, ACL_ERROR_REPEAT_SUBSCRIBE, ACL_ERROR_RT_STREAM_SUBSCRIBE,
        ACL_ERROR_REPEAT_SUBSCRIBE, "Call aclrtUnSubscribeReport for the stream first."),
    ROW(event_not_recorded, ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
        ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
        "Record the event and synchronize its stream first."),
    ROW(profiling_not_running, ACL_ERROR_PROF_NOT_RUN, ACL_ERROR_PROF_NOT_RUN,
        ACL_ERROR_PROF_NOT_RUN, "Make the calls in the documented order."),
    ROW(profiling_running, ACL_ERROR_PROF_ALREADY_RUN, ACL_ERROR_PROF_ALREADY_RUN,
        ACL_ERROR_PROF_ALREADY_RUN, "Stop the first one, or profile something else."),
    ROW(profiling_conflict, ACL_ERROR_PROF_API_CONFLICT, ACL_ERROR_PROF_API_CONFLICT,
        ACL_ERROR_PROF_API_CONFLICT, "End one before the other begins."),
    ROW(profiling_failed, ACL_ERROR_PROFILING_FAILURE, ACL_ERROR_PROFILING_FAILURE,
        ACL_ERROR_PROFILING_FAILURE,
        "Check the disk, its free space and the rights of the folder."),
    ROW(profiling_type_unknown, ACL_ERROR_PROF_MODULES_UNSUPPORTED,
        ACL_ERROR_PROF_MODULES_UNSUPPORTED, ACL_ERROR_PROF_MODULES_UNSUPPORTED,
        "Use the bits of the documents."),
    ROW(invalid_profiling_config, ACL_ERROR_INVALID_PROFILING_CONFIG,
        ACL_ERROR_INVALID_PROFILING_CONFIG, ACL_ERROR_INVALID_PROFILING_CONFIG,
        "Correct the settings that are named above."),
    ROW(model_already_subscribed, ACL_ERROR_PROF_REPEAT_SUBSCRIBE, ACL_ERROR_PROF_REPEAT_SUBSCRIBE,
        ACL_ERROR_PROF_REPEAT_SUBSCRIBE, "Unsubscribe the model first."),
    // Functions of stamps and ranges give -1, which has no name.
    ROW(stamp_not_recorded, -1, -1, -1, "Make the calls in the documented order."),
    ROW(not_complete, ACL_ERROR_RT_STREAM_NOT_COMPLETE, ACL_ERROR_RT_STREAM_NOT_COMPLETE,
        ACL_ERROR_RT_STREAM_NOT_COMPLETE, "Synchronize first."),
    ROW(timeout, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
        ACL_ERROR_GE_MODEL_EXECUTE_TIMEOUT, "Give more time, or look for work that never ends."),
    ROW(callback_timeout, ACL_ERROR_WAIT_CALLBACK_TIMEOUT, ACL_ERROR_RT_REPORT_TIMEOUT,
        ACL_ERROR_WAIT_CALLBACK_TIMEOUT, "Call again, or launch a callback first."),
    ROW(task_failed, ACL_ERROR_FAILURE, ACL_ERROR_RT_TS_ERROR, ACL_ERROR_RT_MODEL_EXECUTE,
        "Correct the task that is named above."),
    ROW(aborted, ACL_ERROR_RT_STREAM_ABORT, ACL_ERROR_RT_STREAM_ABORT, ACL_ERROR_RT_STREAM_ABORT,
        "Submit the work again if it is still wanted."),
    ROW(cancelled, ACL_ERROR_FAILURE, ACL_ERROR_FAILURE, ACL_ERROR_FAILURE,
        "The wait was interrupted by a signal; call again to go on waiting."),
    ROW(permission_denied, ACL_ERROR_RT_NO_PERMISSION, ACL_ERROR_RT_NO_PERMISSION,
        ACL_ERROR_RT_NO_PERMISSION, "Run as a user who may do this."),
    ROW(internal, ACL_ERROR_INTERNAL_ERROR, ACL_ERROR_RT_INTERNAL_ERROR,
        ACL_ERROR_GE_INTERNAL_ERROR,
        "This is a fault of AnyNPU: please report it with the log at level debug."),
    ROW(kernel_failed, ACL_ERROR_RT_AICORE_EXCEPTION, ACL_ERROR_RT_AICORE_EXCEPTION,
        ACL_ERROR_RT_AICORE_EXCEPTION, "Correct the kernel; its call stack is on standard error."),
    ROW(kernel_timeout, ACL_ERROR_RT_AICORE_TIMEOUT, ACL_ERROR_RT_AICORE_TIMEOUT,
        ACL_ERROR_RT_AICORE_TIMEOUT, "Give the launch more time, or look for a loop without end."),
    SAME(unexpected_exception, ACL_ERROR_INTERNAL_ERROR,
         "This is a fault of AnyNPU: please report it with the log at level debug."),
    SAME(host_out_of_memory, ACL_ERROR_BAD_ALLOC, "Free memory of the host, or ask for less."),
    ROW(out_of_handles, ACL_ERROR_STORAGE_OVER_LIMIT, ACL_ERROR_RT_OVER_LIMIT,
        ACL_ERROR_STORAGE_OVER_LIMIT, "Destroy objects that are no longer used."),
    SAME(out_of_notifies, ACL_ERROR_RT_NO_NOTIFY_RESOURCE,
         "Destroy notifies that are no longer used."),
    ROW(invalid_stream, ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_INVALID_HANDLE,
        ACL_ERROR_INVALID_PARAM, "Pass a stream that was created and not destroyed."),
    ROW(invalid_event, ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_INVALID_HANDLE,
        ACL_ERROR_INVALID_PARAM, "Pass an event that was created and not destroyed."),
    SAME(time_reversed, ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, "Swap the two."),
    SAME(unknown_queue, ACL_ERROR_INVALID_QUEUE_ID,
         "Pass the id of a queue that was created and not destroyed."),
    SAME(queue_full, ACL_ERROR_RT_QUEUE_FULL, "Take something out, or give more time."),
    SAME(queue_empty, ACL_ERROR_RT_QUEUE_EMPTY, "Put something in, or give more time."),
    SAME(already_registered, ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
         "Unregister the memory first."),
    SAME(not_registered, ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "Register the memory first."),
    SAME(option_not_set, ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, "Set the option first."),
    SAME(unknown_kernel, ACL_ERROR_RT_KERNEL_LOOKUP, "Check the name of the kernel."),
    SAME(format_mismatch, ACL_ERROR_FORMAT_NOT_MATCH, "Use formats of the kind named above."),
    SAME(op_input_mismatch, ACL_ERROR_OP_INPUT_NOT_MATCH, "Correct the inputs as named above."),
    SAME(op_output_mismatch, ACL_ERROR_OP_OUTPUT_NOT_MATCH, "Correct the outputs as named above."),
    SAME(folder_invalid, ACL_ERROR_INVALID_FILE, "Check the path and the rights of the folder."),
    SAME(capture_dependency, ACL_ERROR_RT_CAPTURE_DEPENDENCY,
         "Record the event on a captured stream before another waits for it."),
    SAME(stream_unjoined, ACL_ERROR_RT_STREAM_UNJOINED,
         "Record an event last on each joined stream and let the first stream wait for it."),
    SAME(instance_capturing, ACL_ERROR_RT_MODEL_CAPTURED, "End the capture first."),
    SAME(stream_capturing, ACL_ERROR_RT_STREAM_CAPTURED,
         "End the capture first, or use another stream."),
    SAME(event_captured, ACL_ERROR_RT_EVENT_CAPTURED,
         "Use one event inside the capture and another outside."),
    SAME(stream_not_capturing, ACL_ERROR_RT_STREAM_NOT_CAPTURED,
         "Call aclmdlRICaptureBegin for the stream first."),
    SAME(capture_mode_forbids, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
         "Make the call before or after the capture, or exchange this thread's mode for RELAXED."),
    SAME(default_stream_captured, ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
         "Create a stream and capture that."),
    SAME(capture_conflict, ACL_ERROR_STREAM_CAPTURE_CONFLICT,
         "Use events of one capture inside it only."),
    SAME(task_group_state, ACL_ERROR_STREAM_TASK_GROUP_STATUS,
         "Begin and end one group at a time, on one stream."),
    SAME(task_group_interrupted, ACL_ERROR_STREAM_TASK_GROUP_INTR,
         "End the group before other streams of the capture are used."),
    SAME(capture_unmatched, ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
         "End the capture on the stream that it began on."),
    SAME(instance_running, ACL_ERROR_RT_MODEL_RUNNING, "Synchronize the stream it runs on first."),
    SAME(capture_wrong_thread, ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
         "End the capture in the thread that began it, or begin it in mode RELAXED."),
    SAME(array_too_small, ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY,
         "Ask for the number first, by a null array."),
    SAME(instance_not_updated, ACL_ERROR_RT_MODEL_UPDATE_FAILED,
         "Update when the instance is captured whole and not running."),
    SAME(capture_forbids_waiting, ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
         "Wait after the capture has ended and its instance was executed."),
    SAME(sub_capture_open, ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
         "Capture every instance of the condition before the outer capture ends."),
    SAME(capture_invalidated, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
         "Capture again without the call that is named above."),
    SAME(task_kind_refused, ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
         "Submit tasks of the kinds that are named above."),
    SAME(label_of_other_context, ACL_ERROR_RT_LABEL_CONTEXT,
         "Create the label in the context of the stream."),
    SAME(op_not_updatable, ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP,
         "Launch an operator of the kind that was captured."),
    SAME(stream_not_of_instance, ACL_ERROR_RT_STREAM_MODEL,
         "Pass a stream that was bound to the instance."),
    SAME(unknown_symbol, ACL_ERROR_RT_SYMBOL_NOT_FOUND, "Check the name of the variable."),
    SAME(invalid_symbol, ACL_ERROR_RT_INVALID_SYMBOL,
         "Pass a variable of the device that the program registered."),
    SAME(invalid_device_function, ACL_ERROR_RT_INVALID_DEVICE_FUNCTION,
         "Pass a function of the device that the program registered."),
    SAME(link_unsupported, ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED, "Use a link that is named above."),
    SAME(snapshot_lock_timeout, ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT,
         "Give more time, or look for work that never ends."),
    SAME(snapshot_lock_failed, ACL_ERROR_SNAPSHOT_LOCK_FAILED,
         "Make the calls in the documented order."),
    SAME(snapshot_unlock_failed, ACL_ERROR_SNAPSHOT_UNLOCK_FAILED,
         "Make the calls in the documented order."),
    SAME(snapshot_backup_failed, ACL_ERROR_SNAPSHOT_BACKUP_FAILED,
         "Make the calls in the documented order."),
    SAME(snapshot_restore_failed, ACL_ERROR_SNAPSHOT_RESTORE_FAILED,
         "Make the calls in the documented order."),
    SAME(snapshot_callback_failed, ACL_ERROR_SNAPSHOT_CALLBACK_FAILED, "Correct the callback."),
    SAME(snapshot_register_failed, ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED,
         "Register each callback once."),
};
#undef SAME
#undef ROW

constexpr bool rows_in_order() {
  size_t i = 0;
  for (const CodeMapping& row : kCodeMappings) {
    if (static_cast<size_t>(row.code) != i++) return false;
  }
  return i == kCodeCount;
}
static_assert(rows_in_order(), "one row per Code, in the order of Code");

// Where the documents give a number of its own to a function, or to all whose names begin so. The
// first row that fits counts, before the table above.
struct Special {
  std::string_view function;  // a name, or its beginning followed by '*'
  Code code;
  Number number;
};
#define SPECIAL(function, code, number)       \
  Special {                                   \
    function, Code::code, { number, #number } \
  }
constexpr Special kSpecial[] = {
    SPECIAL("aclGenGraphAndDumpForOp", unsupported_shape, ACL_ERROR_GE_SHAPE_INVALID),
    SPECIAL("aclGenGraphAndDumpForOp", file_invalid, ACL_ERROR_PARSE_MODEL),
    SPECIAL("aclrtEventElapsedTime", not_complete, ACL_ERROR_RT_EVENT_NOT_COMPLETE),
    SPECIAL("aclrtEventGetTimestamp", not_complete, ACL_ERROR_RT_EVENT_NOT_COMPLETE),
    SPECIAL("aclrtStreamWaitEvent*", event_not_recorded, ACL_ERROR_RT_PARAM_INVALID),
    // Where headers name ACL_ERROR_INVALID_PARAM for functions of the runtime.
    SPECIAL("aclrtGetSymbol*", invalid_argument, ACL_ERROR_INVALID_PARAM),
    SPECIAL("aclrtMemcpyToSymbol*", invalid_argument, ACL_ERROR_INVALID_PARAM),
    SPECIAL("aclrtMemcpyFromSymbol*", invalid_argument, ACL_ERROR_INVALID_PARAM),
    SPECIAL("aclrtMemcpy2d*", unsupported_shape, ACL_ERROR_INVALID_PARAM),
    SPECIAL("aclrtMemMapNoAccess", invalid_argument, ACL_ERROR_INVALID_PARAM),
    SPECIAL("aclrtMemMapSetLink", invalid_argument, ACL_ERROR_INVALID_PARAM),
    SPECIAL("aclrtMemManagedPrefetch*", invalid_argument, ACL_ERROR_INVALID_PARAM),
    SPECIAL("aclrtDeviceL2CacheFlush", invalid_argument, ACL_ERROR_INVALID_PARAM),
    SPECIAL("aclplatform*", unsupported_feature, ACL_ERROR_RT_FEATURE_NOT_SUPPORT),
    SPECIAL("acltdt*", unsupported_feature, ACL_ERROR_RT_FEATURE_NOT_SUPPORT),
    SPECIAL("aclrtSynchronizeEvent*", timeout, ACL_ERROR_RT_EVENT_SYNC_TIMEOUT),
};
#undef SPECIAL

bool is_for(std::string_view pattern, std::string_view function) {
  if (!pattern.ends_with('*')) return pattern == function;
  return function.starts_with(pattern.substr(0, pattern.size() - 1));
}

// Failures that are normal answers: a question whose answer is no, a look that finds nothing yet,
// and clearing up after the end. They have a number and a message like all others, but no line on
// standard error (base/failure_lines.h).
struct Answer {
  std::string_view function;  // a name, or its beginning followed by '*'
  Code code;
};
constexpr Answer kAnswers[] = {
    {"*", Code::not_complete},  // it was asked whether work is done
    {"*", Code::queue_empty},
    {"*", Code::queue_full},
    {"*", Code::option_not_set},
    {"*", Code::cancelled},  // Ctrl-C
    {"hi_mpi_*", Code::timeout},
    {"aclrtProcessReport", Code::callback_timeout},
    {"aclrtProcess*", Code::thread_not_subscribed},  // loops before the first and after the last
    {"aclInit", Code::already_initialized},          // of a library that does not know of the other
    {"aclFinalize*", Code::already_finalized},
    {"aclrtGetCurrentContext", Code::no_context},
    {"aclrtGetDevice", Code::no_context},
    {"aclmdlGetInputIndexByName", Code::invalid_argument},  // is there such a tensor?
    {"aclmdlGetOutputIndexByName", Code::invalid_argument},
    {"aclmdlGetTensorRealName", Code::invalid_argument},
    {"aclmdlGetFirstAippInfo", Code::no_static_aipp},
    {"aclsysGet*", Code::file_not_found},  // is there such a package?
    {"aclsysGetVersionStr", Code::invalid_argument},
    {"aclGetCompileopt*", Code::not_found},  // was it set?
    {"OperatorFactory::IsExistOp", Code::unsupported_op},
};

bool releases(std::string_view function) {
  for (std::string_view word :
       {"Destroy", "Free", "Reset", "Unload", "destroy", "free", "Finalize"})
    if (function.find(word) != std::string_view::npos) return true;
  return false;
}

bool is_answer(std::string_view function, Code code) {
  if (code == Code::not_initialized || code == Code::forked_process) return releases(function);
  for (const Answer& row : kAnswers) {
    if (row.code == code && is_for(row.function, function)) return true;
  }
  return false;
}

// Other numbers that programs may give a name to: those of injected faults.
#define NAMED(code) \
  Number { code, #code }
constexpr Number kNamed[] = {
    NAMED(ACL_ERROR_INVALID_FILE_SIZE),
    NAMED(ACL_ERROR_FILE_MISSING_ATTR),
    NAMED(ACL_ERROR_MODEL_SIZE_INVALID),
    NAMED(ACL_ERROR_API_NOT_SUPPORT),
    NAMED(ACL_ERROR_INVALID_RESOURCE_HANDLE),
    NAMED(ACL_ERROR_RT_INVALID_MEMORY_TYPE),
    NAMED(ACL_ERROR_RT_INVALID_MALLOC_TYPE),
    NAMED(ACL_ERROR_RT_WAIT_TIMEOUT),
    NAMED(ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID),
    NAMED(ACL_ERROR_GE_EXEC_MODEL_ADDR_INVALID),
    NAMED(ACL_ERROR_GE_AIPP_BATCH_EMPTY),
    NAMED(ACL_ERROR_GE_AIPP_MODE_INVALID),
};
#undef NAMED

const Number& number_of(const CodeMapping& row, Family family) {
  switch (family) {
    case Family::runtime:
      return row.runtime;
    case Family::model:
      return row.model;
    default:
      return row.base;
  }
}

}  // namespace

Family family_of(std::string_view function) {
  if (function.starts_with("aclrt") || function.starts_with("rt")) return Family::runtime;
  if (function.starts_with("aclmdl") || function.starts_with("aclop")) return Family::model;
  return Family::base;
}

aclError to_acl_error(Code code, Family family) {
  return number_of(kCodeMappings[static_cast<size_t>(code)], family).code;
}

aclError to_acl_error(std::string_view function, Code code) {
  for (const Special& row : kSpecial) {
    if (row.code == code && is_for(row.function, function)) return row.number.code;
  }
  return to_acl_error(code, family_of(function));
}

std::string_view error_name(aclError code) {
  for (const CodeMapping& row : kCodeMappings) {
    for (const Number* number : {&row.base, &row.runtime, &row.model}) {
      if (number->code == code) return number->name;
    }
  }
  for (const Special& row : kSpecial) {
    if (row.number.code == code) return row.number.name;
  }
  for (const Number& number : kNamed) {
    if (number.code == code) return number.name;
  }
  // Numbers of the media units: 0xA0058003 is error 3 of unit 5 (acl/dvpp/hi_dvpp.h).
  if (static_cast<uint32_t>(code) >> 24 == 0xA0) return "a code of acl/dvpp/hi_dvpp.h";
  return "unknown code";
}

namespace {

// A message may quote an argument of any length; it is cut here.
constexpr size_t kMostMessageBytes = 1200;

std::string shortened(std::string text) {
  if (text.size() <= kMostMessageBytes) return text;
  size_t head = kMostMessageBytes * 3 / 4;
  size_t tail = text.size() - kMostMessageBytes / 4;
  auto inside_a_character = [&](size_t at) { return (text[at] & 0xc0) == 0x80; };  // UTF-8
  while (head > 0 && inside_a_character(head)) --head;
  while (tail < text.size() && inside_a_character(tail)) ++tail;
  return format("{} ... ({} bytes left out) ... {}", text.substr(0, head), tail - head,
                text.substr(tail));
}

}  // namespace

aclError report(const char* function, const Failure& failure) {
  const aclError code = number_of(function, failure);
  const Code cause = failure.status.code();
  // A question that was answered with no is not the program's last error: frameworks probe, and ask
  // for the last error only when something else has failed.
  const bool answer = is_answer(function, cause);
  if (!answer) keep_last_number(Interface::acl, code);
  try {
    const std::string message = shortened(failure.status.to_string());
    const std::string number =
        code < 0 ? format("{:#x}", static_cast<uint32_t>(code)) : format("{}", code);
    show_failure({function, number, error_name(code), message, answer});
    std::string text =
        format("E{}: {} failed with {}: {}\n        Solution: {}", number, function,
               error_name(code), message, kCodeMappings[static_cast<size_t>(cause)].advice);
    ANYNPU_LOG(error, "{}", text);
    // A thread that waits for work in vain covers no message of another thread.
    const bool waited = cause == Code::queue_empty || cause == Code::callback_timeout;
    if (waited && message_scope() == MessageScope::process) return code;
    keep_message(Interface::acl, std::move(text));
  } catch (...) {
    // No memory for a message: only the code is returned.
  }
  return code;
}

aclError number_of(const char* function, const Failure& failure) {
  if (failure.code != ACL_SUCCESS) return failure.code;
  return to_acl_error(function, failure.status.code());
}

aclError refuse(const char* function, std::string_view reason) {
  return report(function, Status(fail(Code::unsupported_feature, "{} is not available: {}",
                                      function, reason)));
}

const char* take_recent_message() { return take_message(Interface::acl); }
aclError take_last_error() { return take_last_number(Interface::acl); }
aclError peek_last_error() { return last_number(Interface::acl); }

}  // namespace anynpu::acl
