// SPDX-License-Identifier: Apache-2.0
// A loaded binary with small kernels, for tests of kernel services.
#pragma once

#include <stdlib.h>

#include <string>

#include "npc/object_for_test.h"
#include "npc/services.h"
#include "service/kernel/kernel_objects.h"
#include "service/model/model_for_test.h"

namespace anynpu::service {

// "store" writes its second word to the address in its first; "copy" copies a word from the address
// in its first argument to that in its second; "show" prints the text at its first;
// "check" fails the assertion of its arguments: expression, file, line, function.
inline std::shared_ptr<npc::Module> load_kernels() {
  const auto ask = [](npc::Service service) {
    return std::vector<uint32_t>{npc::set_a7(static_cast<uint32_t>(service)), npc::kEcall,
                                 npc::kReturn};
  };
  const auto object = npc::object_of({{"store", {npc::kStoreA1AtA0, npc::kReturn}},
                                      {"copy", {npc::kLoadA2AtA0, npc::kStoreA2AtA1, npc::kReturn}},
                                      {"show", ask(npc::Service::print)},
                                      {"check", ask(npc::Service::assert_)}});
  setenv("ANYNPU_NPC_INTERPRET", "1", 1);  // translating takes longer than the tests
  auto module = exec::DeviceKernel::load(object);
  unsetenv("ANYNPU_NPC_INTERPRET");
  EXPECT_TRUE(module.ok()) << module.status().to_string();
  return module.ok() ? *module : nullptr;
}

class KernelServiceTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    binary_->module = load_kernels();
    ASSERT_NE(binary_->module, nullptr);
  }
  Handle function(const char* name) {
    const auto found = find_function(binary_, name);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? *found : 0;
  }
  std::shared_ptr<exec::DeviceKernel> kernel(const char* name) {
    return resolve<KernelFunction>(function(name)).value()->kernel;
  }

  HandleForTest<LoadedBinary> binary_{std::make_shared<LoadedBinary>()};
};

}  // namespace anynpu::service
