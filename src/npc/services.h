// SPDX-License-Identifier: Apache-2.0
// Serves the ecall a core stopped at (services.def): sync, printf, copies, the vector and matrix
// units, float functions. Bad arguments trap the core; nothing here waits.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>

namespace anynpu::npc {

struct Core;

enum class Service : uint32_t {
#define X(name, number) name = number,
#include "npc/services.def"
#undef X
};

// Where the text of device printf goes; one call at a time.
struct PrintSink {
  std::mutex mutex;
  std::function<void(int core, std::string_view text)> print;  // null: standard output
  void write(int core, std::string_view text);
};

enum class Served : uint8_t { resume, sync, finished, trap };

Served serve(Core& core, PrintSink& sink);

// The parts, one file each. Each returns false after it has set core.trap.
bool serve_print(Core& core, PrintSink& sink);  // printf
bool serve_print_to(Core& core);                // snprintf
void serve_copy(Core& core);                    // memcpy(to, from, bytes)
bool serve_copy_rows(Core& core);               // memcpy(to, from, cpy_config_t)
bool serve_vector(Core& core);
bool serve_matmul(Core& core);
bool serve_conv2d(Core& core);
bool serve_math(Core& core);
bool serve_double(Core& core);

}  // namespace anynpu::npc
