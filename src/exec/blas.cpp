// SPDX-License-Identifier: Apache-2.0
#include "exec/blas.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "device/host_view.h"
#include "device/queue.h"
#include "exec/memory.h"
#include "exec/model.h"
#include "ops/registry.h"
#include "tensor/half.h"
#include "tensor/layout.h"

namespace anynpu::exec {

namespace {

using graph::ValueId;

constexpr size_t kMostGemmPlans = 64;

// What a plan depends on; rows are contiguous by then.
struct GemmKey {
  int64_t m, n, k;
  bool ta, tb;
  DType in, out;
  double alpha, beta;
  const device::Device* owner;  // plan_owner(): null for plans of the host
  bool operator==(const GemmKey&) const = default;
};

bool transposed(Trans t) { return t == Trans::yes || t == Trans::nz_yes; }
bool blocked(Trans t) { return t == Trans::nz || t == Trans::nz_yes; }

struct GraphMaker {
  graph::Graph graph;

  ValueId value(const char* name, DType type, Shape shape) {
    graph::Value v;
    v.name = name;
    v.dtype = type;
    v.shape = std::move(shape);
    v.has_shape = true;
    return graph.add_value(std::move(v));
  }
  ValueId node(const char* op, int64_t opset, std::vector<ValueId> inputs, DType type, Shape shape,
               std::map<std::string, graph::Attr> attrs = {}) {
    graph::Node node;
    node.op = op;
    node.opset = opset;
    node.name = format("{}{}", op, graph.nodes.size());
    node.inputs = std::move(inputs);
    node.attrs = std::move(attrs);
    const ValueId out = value(node.name.c_str(), type, std::move(shape));
    node.outputs = {out};
    graph.nodes.push_back(std::move(node));
    return out;
  }
  ValueId like(ValueId x, DType type) {
    const graph::Value& v = graph.values[static_cast<size_t>(x)];
    if (v.dtype == type) return x;
    const ValueId target = value("type", type, {});
    auto bytes = std::make_shared<const std::vector<std::byte>>(size_of(type));
    graph.values[static_cast<size_t>(target)].constant =
        std::make_shared<const graph::Constant>(graph::Constant{bytes, *bytes});
    const Shape shape = graph.values[static_cast<size_t>(x)].shape;
    return node("CastLike", 15, {x, target}, type, shape);
  }
};

// Whether something better than the reference multiplies this type.
bool has_fast_kernel(DType type) {
  for (const ops::KernelDef* kernel : ops::Registry::instance().kernels("Gemm")) {
    if (kernel->name.find("reference") == std::string_view::npos && kernel->types.has(type))
      return true;
  }
  return false;
}

Result<std::shared_ptr<LoadedModel>> make_gemm_plan(const GemmKey& key,
                                                    const std::shared_ptr<device::Device>& device) {
  GraphMaker g;
  const Shape a_shape = key.ta ? Shape{key.k, key.m} : Shape{key.m, key.k};
  const Shape b_shape = key.tb ? Shape{key.n, key.k} : Shape{key.k, key.n};
  ValueId a = g.value("a", key.in, a_shape), b = g.value("b", key.in, b_shape);
  g.graph.inputs = {a, b};
  const bool bytes = key.in == DType::i8;
  // Sums are kept in fp32; 16-bit types stay as they are when a kernel of theirs does so.
  DType work = key.in;
  if (!bytes && (key.out != key.in || !has_fast_kernel(key.in))) work = DType::f32;
  const DType sum = bytes ? DType::i32 : work;
  ValueId c = graph::kNoValue;
  if (key.beta != 0) {
    c = g.value("c", key.out, {key.m, key.n});
    g.graph.inputs.push_back(c);
    c = g.like(c, sum);
  }
  ValueId y;
  if (bytes) {
    const auto turned = [&](ValueId x, bool turn, Shape shape) {
      return turn ? g.node("Transpose", 13, {x}, key.in, std::move(shape)) : x;
    };
    y = g.node("MatMulInteger", 10,
               {turned(a, key.ta, {key.m, key.k}), turned(b, key.tb, {key.k, key.n})}, DType::i32,
               {key.m, key.n});
    y = g.like(y, key.out);
    const auto scaled = [&](ValueId x, double by, const char* name) {
      if (by == 1) return x;
      const ValueId factor = g.value(name, key.out, {});
      std::vector<std::byte> raw(4);
      if (key.out == DType::i32) {
        const auto whole = static_cast<int32_t>(by);
        std::memcpy(raw.data(), &whole, 4);
      } else {
        const auto real = static_cast<float>(by);
        std::memcpy(raw.data(), &real, 4);
      }
      auto owner = std::make_shared<const std::vector<std::byte>>(std::move(raw));
      g.graph.values[static_cast<size_t>(factor)].constant =
          std::make_shared<const graph::Constant>(graph::Constant{owner, *owner});
      return g.node("Mul", 13, {x, factor}, key.out, {key.m, key.n});
    };
    y = scaled(y, key.alpha, "alpha");
    if (c != graph::kNoValue) {
      const ValueId given = g.graph.inputs[2];
      y = g.node("Add", 13, {y, scaled(given, key.beta, "beta")}, key.out, {key.m, key.n});
    }
  } else {
    std::vector<ValueId> inputs{g.like(a, work), g.like(b, work)};
    if (c != graph::kNoValue) inputs.push_back(c);
    y = g.node("Gemm", 13, std::move(inputs), work, {key.m, key.n},
               {{"alpha", static_cast<float>(key.alpha)},
                {"beta", static_cast<float>(key.beta)},
                {"transA", int64_t{key.ta}},
                {"transB", int64_t{key.tb}}});
    y = g.like(y, key.out);
  }
  g.graph.outputs = {y};
  ANYNPU_TRY(g.graph.verify());
  LoadOptions options;
  options.run_on(device);
  return LoadedModel::load(g.graph, options);
}

class GemmPlans {
 public:
  static GemmPlans& instance() {
    static auto* plans = new GemmPlans;
    return *plans;
  }
  Result<std::shared_ptr<LoadedModel>> find(const GemmKey& key,
                                            const std::shared_ptr<device::Device>& device) {
    {
      const std::lock_guard lock(mutex_);
      for (auto at = list_.begin(); at != list_.end(); ++at) {
        if (!(at->first == key)) continue;
        list_.splice(list_.begin(), list_, at);
        return at->second;
      }
    }
    ANYNPU_ASSIGN(auto plan, make_gemm_plan(key, device));
    const std::lock_guard lock(mutex_);
    list_.emplace_front(key, plan);
    if (list_.size() > kMostGemmPlans) list_.pop_back();
    return plan;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    list_.clear();
  }

