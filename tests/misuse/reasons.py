# SPDX-License-Identifier: Apache-2.0
"""Why some wrong calls are accepted: patterns of (function, kind, argument) and the reason.

rows.py writes the reason into the table; a call that is accepted without one fails the test.
"""

import re

REASONS = [
    (r"acl\.rt\.destroy_binary", "after finalize", "-", "cleaning up late is harmless"),
    (r"acl\.rt\.launch_kernel_with_config", "null", "reserve", "expected to be null"),
    (r"acl\.rt\.launch_kernel\w*", "zero", r"args_size|host_args_size|\*", "no arguments"),
    (r"acl\.rt\.launch_kernel_with_host_args", "zero", r"place_holder_num|\*", "no place holders"),
    (r"acl\.rt\.launch_kernel_with_host_args", "empty", ".*", "place_holder_num says how many"),
    (r"acl\.mdl\.(finalize|set)_dump", "good", "-", "a call of its own comes before init_dump"),
    (r"acl\.op\.create_kernel", "good", "-", "needs an object of the device toolchain"),
    (r"acl\.op\.set_kernel_\w+", "good", "-", "a description lives only while a selector runs"),
    (r"acl\.op\.(unregister_compile_func|update_params)", "good", "-", "no selector is registered"),
    (r"acl\.op\.create_graph_dump_opt", "good", "-", "not there: refused with 200006"),
    (r"acl\.blas\.create_handle_for_\w+", "highest", "m|n|k", "sizes are checked by what runs it"),
    (r"acl\.fv\.create_\w+", "negative", ".*", "unsigned in C; checked by what uses it"),
    (
        r"acl\.prof\.get_op_(?!desc)\w+|acl\.prof\.get_model_id",
        "good",
        "-",
        "there are records only in the pipe of a subscription",
    ),
    (r"acl\.prof\.create_config", "null", ".*", "events are expected to be 0"),
    (r"acl\.prof\.set_stamp_trace_message", "very long", r"msg|\*", "msg_len says how much of it"),
    (r"acl\.prof\.create_config", "lowest|highest", "aicore_metrics", "start checks it"),
    (
        r"acl\.prof\.create_config",
        "negative|highest",
        "data_type_config",
        "start checks the bits, as documented",
    ),
    (
        r"acl\.media\.\w+_set_(pic_desc|stream_desc|border_config|roi_config|channel_desc)_?\w*",
        "negative|highest|lowest|null|never allocated|freed|too small|zero",
        ".*",
        "a description keeps what it is told; the call that uses it checks it",
    ),
    (r"acl\.media\.venc_set_frame_config_\w+", "negative|highest", ".*", "any number but 0 is yes"),
    (r"acl\.media\.\w+_destroy_\w+", "after finalize", "-", "cleaning up late is harmless"),
    (
        r"acl\.himpi\.\w+",
        "good",
        "-",
        "an empty description, or nothing to fetch: what stands in it is what fails",
    ),
    (r"acl\.himpi\.\w+", "lowest|highest|negative|zero", r"\w+", "any number is a value"),
    (r"acl\.himpi\.\w+", "freed|never allocated|null|too small", "hist_config", "checked later"),
    (r"acl\.himpi\.sys_(init|exit)", ".*", "-", "starting and ending twice is harmless"),
    (r"acl\.himpi\.\w+", "empty|very long|huge", r"\w+", "as many items as count says are read"),
    (r"acl\.media\.\w+", ".*", "reserve", "not used"),
    (r"acl\.media\.\w+", "very long", r"\w+_list", "what is not needed is not read"),
    (r"acl\.media\.\w+", "null", "callback|config|frame_config|output_pic_desc", "may be left out"),
    (r"acl\.media\.\w+_info\w*", "freed|too small", "data", "memory that can be read"),
    (
        r"acl\.media\.dvpp_create_roi_config",
        "negative|highest",
        ".*",
        "a region; the call that uses it knows the picture",
    ),
    (r"acl\.media\.\w+", "negative|highest", "size|data_size", "only the file's own bytes count"),
    (r"acl\.blas\.\w+", "too small", ".*", "the few numbers that are needed fit"),
    (r"acl\.fv\.\w+", "too small", ".*", "the few bytes that are needed fit"),
    (r"acl\.fv\.create_\w+", "never allocated|freed", ".*", "memory is checked by what uses it"),
    (r"acl\.fv\.set_\w+", "negative|highest", ".*", "any number of hits above 0 is a limit"),
    (r"acl\.fv\.create_feature_info", "highest", "offset", "checked against the repository"),
    (r"acl\.fv\.create_search_\w+", "highest", ".*", "checked when the search runs"),
    (r"acl\.fv\.release", "good", "-", "retrieval is off before its first use"),
    (r"acl\.fv\.dest\w+", "after finalize", "-", "cleaning up late is harmless"),
    (r"acl\.op\.\w+", "null", "attr|op_attr", "an operator without attributes"),
    (r"acl\.op\.set_attr_\w+", "very long", "attr_name|attr_value", "any text is a name or value"),
    (r"acl\.op\.set_attr_\w+", "empty", "attr_value", "an empty text or list is a value"),
    (
        r"acl\.op\.set_attr_(bool|int|float)",
        "negative|lowest|highest|not a number",
        "attr_value",
        "any number of the type is a value",
    ),
    (r"acl\.op\.set_max_op_queue_num", "highest|negative", ".*", "any limit above 0"),
    (r"acl\.op\.\w+", ".*", "op_path", "operators of packages are not there; the path is unused"),
    (r"acl\.op\.destroy_(attr|handle)", "after finalize", "-", "cleaning up late is harmless"),
    (r"acl\.rt\.reserve_mem_address", ".*", "alignment|expect_ptr", "a hint: 0 or any address"),
    (
        r"acl\.rt\.allocator_set_obj_to_desc",
        ".*",
        "allocator",
        "whatever the functions want to get",
    ),
    (
        r"acl\.rt\.get_\w+_from_exception_info",
        "good",
        "-",
        "there is information only while the callback runs",
    ),
    (
        r"acl\.mdl\.create_and_get_op_desc",
        "good",
        "-",
        "there is an operator only where an execution failed",
    ),
    (r"acl\.rt\.map_mem", "zero", "offset", "the start of the memory"),
    (r"acl\.rt\.map_mem", "too small", "vir_ptr", "reserved addresses come in whole pages"),
    (r"acl\.rt\.mem_uce_repair", "empty", ".*", "nothing to repair"),
    (r"acl\.rt\.notify_batch_reset", "very long", ".*", "resetting one notify often is harmless"),
    (
        r"acl\.rt\.pointer_get_attributes",
        "never allocated|freed",
        "ptr",
        "the answer is that the address is not known",
    ),
    (r"acl\.rt\.(set_memcpy_desc|reduce_async)", "null", "config|reserve", "expected to be 0"),
    (
        r"acl\.rt\.(set_memcpy_desc|value_w\w+)",
        "too small",
        "desc|dev_addr",
        "the few bytes that are needed fit",
    ),
    (r"acl\.rt\.value_w\w+", "negative|highest", "value", "any 64 bits are a value"),
    (r"acl\.rt\.wait_and_reset_notify", "negative", "timeout", "unsigned in C: a very long time"),
    (
        r"acl\.mdl\.load_from_\w+_with_mem",
        "null",
        "work_ptr|weight_ptr",
        "0 means that the library takes its own memory",
    ),
    (r".*", "null", "stream", "0 is the default stream"),
    (
        r"acl\.create_data_buffer|acl\.update_data_buffer",
        ".*",
        "data|size",
        "a data buffer only describes memory; what uses it checks it",
    ),
    (
        r"acl\.app_log",
        "empty|very long|lowest|highest",
        ".*",
        "a log line is never worth a failure",
    ),
    (
        r"acl\.create_tensor_desc|acl\.set_tensor\w*shape",
        "empty",
        "dims",
        "no dimensions: a scalar",
    ),
    (r"acl\.set_tensor_\w*range", "empty", ".*", "no ranges: nothing is bounded"),
    (
        r"acl\.set_tensor_desc_name|acl\.set_tensor_dynamic_input",
        "empty|very long",
        ".*",
        "any text is a name",
    ),
    (r"acl\.set_tensor_const", "freed", "data_buffer", "memory that can be read; it is copied"),
    (r"acl\.set_tensor_const", "zero", "length", "a constant without elements"),
    (r"acl\.init", "empty", "config_path", "an empty path is no configuration, as in C"),
    (r"acl\.init", "after finalize|before init", "-", "this is the call that ends that state"),
    (
        r"acl\.(destroy_data_buffer|destroy_tensor_desc)",
        "after finalize",
        "-",
        "cleaning up late is harmless",
    ),
    (
        r"acl\.float16_to_float|acl\.float_to_float16",
        ".*",
        "value",
        "every bit pattern is a number",
    ),
    (
        r"acl\.rt\.mem(cpy|set)\w*",
        "negative|huge",
        "dest_max|max_count",
        "a bound that the caller sets; only count bytes are touched",
    ),
    (r"acl\.rt\.mem(cpy|set)\w*", "zero", "count|width|height", "nothing to do"),
    (r"acl\.rt\.memset\w*", "lowest|highest", "value", "the low byte counts, as in C"),
    (r"acl\.rt\.\w*set_sys_param_opt", "lowest|highest", "value", "any number is a value"),
    (
        r"acl\.rt\.(subscribe|unsubscribe)_report",
        "negative|highest",
        "thread_id",
        "a thread may subscribe before it is known; an id is any 64-bit number",
    ),
    (
        r"acl\.rt\.set_op_(execute|wait)_time_?out\w*|acl\.rt\.device_task_abort",
        "negative",
        "timeout",
        "unsigned in C: a very long time",
    ),
    (
        r"acl\.util\.ptr_to_(bytes|numpy)",
        "freed|too small",
        "ptr",
        "memory that can be read; whose it is the caller knows",
    ),
    (r"acl\.util\.ptr_to_bytes", "zero", "size", "no bytes"),
    (r"acl\.util\.start_thread", ".*", "args_list", "any object is handed on to the function"),
    (
        r"acl\.mdl\.set_aipp_(dtc_pixel_(mean|min)|pixel_var_reci|csc_params)",
        "lowest|highest|negative",
        ".*",
        "any number of the type is a value",
    ),
    (
        r"acl\.mdl\.set_aipp_(crop|padding|scf)_params",
        "zero",
        ".*",
        "a size of 0 while the switch is off",
    ),
    (
        r"acl\.mdl\.destroy_(aipp|config_handle|exec_config_handle|dataset|desc)",
        "after finalize",
        "-",
        "cleaning up late is harmless",
    ),
    (r"acl\.mdl\.execute\w*", "null", "handle", "no options for this execution"),
    (
        r"acl\.mdl\.get_(dynamic_hw|input_dynamic_(gear_count|dims))",
        "negative|huge",
        "index",
        "reserved; the documents pass -1",
    ),
    (r"acl\.rt\.process_report", "good", "-", "no callback is due within the millisecond it waits"),
]


def why(function, kind, argument):
    for pattern, kinds, arguments, reason in REASONS:
        if (
            re.fullmatch(pattern, function)
            and re.fullmatch(kinds, kind)
            and (argument == "*" or re.fullmatch(arguments, argument))
        ):
            return reason
    return ""
