// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "check/findings_for_test.h"

extern "C" void anynpu_check_kernel_finding(const char* kind, const char* message,
                                            const char* frames);

namespace anynpu::check {
namespace {

TEST(Kernels, AFindingOfARunningKernelIsReportedOnceForItsPlace) {
  const Findings findings;
  anynpu_check_kernel_finding("kernel-race", "core 1 stores", "k.cc\t7\tkernel\n");
  anynpu_check_kernel_finding("kernel-race", "core 2 stores", "k.cc\t7\tkernel\n");
  EXPECT_EQ(findings.kinds(), Kinds{"kernel-race"});
  anynpu_check_kernel_finding("kernel-race", "core 2 stores", "k.cc\t8\tkernel\n");
  anynpu_check_kernel_finding("kernel-exception", "no lines", "");
  EXPECT_EQ(findings.kinds(), (Kinds{"kernel-race", "kernel-race", "kernel-exception"}));
}

}  // namespace
}  // namespace anynpu::check