 private:
  std::mutex mutex_;
  std::list<std::pair<GemmKey, std::shared_ptr<LoadedModel>>> list_;
};

double read_factor(const void* from, DType type) {
  switch (type) {
    case DType::f16:
      return to_float(*static_cast<const F16*>(from));
    case DType::bf16:
      return to_float(*static_cast<const BF16*>(from));
    case DType::i32:
      return *static_cast<const int32_t*>(from);
    default:
      return *static_cast<const float*>(from);
  }
}

// One matrix in memory: rows x columns of elements.
struct Matrix {
  int64_t rows, columns, row_step, column_step;
  int64_t across;  // columns of a FRACTAL_NZ block; 0: it has none
  size_t width;    // bytes of an element

  bool plain() const { return across == 0 && column_step == 1 && row_step == columns; }
  size_t bytes() const {
    if (across != 0) {
      const int64_t blocks = block_count(rows, kBlockRows) * block_count(columns, across);
      return static_cast<size_t>(blocks * kBlockRows * across) * width;
    }
    if (rows == 0 || columns == 0) return 0;
    return static_cast<size_t>((rows - 1) * row_step + (columns - 1) * column_step + 1) * width;
  }
  size_t offset(int64_t row, int64_t column) const {
    if (across == 0) return static_cast<size_t>(row * row_step + column * column_step) * width;
    const int64_t block = column / across * block_count(rows, kBlockRows) + row / kBlockRows;
    return static_cast<size_t>((block * kBlockRows + row % kBlockRows) * across + column % across) *
           width;
  }
  // Contiguous elements: a row, the part of a row in a block, or one.
  int64_t run() const {
    if (across != 0) return across;
    return column_step == 1 ? columns : 1;
  }
  // Copies to (or from) rows without gaps.
  void gather(const std::byte* from, std::byte* to) const {
    visit([&](size_t at, size_t bytes) {
      std::memcpy(to, from + at, bytes);
      to += bytes;
    });
  }
  void scatter(const std::byte* from, std::byte* to) const {
    visit([&](size_t at, size_t bytes) {
      std::memcpy(to + at, from, bytes);
      from += bytes;
    });
  }
  template <typename Piece>
  void visit(Piece&& piece) const {
    const int64_t most = run();
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; c += most)
        piece(offset(r, c), static_cast<size_t>(std::min(most, columns - c)) * width);
    }
  }
};

