// SPDX-License-Identifier: Apache-2.0
// Products and convolutions by their definition, one output per thread: integers and float64, what
// cuBLASLt and cuDNN refuse, Einsum, and LpPool. Registered after the libraries' kernels.
#include "cuda/kernels/indexing.h"
#include "cuda/kernels/item_kernel.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/broadcast.h"
#include "ops/conv/conv_transpose.h"
#include "ops/conv/int8.h"
#include "ops/einsum/einsum.h"
#include "ops/gemm/int8.h"
#include "ops/window.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::quantize::QuantParameter;

std::string number(int64_t value) { return format("{}", value); }

size_t outputs_of(const OpContext& context) {
  return static_cast<size_t>(element_count(context.outputs[0].shape));
}

// A parameter of row, column or channel `index` as CUDA.
std::string value_of(const QuantParameter& p, std::string_view type, std::string_view index,
                     std::string_view otherwise) {
  if (p.input < 0) return format("({}){}", type, otherwise);
  return format("({})load(x{}[{}])", type, p.input, p.each ? index : "0");
}

// ---- Products of matrices

constexpr const char* kProduct = R"(
  const i64 j = i % @n, r = i / @n % @m, matrix = i / (@m * @n); (void)matrix;
  const i64 from_a = @from_a, from_b = @from_b;
  S sum = 0;
  for (i64 k = 0; k < @k; ++k)
    sum += ((S)load(@a[from_a + r * @k + k]) - @a_zero) * ((S)load(@b[from_b + k * @n + j]) - @b_zero);
  @store
)";

// The offset of the matrix of an operand that belongs to matrix number `matrix` of the output.
std::string matrix_offset(const Shape& shape, const Shape& out, int64_t size) {
  const Shape own(shape.begin(), shape.end() - 2), all(out.begin(), out.end() - 2);
  std::vector<int64_t> strides(all.size(), 0);
  int64_t step = size;
  for (size_t back = 1; back <= own.size(); ++back) {
    const int64_t extent = own[own.size() - back];
    if (extent != 1) strides[all.size() - back] = step;
    step *= extent;
  }
  return strided_index(all, strides, 0, "matrix");
}

ops::PlanResult plan_integer_product(const OpContext& context) {
  ANYNPU_ASSIGN(const ops::gemm::IntegerMatMul p, ops::gemm::integer_matmul_of(context));
  const Shape &a = context.inputs[0].shape, &b = context.inputs[p.b_place].shape,
              &out = context.outputs[0].shape;
  const bool is_signed = p.out_type == DType::i8;
  ItemKernel kernel;
  kernel.items = outputs_of(context);
  kernel.before = "typedef i32 S;\n";
  const std::string scaled = format(
      "const double v = rint((double)sum * {} * {} / {}) + {}; store(y0[i], (int)fmin(fmax(v, {}), "
      "{}));",
      value_of(p.a_scale, "double", "r", "1"), value_of(p.b_scale, "double", "j", "1"),
      value_of(p.y_scale, "double", "0", "1"), value_of(p.y_zero, "double", "0", "0"),
      is_signed ? "-128.0" : "0.0", is_signed ? "127.0" : "255.0");
  kernel.body =
      filled(kProduct, {{"m", number(p.m)},
                        {"n", number(p.n)},
                        {"k", number(p.k)},
                        {"a", "x0"},
                        {"b", format("x{}", p.b_place)},
                        {"from_a", matrix_offset(a, out, p.m * p.k)},
                        {"from_b", matrix_offset(b, out, p.k * p.n)},
                        {"a_zero", value_of(p.a_zero, "S", "r", "0")},
                        {"b_zero", value_of(p.b_zero, "S", "j", "0")},
                        {"store", p.linear ? scaled : std::string("store(y0[i], sum);")}});
  return plan_items(context, kernel);
}

