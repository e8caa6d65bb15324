// SPDX-License-Identifier: Apache-2.0
#include "exec/dump.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/log.h"
#include "base/text.h"
#include "ops/blocked_layout.h"
#include "ops/registry.h"
#include "tensor/half.h"

namespace anynpu::exec {

namespace {

// The run that this thread is in, and the inputs of its present step.
struct Current {
  uint64_t run = 0;
  std::vector<DumpTensor> inputs;
  // Of the search for overflows, which may watch a step together with a dump.
  std::vector<DumpTensor> searched;
  uint32_t clean = 0;  // bit i: input i held neither infinities nor NaNs
  // Of a watcher: the outputs of the layers that have run.
  struct Watched {
    std::string op, name;
    std::vector<StepTensor> outputs;
  };
  std::vector<Watched> watched;
};
thread_local Current current;

DumpTensor copy_of(const StepTensor& tensor) {
  DumpTensor out;
  out.dtype = tensor.dtype;
  out.shape = tensor.shape;
  out.format = tensor.shape.size() == 4 ? Format::nchw : Format::nd;
  out.bytes = plain_bytes(tensor);
  out.address = reinterpret_cast<uint64_t>(tensor.data);
  return out;
}

std::vector<DumpTensor> copies_of(std::span<const StepTensor> tensors) {
  std::vector<DumpTensor> out;
  for (const StepTensor& t : tensors) {
    if (t.data) out.push_back(copy_of(t));
  }
  return out;
}

template <typename T, typename Test>
bool any(const StepTensor& t, Test&& test) {
  const auto count = static_cast<size_t>(ops::stored_elements(t.shape, t.layout));
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, t.data + i * sizeof(T), sizeof(T));
    if (test(value)) return true;
  }
  return false;
}

// Infinities and NaNs of a floating tensor. Padding of blocks is finite, so it does not count.
bool has_special(const StepTensor& t) {
  if (!t.data) return false;
  switch (t.dtype) {
    case DType::f32:
      return any<float>(t, [](float v) { return !std::isfinite(v); });
    case DType::f64:
      return any<double>(t, [](double v) { return !std::isfinite(v); });
    case DType::f16:
      return any<uint16_t>(t, [](uint16_t v) { return (v & 0x7c00) == 0x7c00; });
    case DType::bf16:
      return any<uint16_t>(t, [](uint16_t v) { return (v & 0x7f80) == 0x7f80; });
    case DType::f8e5m2:
      return any<uint8_t>(t, [](uint8_t v) { return (v & 0x7c) == 0x7c; });
    case DType::f8e4m3:
      return any<uint8_t>(t, [](uint8_t v) { return (v & 0x7f) == 0x7f; });
    case DType::hif8:
      return any<uint8_t>(t, [](uint8_t v) { return v == 0x80 || (v & 0x7f) == 0x6f; });
    case DType::f8e8m0:
      return any<uint8_t>(t, [](uint8_t v) { return v == 0xff; });
    default:
      return false;
  }
}

// Convolutions and matrix products run on the cube unit of a card.
bool is_cube(const std::string& op) {
  const ops::OpTraits traits = ops::traits_of(op);
  return traits.precision == ops::PrecisionClass::white ||
         traits.cost == ops::CostClass::convolution;
}

template <typename T>
const T* elements(const StepTensor& t) {
  return reinterpret_cast<const T*>(t.data);
}

bool same_count(const StepTensor& a, const StepTensor& b) {
  return element_count(a.shape) == element_count(b.shape);
}

// Whole numbers: Neg of the smallest, and sums, differences and products outside the range. Checked
// for operands of one shape and for scalars.
template <typename T>
uint32_t whole_status(const StepView& step) {
  const auto count = static_cast<size_t>(element_count(step.outputs[0].shape));
  const T* x = elements<T>(step.inputs[0]);
  if (step.op == "Neg" && same_count(step.inputs[0], step.outputs[0])) {
    for (size_t i = 0; i < count; ++i) {
      if (x[i] == std::numeric_limits<T>::min()) return kNegation;
    }
    return 0;
  }
  if (step.inputs.size() < 2 || !step.inputs[1].data) return 0;
  const auto steps = [&](const StepTensor& t) {
    return same_count(t, step.outputs[0]) ? size_t{1} : size_t{0};
  };
  const size_t sx = steps(step.inputs[0]), sy = steps(step.inputs[1]);
  if ((sx == 0 && element_count(step.inputs[0].shape) != 1) ||
      (sy == 0 && element_count(step.inputs[1].shape) != 1))
    return 0;
  const T* y = elements<T>(step.inputs[1]);
  for (size_t i = 0; i < count; ++i) {
    T result;
    const T a = x[i * sx], b = y[i * sy];
    const bool over = step.op == "Add"   ? __builtin_add_overflow(a, b, &result)
                      : step.op == "Sub" ? __builtin_sub_overflow(a, b, &result)
                      : step.op == "Mul" ? __builtin_mul_overflow(a, b, &result)
                                         : false;
    if (over) return kWhole;
  }
  return 0;
}