Matrix matrix_of(int64_t rows, int64_t columns, int64_t ld, int64_t step, Trans trans, DType type) {
  const int64_t across = blocked(trans) ? block_width(type) : 0;
  return {rows, columns, ld < 0 ? columns * step : ld, step, across, size_of(type)};
}
Matrix layout_a(const Gemm& g) {
  const bool t = transposed(g.a);
  return matrix_of(t ? g.k : g.m, t ? g.m : g.k, g.lda, 1, g.a, g.a_type);
}
Matrix layout_b(const Gemm& g) {
  const bool t = transposed(g.b);
  return matrix_of(t ? g.n : g.k, t ? g.k : g.n, g.ldb, g.b_step, g.b, g.b_type);
}
Matrix layout_c(const Gemm& g) { return matrix_of(g.m, g.n, g.ldc, g.c_step, g.c, g.c_type); }

// The matrix without gaps: itself, or a copy in `staging`.
const void* dense(const Matrix& layout, const void* from, std::vector<std::byte>& staging) {
  if (layout.plain()) return from;
  staging.resize(static_cast<size_t>(layout.rows * layout.columns) * layout.width);
  layout.gather(static_cast<const std::byte*>(from), staging.data());
  return staging.data();
}

bool good_types(const Gemm& g) {
  if (g.a_type != g.b_type) return false;
  if (g.a_type == DType::i8) return g.c_type == DType::i32 || g.c_type == DType::f32;
  const bool wide = g.a_type == DType::f16 || g.a_type == DType::bf16;
  return (g.a_type == g.c_type && (wide || g.a_type == DType::f32)) ||
         (wide && g.c_type == DType::f32);
}

}  // namespace

Status check_gemm(const Gemm& g) {
  if (!good_types(g)) {
    return fail(Code::unsupported_dtype,
                "a product of {} and {} into {} is not there; expected float16, bfloat16 or float "
                "into the same type, 16-bit floats into float, or int8 into int32 or float",
                name_of(g.a_type), name_of(g.b_type), name_of(g.c_type));
  }
  if (g.m <= 0 || g.n <= 0 || g.k <= 0) {
    return fail(Code::invalid_argument, "m, n, k are {}, {}, {}; expected numbers above 0", g.m,
                g.n, g.k);
  }
  if (transposed(g.c)) {
    return fail(Code::invalid_argument, "transC is {}; expected 0 or 2: c is not transposed",
                static_cast<int>(g.c));
  }
  for (const auto& [name, layout, ld] : {std::tuple{"lda", layout_a(g), g.lda},
                                         {"ldb", layout_b(g), g.ldb},
                                         {"ldc", layout_c(g), g.ldc}}) {
    if (ld == -1 || ld >= layout.columns) continue;
    return fail(Code::invalid_argument, "{} is {}; expected -1 or at least the {} columns", name,
                ld, layout.columns);
  }
  return {};
}

DType factor_type(const Gemm& g) { return g.c_type; }

GemmBytes bytes_of(const Gemm& g) {
  return {layout_a(g).bytes(), layout_b(g).bytes(), layout_c(g).bytes()};
}

namespace {

GemmKey key_of(const Gemm& g, const GemmPointers& factors, const device::Device* owner) {
  const DType type = factor_type(g);
  return {g.m,
          g.n,
          g.k,
          transposed(g.a),
          transposed(g.b),
          g.a_type,
          g.c_type,
          read_factor(factors.alpha, type),
          read_factor(factors.beta, type),
          owner};
}

// With addresses that the host can use.
Status run_on_host(const Gemm& g, const GemmPointers& at,
                   const std::shared_ptr<device::Device>& device) {
  const GemmKey key = key_of(g, at, nullptr);
  ANYNPU_ASSIGN(const auto plan, GemmPlans::instance().find(key, device));
  std::vector<std::byte> copy_a, copy_b, copy_c;
  const Matrix out = layout_c(g);
  const void* dense_a = dense(layout_a(g), at.a, copy_a);
  const void* dense_b = dense(layout_b(g), at.b, copy_b);
  void* dense_c = const_cast<void*>(dense(out, at.c, copy_c));
  Buffer inputs[3] = {{const_cast<void*>(dense_a), plan->inputs()[0].bytes},
                      {const_cast<void*>(dense_b), plan->inputs()[1].bytes},
                      {}};
  size_t count = 2;
  std::vector<std::byte> old;
  if (key.beta != 0) {
    // c is read and written: a plan's input and output never share memory.
    const size_t bytes = plan->inputs()[2].bytes;
    const auto* from = static_cast<const std::byte*>(dense_c);
    old.assign(from, from + bytes);
    inputs[count++] = {old.data(), bytes};
  }
  const Buffer output{dense_c, plan->outputs()[0].bytes};
  ANYNPU_TRY(plan->run({inputs, count}, {&output, 1}));
  if (!out.plain()) out.scatter(copy_c.data(), static_cast<std::byte*>(at.c));
  return {};
}

device::HostRange readable(const void* address, size_t bytes) {
  return {const_cast<void*>(address), bytes, device::Access::read};
}

Status run_on_views(const Gemm& g, const GemmPointers& at,
                    const std::shared_ptr<device::Device>& device) {
  const GemmBytes bytes = bytes_of(g);
  const size_t factor = size_of(factor_type(g));
  device::HostRange views[] = {readable(at.alpha, factor),
                               readable(at.a, bytes.a),
                               readable(at.b, bytes.b),
                               readable(at.beta, factor),
                               {at.c, bytes.c, device::Access::write}};
  return device::with_host_view(views, [&] {
    return run_on_host(
        g,
        {views[0].address, views[1].address, views[2].address, views[3].address, views[4].address},
        device);
  });
}

// A matrix without gaps in the memory of a device: itself, or a copy that the host gathered.
struct DeviceMatrix {
  Matrix layout;
  void* address;
  Memory copy = {};

