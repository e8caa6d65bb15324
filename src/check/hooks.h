// SPDX-License-Identifier: Apache-2.0
// Checks of single calls other than lifetimes, by function.
#pragma once

#include "check/call.h"

namespace anynpu::check {

// copies.cpp
void before_memcpy(Call& call);
void before_memcpy_async(Call& call);
void after_memcpy_async(Call& call);
void before_memcpy_2d(Call& call);
void after_memcpy_2d_async(Call& call);
void before_memset(Call& call);
void after_memset_async(Call& call);
void after_reduce_async(Call& call);
void after_batch_async(Call& call);
void before_batch(Call& call);
void after_batch(Call& call);
void before_free(Call& call);

// executions.cpp
void after_create_buffer(Call& call);
void after_update_buffer(Call& call);
void before_picture(Call& call);
void before_two_pictures(Call& call);
void after_set_input(Call& call);
void before_execute(Call& call);
void after_execute_async(Call& call);
void after_execute_and_wait(Call& call);
void after_op_execute(Call& call);
void after_op_compile_and_execute(Call& call);
void after_op_execute_handle(Call& call);
void after_op_cast(Call& call);
void after_gemm_ex(Call& call);
void after_gemm_half(Call& call);
void after_gemm_int8(Call& call);
void after_gemv_ex(Call& call);
void after_picture_to_picture(Call& call);
void after_batch_pictures(Call& call);
void after_decode(Call& call);
void after_encode(Call& call);

// launches.cpp
void before_launch(Call& call);
void after_launch_kernel(Call& call);
void after_launch_kernel_with(Call& call);

// waits.cpp
void after_synchronize_stream(Call& call);
void after_synchronize_device(Call& call);
void after_synchronize_event(Call& call);
void after_query_stream(Call& call);
void after_query_event(Call& call);
void after_query_event_status(Call& call);
void after_record(Call& call);
void after_wait_event(Call& call);
void after_wait_notify(Call& call);
void before_destroy_stream(Call& call);
void after_value_wait(Call& call);

// card_rules.cpp
void before_host_register(Call& call);
void before_synchronize_with_timeout(Call& call);
void before_synchronize_device_with_timeout(Call& call);
void before_reserve_address(Call& call);
void before_export_key(Call& call);
void before_can_access_peer(Call& call);

}  // namespace anynpu::check