Status can_run_integer_product(const OpContext& context) {
  ANYNPU_ASSIGN(const ops::gemm::IntegerMatMul p, ops::gemm::integer_matmul_of(context));
  if (p.real()) return fail(Code::unsupported_dtype, "8-bit floats");
  return can_run_items(context);
}

// MatMul, with vectors as matrices of one row or column.
ops::PlanResult plan_product(const OpContext& context) {
  Shape a = context.inputs[0].shape, b = context.inputs[1].shape, out = context.outputs[0].shape;
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (row) out.insert(out.end() - (column ? 0 : 1), 1);
  if (column) out.push_back(1);
  const int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
  ItemKernel kernel;
  kernel.items = outputs_of(context);
  kernel.before = format("typedef {} S;\n", compute_name(context.inputs[0].dtype));
  kernel.body = filled(kProduct, {{"m", number(m)},
                                  {"n", number(n)},
                                  {"k", number(k)},
                                  {"a", "x0"},
                                  {"b", "x1"},
                                  {"from_a", matrix_offset(a, out, m * k)},
                                  {"from_b", matrix_offset(b, out, k * n)},
                                  {"a_zero", "0"},
                                  {"b_zero", "0"},
                                  {"store", "store(y0[i], sum);"}});
  return plan_items(context, kernel);
}

ops::PlanResult plan_gemm(const OpContext& context) {
  const Shape& out = context.outputs[0].shape;
  const bool ta = context.int_attr("transA") != 0, tb = context.int_attr("transB") != 0;
  const Shape& a = context.inputs[0].shape;
  const int64_t m = out[0], n = out[1], k = a[ta ? 0 : 1];
  const bool real = ops::kFloats.has(context.inputs[0].dtype);
  std::string result = real ? "(C)$alpha * sum" : "(C)((double)$alpha * sum)";
  if (context.has_input(2)) {
    // C broadcasts to the output.
    const std::string c = format("(C)load(x2[{}])", broadcast_index(context.inputs[2].shape, out));
    result = real ? format("{} + (C)$beta * {}", result, c)
                  : format("(C)((double)$alpha * sum + (double)$beta * {})", c);
  }
  ItemKernel kernel;
  kernel.items = outputs_of(context);
  kernel.body = format(
      "  const i64 r = i / {1}, j = i % {1};\n  C sum = 0;\n"
      "  for (i64 k = 0; k < {2}; ++k) sum += (C)load(x0[{3}]) * (C)load(x1[{4}]);\n"
      "  store(y0[i], {5});\n",
      m, n, k, ta ? format("k * {} + r", m) : format("r * {} + k", k),
      tb ? format("j * {} + k", k) : format("k * {} + j", n), result);
  return plan_items(context, kernel);
}

// ---- Convolutions of any number of axes

// Loops over the taps of output `o`; `at` is the offset in the input plane, `tap` that in a filter.
std::string tap_loop(const ops::Window& w, const std::string& body) {
  int64_t taps = 1;
  for (const int64_t extent : w.kernel) taps *= extent;
  std::string text = format(
      "  for (i64 tap = 0; tap < {}; ++tap) {{\n    i64 rest = tap, place = o, at = 0, scale = 1; "
      "bool inside = true;\n",
      taps);
  for (size_t d = w.dims(); d-- > 0;) {
    text += format(
        "    {{ const i64 p = place % {0} * {1} + rest % {2} * {3} - {4}; place /= {0}; rest /= "
        "{2};\n"
        "      inside = inside && p >= 0 && p < {5}; at += p * scale; scale *= {5}; }}\n",
        w.out[d], w.stride[d], w.kernel[d], w.dilation[d], w.pad_begin[d], w.in[d]);
  }
  return text + "    if (!inside) continue;\n" + body + "  }\n";
}

struct Filters {
  ops::Window window;
  int64_t group_in = 1, group_out = 1, channels = 1, outputs = 1;
};