  size_t dense_bytes() const {
    return static_cast<size_t>(layout.rows * layout.columns) * layout.width;
  }
  Status gather(device::Device& device) {
    if (layout.plain()) return {};
    std::vector<std::byte> staging(dense_bytes());
    ANYNPU_TRY(device::with_host_view(readable(address, layout.bytes()), [&](void* seen) {
      layout.gather(static_cast<const std::byte*>(seen), staging.data());
      return Status();
    }));
    ANYNPU_ASSIGN(copy, Memory::allocate_on(device, staging.size()));
    return device::copy_bytes(copy.data(), staging.data(), staging.size());
  }
  Status scatter() const {
    if (layout.plain()) return {};
    std::vector<std::byte> staging(dense_bytes());
    ANYNPU_TRY(device::copy_bytes(staging.data(), copy.data(), staging.size()));
    const device::HostRange range{address, layout.bytes(), device::Access::write};
    return device::with_host_view(range, [&](void* seen) {
      layout.scatter(staging.data(), static_cast<std::byte*>(seen));
      return Status();
    });
  }
  Buffer dense() const { return {copy.data() ? copy.data() : address, dense_bytes()}; }
};

Status run_on_device(const Gemm& g, const GemmPointers& at,
                     const std::shared_ptr<device::Device>& device, device::Queue& queue) {
  alignas(8) std::byte alpha[8], beta[8];
  ANYNPU_TRY(device::copy_bytes(alpha, at.alpha, size_of(factor_type(g))));
  ANYNPU_TRY(device::copy_bytes(beta, at.beta, size_of(factor_type(g))));
  const GemmKey key = key_of(g, {.alpha = alpha, .beta = beta}, device.get());
  ANYNPU_ASSIGN(const auto plan, GemmPlans::instance().find(key, device));
  DeviceMatrix a{layout_a(g), const_cast<void*>(at.a)}, b{layout_b(g), const_cast<void*>(at.b)};
  DeviceMatrix c{layout_c(g), at.c};
  for (DeviceMatrix* matrix : {&a, &b, &c}) ANYNPU_TRY(matrix->gather(*device));
  Buffer inputs[3] = {a.dense(), b.dense(), {}};
  size_t count = 2;
  const auto old = std::make_shared<Memory>();
  if (key.beta != 0) {
    // c is read and written: a plan's input and output never share memory.
    ANYNPU_ASSIGN(*old, Memory::allocate_on(*device, c.dense_bytes()));
    ANYNPU_TRY(queue.copy({old->data(), c.dense().data, c.dense_bytes()}));
    inputs[count++] = {old->data(), c.dense_bytes()};
  }
  const Buffer output = c.dense();
  Status status = plan->run({inputs, count}, {&output, 1}, nullptr, {}, &queue);
  queue.keep(old);
  if (!status.ok() || (a.layout.plain() && b.layout.plain() && c.layout.plain())) return status;
  ANYNPU_TRY(queue.drain());
  return c.scatter();
}

}  // namespace

Status run_gemm(const Gemm& g, const GemmPointers& at,
                const std::shared_ptr<device::Device>& device, device::Queue& queue) {
  return plan_owner(*device) ? run_on_device(g, at, device, queue) : run_on_views(g, at, device);
}

void clear_gemm_plans() { GemmPlans::instance().clear(); }

}  // namespace anynpu::exec
