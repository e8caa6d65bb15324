// SPDX-License-Identifier: Apache-2.0
// The task that a thread recorded last, and what a program attaches to it. Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "service/instance/instance.h"

namespace anynpu::service {

// `task` was recorded by the calling thread.
void note_last_task(const std::shared_ptr<Instance>& instance, RecordedTask& task);
// The task that the calling thread recorded last is gone; nothing can be attached to it.
void forget_last_task();

// Attaches the launch parameters, the memory value, or the random number request. No effect unless
// the last task of this thread was recorded.
void describe_last_kernel(KernelNote note);
void describe_last_value(const ValueNote& note);
void describe_last_random(std::shared_ptr<RandomTask> random);

inline constexpr size_t kMostOpInfo = 65536, kMostExtendInfo = 4096;
// Bytes that profiles show; only where the stream caches them (a switch of the stream).
Status cache_op_info(std::span<const std::byte> info);
// A JSON text for the printed instance, cut to 4096 bytes.
Status cache_extend_info(std::string_view info);

}  // namespace anynpu::service