std::string convolution(const Filters& f, const std::string& sum, const std::string& term,
                        const std::string& result) {
  const int64_t in = element_count(f.window.in), out = element_count(f.window.out);
  const int64_t taps = element_count(f.window.kernel);
  return format(
             "  const i64 o = i % {0}, m = i / {0} % {1}, n = i / ({0} * {1});\n"
             "  const i64 from = (n * {2} + m / {3} * {4}) * {5}; (void)from;\n  S sum = {6};\n",
             out, f.outputs, f.channels, f.group_out, f.group_in, in, sum) +
         tap_loop(
             f.window,
             format("    for (i64 c = 0; c < {0}; ++c) {{\n"
                    "      const i64 xi = from + c * {1} + at, wi = (m * {0} + c) * {2} + tap;\n"
                    "      sum += {3};\n    }}\n",
                    f.group_in, in, taps, term)) +
         result;
}

ops::PlanResult plan_integer_convolution(const OpContext& context) {
  ANYNPU_ASSIGN(const ops::conv::IntegerConv p, ops::conv::integer_conv_of(context));
  const Filters f{p.window, p.group_in, p.group_out, p.in_channels, p.channels};
  ItemKernel kernel;
  kernel.items = outputs_of(context);
  kernel.before = "typedef i32 S;\n";
  const std::string scaled = format(
      "  const double v = rint((double)sum * ({} * {} / {})) + {};\n"
      "  store(y0[i], (int)fmin(fmax(v, {}.0), {}.0));\n",
      value_of(p.x_scale, "double", "0", "1"), value_of(p.w_scale, "double", "m", "1"),
      value_of(p.y_scale, "double", "0", "1"), value_of(p.y_zero, "double", "0", "0"), p.low(),
      p.high());
  kernel.body = convolution(
      f, value_of(p.bias, "S", "m", "0"),
      format("((S)load(x0[xi]) - {}) * ((S)load(x{}[wi]) - {})", value_of(p.x_zero, "S", "0", "0"),
             p.weight, value_of(p.w_zero, "S", "m", "0")),
      p.linear ? scaled : std::string("  store(y0[i], sum);\n"));
  return plan_items(context, kernel);
}

ops::PlanResult plan_convolution(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &w = context.inputs[1].shape;
  Filters f;
  ANYNPU_ASSIGN(f.window,
                ops::window_of(context, {x.begin() + 2, x.end()}, {w.begin() + 2, w.end()}));
  const int64_t group = std::max<int64_t>(context.int_attr("group"), 1);
  f.group_in = w[1], f.group_out = w[0] / group, f.channels = x[1], f.outputs = w[0];
  ItemKernel kernel;
  kernel.items = outputs_of(context);
  kernel.before = format("typedef {} S;\n", compute_name(context.inputs[0].dtype));
  kernel.body = convolution(f, context.has_input(2) ? "(S)load(x2[m])" : "0",
                            "(S)load(x0[xi]) * (S)load(x1[wi])", "  store(y0[i], sum);\n");
  return plan_items(context, kernel);
}