uint32_t cast_status(const StepView& step) {
  const StepTensor &x = step.inputs[0], &y = step.outputs[0];
  const auto count = static_cast<size_t>(element_count(y.shape));
  if (x.dtype == DType::f32 && y.dtype == DType::f16) {
    for (size_t i = 0; i < count; ++i) {
      if (std::isfinite(elements<float>(x)[i]) && (elements<uint16_t>(y)[i] & 0x7c00) == 0x7c00)
        return kToHalf;
    }
  }
  if (x.dtype == DType::i32 && y.dtype == DType::f16) {
    for (size_t i = 0; i < count; ++i) {
      if ((elements<uint16_t>(y)[i] & 0x7c00) == 0x7c00) return kToHalf;
    }
  }
  const bool is_unsigned = y.dtype == DType::u8 || y.dtype == DType::u16 || y.dtype == DType::u32 ||
                           y.dtype == DType::u64;
  if (x.dtype == DType::f32 && is_unsigned) {
    for (size_t i = 0; i < count; ++i) {
      if (elements<float>(x)[i] < 0) return kNegativeToUnsigned;
    }
  }
  return 0;
}

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::vector<std::byte> plain_bytes(const StepTensor& tensor) {
  const size_t bytes = ops::stored_bytes(tensor.dtype, tensor.shape, ops::Layout::plain);
  std::vector<std::byte> out(bytes);
  if (bytes == 0) return out;
  if (tensor.layout == ops::Layout::plain) {
    std::memcpy(out.data(), tensor.data, bytes);
    return out;
  }
  const auto reorder =
      ops::plan_reorder(tensor.dtype, tensor.shape, tensor.layout, ops::Layout::plain);
  std::vector<std::byte> workspace(reorder->workspace_bytes);
  const std::byte* from = tensor.data;
  std::byte* to = out.data();
  (void)reorder->run({{&from, 1}, {&to, 1}, nullptr, workspace.data()});
  return out;
}

void Dump::begin() {
  current.run = runs_.fetch_add(1);
  current.watched.clear();
}

bool Dump::wants(const std::string& op, const std::string& name) const {
  return options_.layers.empty() || contains(options_.layers, name);
}

std::string Dump::folder() const {
  if (options_.model.empty()) return options_.folder;
  return format("{}/{}/{}/{}", options_.folder, dump_word(options_.model), options_.model_id,
                current.run);
}

// Inputs are copied before the step: it may write its output over one of them.
Status Dump::before(const StepView& step) {
  current.inputs.clear();
  if (options_.inputs) current.inputs = copies_of(step.inputs);
  return {};
}

Status Dump::write(const StepView& step, const std::string& name, const OperatorDump& dump) const {
  const uint64_t time = dump_timestamp();
  const std::string file = dump_file_name(dump.op_type, name, static_cast<uint32_t>(step.index) + 1,
                                          options_.stream, time);
  if (options_.statistics) {
    return write_dump(folder(), file + ".csv", statistics(dump, options_.columns));
  }
  return write_dump(folder(), file, to_bytes(dump, time));
}

Status Dump::after(const StepView& step) {
  OperatorDump dump{step.op, step.name, std::move(current.inputs), {}};
  if (options_.outputs) dump.outputs = copies_of(step.outputs);
  return write(step, step.name, dump);
}

void ExceptionDump::failed(const StepView& step, const Status& status) {
  OperatorDump dump{step.op, step.name, std::move(current.inputs), copies_of(step.outputs)};
  const Status written = write(step, step.name, dump);
  if (!written.ok()) ANYNPU_LOG(error, "the dump of an exception: {}", written.message());
}

bool WatcherDump::wants(const std::string& op, const std::string& name) const {
  return contains(options_.layers, name) || contains(options_.watchers, name);
}

