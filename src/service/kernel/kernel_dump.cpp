// SPDX-License-Identifier: Apache-2.0
#include "service/kernel/kernel_dump.h"

#include <cstdio>

#include "base/log.h"
#include "exec/dump_file.h"
#include "service/dump/dump_control.h"

namespace anynpu::service {

namespace {

void print_on_screen(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

Status run_kernel(const exec::DeviceKernel& kernel, exec::KernelLaunch& launch, int32_t device) {
  const service::KernelDumpTarget target = service::kernel_dump_target(device);
  if (target.folder.empty()) return kernel.run(launch);
  std::string text;
  if (target.prints) {
    launch.print = [&](std::string_view piece) {
      print_on_screen(piece);
      text += piece;
    };
  }
  Status status = kernel.run(launch);
  launch.print = nullptr;
  if (target.assertions && status.message().find("assertion") != std::string::npos) {
    text += status.message() + "\n";
  }
  if (text.empty()) return status;
  const std::string file =
      exec::dump_file_name("Kernel", kernel.name(), 1, 0, exec::dump_timestamp()) + ".txt";
  const Status written = exec::write_dump(target.folder, file, text);
  if (!written.ok()) ANYNPU_LOG(error, "what a kernel printed: {}", written.message());
  return status;
}

}  // namespace anynpu::service