// Each output gathers from the inputs whose filters reach it.
ops::PlanResult plan_transposed(const OpContext& context) {
  ANYNPU_ASSIGN(const ops::conv::TransposeShape s, ops::conv::transpose_shape_of(context));
  const int64_t in = element_count(s.in), out = element_count(s.out),
                taps = element_count(s.kernel);
  const int64_t group_in = s.in_channels / s.group, group_out = s.out_channels / s.group;
  std::string text = format(
      "  const i64 o = i % {0}, m = i / {0} % {1}, n = i / ({0} * {1}), g = m / {2};\n"
      "  S sum = {3};\n  for (i64 tap = 0; tap < {4}; ++tap) {{\n"
      "    i64 rest = tap, place = o, at = 0, scale = 1; bool inside = true;\n",
      out, s.out_channels, group_out, context.has_input(2) ? "(S)load(x2[m])" : "0", taps);
  for (size_t d = s.in.size(); d-- > 0;) {
    text += format(
        "    {{ const i64 p = place % {0} + {1} - rest % {2} * {3}; place /= {0}; rest /= {2};\n"
        "      inside = inside && p >= 0 && p % {4} == 0 && p / {4} < {5}; at += p / {4} * scale; "
        "scale *= {5}; }}\n",
        s.out[d], s.pad[d], s.kernel[d], s.dilation[d], s.stride[d], s.in[d]);
  }
  text += format(
      "    if (!inside) continue;\n    for (i64 c = 0; c < {0}; ++c)\n"
      "      sum += (S)load(x0[(n * {1} + g * {0} + c) * {2} + at]) * (S)load(x1[((g * {0} + c) * "
      "{3} + m % {3}) * {4} + tap]);\n  }}\n  store(y0[i], sum);\n",
      group_in, s.in_channels, in, group_out, taps);
  ItemKernel kernel;
  kernel.items = outputs_of(context);
  kernel.before = format("typedef {} S;\n", compute_name(context.inputs[0].dtype));
  kernel.body = text;
  return plan_items(context, kernel);
}

// ---- LpPool and GlobalLpPool

ops::PlanResult plan_lp_pool(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  const std::vector<int64_t> in(x.begin() + 2, x.end());
  ANYNPU_ASSIGN(
      const ops::Window w,
      ops::window_of(context, in,
                     context.schema->name == "LpPool" ? context.ints_attr("kernel_shape") : in));
  const int64_t p = context.int_attr("p");
  ItemKernel kernel;
  kernel.items = outputs_of(context);
  kernel.body =
      format("  const i64 o = i % {}, plane = i / {} * {};\n  C sum = 0;\n", element_count(w.out),
             element_count(w.out), element_count(w.in)) +
      tap_loop(w, format("    const C v = load(x0[plane + at]); sum += {};\n",
                         p == 2 ? "v * v" : format("pow((C)fabs(v), (C){})", p))) +
      format("  store(y0[i], {});\n", p == 2 ? "sqrt(sum)" : format("pow(sum, (C)1 / {})", p));
  return plan_items(context, kernel);
}

// MaxPool of integers, or with indices: places in the whole tensor, columns first if asked for.
ops::PlanResult plan_max_pool(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  const std::vector<int64_t> in(x.begin() + 2, x.end());
  ANYNPU_ASSIGN(const ops::Window w,
                ops::window_of(context, in, context.ints_attr("kernel_shape")));
  const bool indices = context.outputs.size() > 1 && context.outputs[1].present;
  const int64_t out_size = element_count(w.out), in_size = element_count(w.in);
  std::string place = "best";
  if (context.int_attr("storage_order") != 0) {
    place = "0";
    int64_t behind = in_size, before = 1;
    for (const int64_t extent : in) {
      behind /= extent;
      place += format(" + best / {} % {} * {}", behind, extent, before);
      before *= extent;
    }
  }
  ItemKernel kernel;
  kernel.items = outputs_of(context);
  kernel.body =
      format("  const i64 o = i % {0}, plane = i / {0} * {1};\n  i64 best = -1; C top = 0;\n",
             out_size, in_size) +
      tap_loop(
          w,
          "    const C v = load(x0[plane + at]); if (best < 0 || v > top || v != v) { best = at; "
          "top = v; }\n") +
      "  store(y0[i], top);\n" +
      (indices ? format("  y1[i] = plane + {};\n", place) : std::string());
  return plan_items(context, kernel);
}

// ---- Pow of integers; those of floats are in elementwise.cpp. Products wrap.