Status WatcherDump::after(const StepView& step) {
  if (contains(options_.watchers, step.name)) {
    for (const Current::Watched& watched : current.watched) {
      const OperatorDump dump{watched.op, watched.name, {}, copies_of(watched.outputs)};
      ANYNPU_TRY(write(step, watched.name + "_To_" + step.name, dump));
    }
  }
  if (!contains(options_.layers, step.name)) return {};
  ANYNPU_TRY(write(step, step.name, {step.op, step.name, {}, copies_of(step.outputs)}));
  current.watched.push_back(
      {step.op, step.name, std::vector(step.outputs.begin(), step.outputs.end())});
  return {};
}

uint32_t overflow_status(const StepView& step) {
  if (step.inputs.empty() || step.outputs.empty() || !step.outputs[0].data || !step.inputs[0].data)
    return 0;
  uint32_t status = 0;
  if (step.op == "Cast" || step.op == "CastLike") status |= cast_status(step);
  const bool plain = step.inputs[0].layout == ops::Layout::plain;
  if (plain && step.inputs[0].dtype == DType::i32) status |= whole_status<int32_t>(step);
  if (plain && step.inputs[0].dtype == DType::i8) status |= whole_status<int8_t>(step);
  if (plain && step.inputs[0].dtype == DType::i16) status |= whole_status<int16_t>(step);
  if (plain && step.inputs[0].dtype == DType::i64) status |= whole_status<int64_t>(step);
  return status;
}

Status OverflowDump::before(const StepView& step) {
  current.searched = copies_of(step.inputs);
  current.clean = 1;
  for (const StepTensor& input : step.inputs) {
    if (has_special(input)) current.clean = 0;
  }
  return {};
}

Status OverflowDump::after(const StepView& step) {
  // Inputs as they were: a step in place has written over one.
  std::vector<StepTensor> before(step.inputs.begin(), step.inputs.end());
  size_t copied = 0;
  for (StepTensor& t : before) {
    if (!t.data) continue;
    t.data = current.searched[copied++].bytes.data();
    t.layout = ops::Layout::plain;
  }
  const StepView view{step.index, step.op, step.name, before, step.outputs};
  uint32_t status = overflow_status(view);
  if (current.clean != 0 && status == 0) {
    for (const StepTensor& output : step.outputs) {
      if (has_special(output)) status |= is_cube(step.op) ? kCube : kFloat;
    }
  }
  if (status == 0) return {};
  add_overflow(options_.device, status);
  if (options_.folder.empty()) return {};
  const auto task = static_cast<uint32_t>(step.index) + 1;
  OperatorDump dump{step.op, step.name, std::move(current.searched), copies_of(step.outputs)};
  const uint64_t time = dump_timestamp();
  ANYNPU_TRY(write_dump(folder(), dump_file_name(step.op, step.name, task, options_.stream, time),
                        to_bytes(dump, time)));
  const uint64_t arguments = dump.outputs.empty() ? 0 : dump.outputs[0].address;
  const uint64_t later = dump_timestamp();
  return write_dump(
      folder(), dump_file_name("OpDebug", "Node_Opdebug", task, options_.stream, later),
      overflow_record(options_.model_id, options_.stream, task, status, 0, arguments));
}

std::shared_ptr<Dump> make_dump(DumpOptions options) {
  return std::make_shared<Dump>(std::move(options));
}

std::shared_ptr<Dump> make_overflow_dump(DumpOptions options) {
  return std::make_shared<OverflowDump>(std::move(options));
}

std::shared_ptr<Dump> make_exception_dump(DumpOptions options) {
  options.inputs = options.outputs = true;
  return std::make_shared<ExceptionDump>(std::move(options));
}

std::shared_ptr<Dump> make_watcher_dump(DumpOptions options) {
  return std::make_shared<WatcherDump>(std::move(options));
}

namespace {
constexpr size_t kMostDevices = 64;
std::atomic<uint32_t> device_overflow[kMostDevices];
}  // namespace

uint32_t overflow_bits(int32_t device) {
  return device_overflow[static_cast<size_t>(device) % kMostDevices].load();
}
void add_overflow(int32_t device, uint32_t bits) {
  device_overflow[static_cast<size_t>(device) % kMostDevices].fetch_or(bits);
}
void reset_overflow(int32_t device) {
  device_overflow[static_cast<size_t>(device) % kMostDevices].store(0);
}

std::string overflow_record(uint32_t model, uint32_t stream, uint32_t task, uint32_t status,
                            uint64_t code_address, uint64_t argument_address) {
  std::string out = "ANYNPUOV";
  put(out, uint32_t{1});  // version
  put(out, model);
  put(out, stream);
  put(out, task);
  put(out, uint32_t{0});  // kind of task
  put(out, status);
  put(out, code_address);
  put(out, argument_address);
  return out;
}

}  // namespace anynpu::exec
