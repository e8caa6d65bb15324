// SPDX-License-Identifier: Apache-2.0
// Models, operators, matrix products and pictures: which memory they read and write.
#include <algorithm>
#include <mutex>
#include <set>

#include "acl/acl.h"
#include "acl/dvpp/hi_dvpp.h"
#include "acl/ops/acl_dvpp.h"
#include "base/format.h"
#include "check/contents.h"
#include "check/hooks.h"
#include "check/host_buffers.h"
#include "check/lifetime_table.h"
#include "check/lifetimes.h"
#include "check/order.h"
#include "check/report.h"
#include "check/runtime_state.h"

namespace anynpu::check {

namespace {

template <typename F>
F* real(const char* name, const char* library = "libascendcl.so") {
  return reinterpret_cast<F*>(find_real(name, library));
}

// Data buffers that were reported when the program made them: larger than their memory.
struct TooLarge {
  std::mutex mutex;
  std::set<uint64_t> buffers;
};
TooLarge& too_large() {
  static auto* all = new TooLarge;
  return *all;
}

// Bytes from here to the end of an allocation or of a Python object.
uint64_t left_at(uint64_t address) {
  if (const auto block = block_at(address)) return block->base + block->bytes - address;
  if (const auto object = host_buffer_at(address)) return object->base + object->bytes - address;
  return UINT64_MAX;
}

// A buffer that is larger than its memory is a mistake where it is made: the call that gets it may
// fail for this very reason, or never come.
void check_new_buffer(Call& call, uint64_t buffer, uint64_t address, uint64_t bytes) {
  if (!call.told()) check_span(call, "data", address, bytes);
  const bool fits = bytes <= left_at(address);
  const std::lock_guard lock(too_large().mutex);
  if (fits) {
    too_large().buffers.erase(buffer);
  } else {
    too_large().buffers.insert(buffer);
  }
}

// What a buffer really has, if more than that was reported before.
uint64_t bytes_to_check(uint64_t buffer, uint64_t address, uint64_t bytes) {
  {
    const std::lock_guard lock(too_large().mutex);
    if (!too_large().buffers.contains(buffer)) return bytes;
  }
  return std::min(bytes, left_at(address));
}

// Adds what a data buffer holds; a destroyed one is reported.
void add_buffer(Call& call, const aclDataBuffer* buffer, const char* what, Access access,
                std::vector<Touched>& touched) {
  static auto* address = real<decltype(aclGetDataBufferAddr)>("aclGetDataBufferAddr");
  static auto* size = real<decltype(aclGetDataBufferSizeV2)>("aclGetDataBufferSizeV2");
  if (!buffer) return;
  check_handle(call, word(buffer));
  const Unseen unseen;
  const uint64_t begin = word(address(buffer));
  const uint64_t bytes = bytes_to_check(word(buffer), begin, size(buffer));
  if (bytes > 0) touched.push_back({what, begin, bytes, access});
}

void add_dataset(Call& call, const aclmdlDataset* dataset, const char* what, Access access,
                 std::vector<Touched>& touched) {
  static auto* count = real<decltype(aclmdlGetDatasetNumBuffers)>("aclmdlGetDatasetNumBuffers");
  static auto* get = real<decltype(aclmdlGetDatasetBuffer)>("aclmdlGetDatasetBuffer");
  size_t buffers = 0;
  {
    const Unseen unseen;
    buffers = dataset ? count(dataset) : 0;
  }
  for (size_t i = 0; i < buffers; ++i) {
    const aclDataBuffer* buffer = nullptr;
    {
      const Unseen unseen;
      buffer = get(dataset, i);
    }
    add_buffer(call, buffer, what, access, touched);
  }
}

std::vector<Touched> datasets(Call& call) {
  std::vector<Touched> touched;
  add_dataset(call, call.pointer<aclmdlDataset>(1), "input", Access::read, touched);
  add_dataset(call, call.pointer<aclmdlDataset>(2), "output", Access::write, touched);
  for (const Touched& t : touched) check_span(call, t.what, t.address, t.bytes);
  return touched;
}

void queue_buffers(Call& call, size_t inputs_at, size_t outputs_at, size_t stream_at) {
  if (!call.worked()) return;
  std::vector<Touched> touched;
  auto** inputs = call.pointer<aclDataBuffer*>(inputs_at);
  auto** outputs = call.pointer<aclDataBuffer*>(outputs_at);
  // The counts come before the descriptions, or before the buffers of a handle.
  const size_t gap = outputs_at - inputs_at == 3 ? 2 : 1;
  for (size_t i = 0; inputs && i < call.argument(inputs_at - gap); ++i)
    add_buffer(call, inputs[i], "input", Access::read, touched);
  for (size_t i = 0; outputs && i < call.argument(outputs_at - gap); ++i)
    add_buffer(call, outputs[i], "output", Access::write, touched);
  for (const Touched& t : touched) check_span(call, t.what, t.address, t.bytes);
  queue_work(call, stream_of(call.argument(stream_at)), touched);
}

uint64_t bytes_of(uint64_t a, uint64_t b, uint64_t type) {
  static auto* size = real<decltype(aclDataTypeSize)>("aclDataTypeSize");
  const Unseen unseen;
  return a * b * size(static_cast<aclDataType>(type));
}

// The positions of a product's operands among the arguments.
struct Product {
  size_t a, b, c;
  uint64_t type_a, type_b, type_c;
  size_t stream;
};

void queue_product(Call& call, const Product& p) {
  if (!call.worked()) return;
  const uint64_t m = call.argument(3), n = call.argument(4), k = call.argument(5);
  queue_work(call, stream_of(call.argument(p.stream)),
             {{"matrix A", call.argument(p.a), bytes_of(m, k, p.type_a), Access::read},
              {"matrix B", call.argument(p.b), bytes_of(k, n, p.type_b), Access::read},
              {"matrix C", call.argument(p.c), bytes_of(m, n, p.type_c), Access::write}});
}

void add_picture(Call& call, const acldvppPicDesc* picture, const char* what, Access access,
                 std::vector<Touched>& touched) {
  static auto* address =
      real<decltype(acldvppGetPicDescData)>("acldvppGetPicDescData", "libacl_dvpp.so");
  static auto* size =
      real<decltype(acldvppGetPicDescSize)>("acldvppGetPicDescSize", "libacl_dvpp.so");
  if (!picture) return;
  const Unseen unseen;
  touched.push_back({what, word(address(picture)), size(picture), access});
}

void add_pictures(Call& call, acldvppBatchPicDesc* batch, const char* what, Access access,
                  std::vector<Touched>& touched) {
  static auto* get = real<decltype(acldvppGetPicDesc)>("acldvppGetPicDesc", "libacl_dvpp.so");
  for (uint32_t i = 0;; ++i) {
    acldvppPicDesc* picture = nullptr;
    {
      const Unseen unseen;
      picture = batch ? get(batch, i) : nullptr;
    }
    if (!picture) return;
    add_picture(call, picture, what, access, touched);
  }
}

// The media units reach only memory of their own allocator (guide 5.2).
void check_media_memory(Call& call, const char* what, uint64_t address) {
  const auto block = block_at(address);
  if (!block || block->kind != &kDeviceMemory || !call.is_new(address)) return;
  const bool second = std::string_view(call.function().name).starts_with("hi_");
  const char* right = second ? "acl.himpi.dvpp_malloc" : "acl.media.dvpp_malloc";
  const char* right_in_c = second ? "hi_mpi_dvpp_malloc" : "acldvppMalloc";
  report({"not-media-memory",
          format("{}: {} = {:#x} is memory of {}; the media units reach only memory of {}",
                 call.function().shown(), what, address,
                 python_is_here() ? "acl.rt.malloc" : "aclrtMalloc",
                 python_is_here() ? right : right_in_c),
          {{"used", call.site()}, {"created", block->created}}});
}

void queue_pictures(Call& call, const std::vector<Touched>& touched) {
  for (const Touched& t : touched) check_media_memory(call, t.what, t.address);
  for (const Touched& t : touched) check_span(call, t.what, t.address, t.bytes);
  queue_work(call, stream_of(call.argument(call.arguments() - 1)), touched);
}

}  // namespace

void after_create_buffer(Call& call) {
  if (call.result() != 0) check_new_buffer(call, call.result(), call.argument(0), call.argument(1));
}

void after_update_buffer(Call& call) {
  if (call.worked()) check_new_buffer(call, call.argument(0), call.argument(1), call.argument(2));
}

// The source of a picture operation of V2, and its target where there is one target.
void before_picture(Call& call) {
  const auto* source = call.pointer<const hi_vpc_pic_info>(1);
  if (source) check_media_memory(call, "source picture", word(source->picture_address));
}

void before_two_pictures(Call& call) {
  before_picture(call);
  const auto* target = call.pointer<const hi_vpc_pic_info>(2);
  if (target) check_media_memory(call, "target picture", word(target->picture_address));
}

// The library writes the gear or the AIPP settings into one of the inputs of the dataset.
void after_set_input(Call& call) {
  if (!call.worked()) return;
  std::vector<Touched> touched;
  add_dataset(call, call.pointer<aclmdlDataset>(1), "input", Access::write, touched);
  for (const Touched& t : touched) stop_following(t.address);
}

void before_execute(Call& call) { host_work(call, datasets(call)); }

void after_execute_async(Call& call) {
  const auto touched = datasets(call);
  if (call.worked()) queue_work(call, stream_of(call.argument(3)), touched);
}

void after_execute_and_wait(Call& call) {
  const uint64_t stream = stream_of(call.argument(3));
  const auto touched = datasets(call);
  if (!call.worked()) return;
  queue_work(call, stream, touched);
  host_waited_for(clock_of(stream));
}

void after_op_execute(Call& call) { queue_buffers(call, 3, 6, 8); }
void after_op_compile_and_execute(Call& call) { queue_buffers(call, 3, 6, 11); }
void after_op_execute_handle(Call& call) { queue_buffers(call, 2, 4, 5); }

void after_op_cast(Call& call) {
  if (!call.worked()) return;
  std::vector<Touched> touched;
  add_buffer(call, call.pointer<aclDataBuffer>(1), "input", Access::read, touched);
  add_buffer(call, call.pointer<aclDataBuffer>(3), "output", Access::write, touched);
  queue_work(call, stream_of(call.argument(5)), touched);
}

void after_gemm_ex(Call& call) {
  queue_product(call, {7, 10, 14, call.argument(9), call.argument(12), call.argument(16), 18});
}
void after_gemm_half(Call& call) {
  queue_product(call, {7, 9, 12, ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16, 15});
}
void after_gemm_int8(Call& call) {
  queue_product(call, {7, 9, 12, ACL_INT8, ACL_INT8, ACL_INT32, 15});
}

void after_gemv_ex(Call& call) {
  if (!call.worked()) return;
  const uint64_t m = call.argument(1), n = call.argument(2);
  const bool flip = call.argument(0) != 0;
  queue_work(
      call, stream_of(call.argument(15)),
      {{"matrix A", call.argument(4), bytes_of(m, n, call.argument(6)), Access::read},
       {"vector x", call.argument(7), bytes_of(flip ? m : n, 1, call.argument(9)), Access::read},
       {"vector y", call.argument(11), bytes_of(flip ? n : m, 1, call.argument(13)),
        Access::write}});
}

void after_picture_to_picture(Call& call) {
  if (!call.worked()) return;
  std::vector<Touched> touched;
  add_picture(call, call.pointer<acldvppPicDesc>(1), "input picture", Access::read, touched);
  add_picture(call, call.pointer<acldvppPicDesc>(2), "output picture", Access::write, touched);
  queue_pictures(call, touched);
}

void after_batch_pictures(Call& call) {
  if (!call.worked()) return;
  std::vector<Touched> touched;
  add_pictures(call, call.pointer<acldvppBatchPicDesc>(1), "input picture", Access::read, touched);
  add_pictures(call, call.pointer<acldvppBatchPicDesc>(4), "output picture", Access::write,
               touched);
  queue_pictures(call, touched);
}

void after_decode(Call& call) {
  if (!call.worked()) return;
  std::vector<Touched> touched{{"data", call.argument(1), call.argument(2), Access::read}};
  add_picture(call, call.pointer<acldvppPicDesc>(3), "output picture", Access::write, touched);
  queue_pictures(call, touched);
}

// Only the run knows how many bytes are written: the first one is checked.
void after_encode(Call& call) {
  if (!call.worked()) return;
  std::vector<Touched> touched{{"data", call.argument(2), 1, Access::write}};
  add_picture(call, call.pointer<acldvppPicDesc>(1), "input picture", Access::read, touched);
  queue_pictures(call, touched);
}

}  // namespace anynpu::check