ops::PlanResult plan_pow(const OpContext& context) {
  const Shape& out = context.outputs[0].shape;
  ItemKernel kernel;
  kernel.items = outputs_of(context);
  kernel.body = format("  const C base = load(x0[{}]); const auto given = load(x1[{}]);\n",
                       broadcast_index(context.inputs[0].shape, out),
                       broadcast_index(context.inputs[1].shape, out));
  kernel.body +=
      ops::kIntegers.has(context.inputs[1].dtype)
          ? "  i64 left = (i64)given; C v = 1, square = base;\n"
            "  if (left < 0) v = base == 1 ? (C)1 : base == (C)-1 ? (left % 2 ? (C)-1 : (C)1) : "
            "(C)0;\n"
            "  for (; left > 0; left >>= 1) { if (left & 1) v *= square; square *= square; }\n"
            "  store(y0[i], v);\n"
          : "  store(y0[i], whole(pow((double)base, (double)given)));\n";
  return plan_items(context, kernel);
}

// ---- Einsum: the labels of the result are the item's, the others are summed over.

ops::PlanResult plan_einsum(const OpContext& context) {
  ANYNPU_ASSIGN(const ops::einsum::Equation e, ops::einsum::equation_of(context));
  std::string summed;
  for (const auto& [label, extent] : e.extents) {
    if (e.out.find(label) == std::string::npos) summed += label;
  }
  const auto extent = [&](char label) { return e.extents.at(label); };
  const auto name = [](char label) { return format("l{}", static_cast<int>(label)); };
  std::string text = "  u64 rest = i;\n";
  for (size_t k = e.out.size(); k-- > 0;)
    text += format("  const i64 {0} = rest % {1}; rest /= {1};\n", name(e.out[k]),
                   std::max<int64_t>(extent(e.out[k]), 1));
  text += "  S sum = 0;\n";
  std::string term;
  for (size_t k = 0; k < e.terms.size(); ++k) {
    std::string at = "0";
    int64_t stride = 1;
    const Shape& shape = context.inputs[k].shape;
    for (size_t d = e.terms[k].size(); d-- > 0;) {
      if (shape[d] != 1) at += format(" + {} * {}", name(e.terms[k][d]), stride);
      stride *= shape[d];
    }
    term += format("{}(S)load(x{}[{}])", k == 0 ? "" : " * ", k, at);
  }
  for (const char label : summed)
    text += format("  for (i64 {0} = 0; {0} < {1}; ++{0})\n", name(label), extent(label));
  text += format("    sum += {};\n  store(y0[i], sum);\n", term);
  ItemKernel kernel;
  kernel.items = outputs_of(context);
  kernel.before = format("typedef {} S;\n", compute_name(context.inputs[0].dtype));
  kernel.body = text;
  return plan_items(context, kernel);
}

}  // namespace

void add_direct(std::vector<ops::KernelDef>& kernels) {
  const ops::DTypeSet bytes{DType::u8, DType::i8};
  for (const char* op : {"MatMulInteger", "QLinearMatMul"})
    kernels.push_back(item_kernel(op, bytes, ops::create_plain<plan_integer_product>, {},
                                  can_run_integer_product));
  for (const char* op : {"ConvInteger", "QLinearConv"})
    kernels.push_back(item_kernel(op, bytes, ops::create_plain<plan_integer_convolution>));
  kernels.push_back(item_kernel("MatMul", ops::kNumbers, ops::create_plain<plan_product>));
  kernels.push_back(item_kernel("Gemm", ops::kNumbers, ops::create_plain<plan_gemm>));
  kernels.push_back(item_kernel("Conv", ops::kFloats, ops::create_plain<plan_convolution>));
  kernels.push_back(item_kernel("ConvTranspose", ops::kFloats, ops::create_plain<plan_transposed>));
  kernels.push_back(item_kernel("Einsum", ops::kNumbers, ops::create_plain<plan_einsum>));
  kernels.push_back(item_kernel("Pow", ops::kIntegers, ops::create_plain<plan_pow>));
  kernels.push_back(item_kernel("MaxPool", ops::kNumbers, ops::create_plain<plan_max_pool>));
  for (const char* op : {"LpPool", "GlobalLpPool"})
    kernels.push_back(item_kernel(op, ops::kFloats, ops::create_plain<plan_lp_pool>));
}

}  // namespace anynpu::device::cuda
