// SPDX-License-Identifier: Apache-2.0
// Einsum as a list of steps: strided copies (transposes and diagonals), sums, and batched matrix
// products on the packed engine. Operands are joined from the left, two at a time: letters of both
// that are needed later count the matrices, the other letters of both are summed over, and those of
// one side are its rows or columns. Where strides allow, operands are read where they lie.
#include <algorithm>
#include <memory>
#include <optional>

#include "base/align.h"
#include "ops/data_movement/strided_copy.h"
#include "ops/einsum/einsum.h"
#include "ops/gemm/packed.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/simd/row_math.h"

namespace anynpu::ops::einsum {

namespace {

constexpr int64_t kMostMatrices = int64_t{1} << 22;  // a plan lists the offset of each
constexpr int64_t kLeastDot = 16;       // products of a sum that is worth a loop of its own
constexpr int64_t kDotRange = 1 << 14;  // products, for each thread at least
constexpr int64_t kLeastProduct = 64;   // multiplications of a matrix: below, calls outweigh them

struct BufferRef {
  enum Kind : uint8_t { input, output, workspace } kind = input;
  size_t at = 0;  // index of the input, or offset in bytes
};

struct Axis {
  char letter = 0;
  int64_t extent = 1, stride = 0;
};

struct Joint {
  int64_t extent = 1, stride = 0;
};

// A tensor on its way: every letter once, extents over 1 alone.
struct Tensor {
  BufferRef place;
  std::vector<Axis> axes;

  const Axis* find(char letter) const {
    const auto found = std::find_if(axes.begin(), axes.end(),
                                    [&](const Axis& axis) { return axis.letter == letter; });
    return found == axes.end() ? nullptr : &*found;
  }
  int64_t count(const std::string& letters) const {
    int64_t all = 1;
    for (char letter : letters) all *= find(letter)->extent;
    return all;
  }
  // The axes of `letters` as one, where their strides continue each other.
  std::optional<Joint> joint(const std::string& letters) const {
    Joint one;
    for (size_t i = letters.size(); i-- > 0;) {
      const Axis& axis = *find(letters[i]);
      if (one.extent == 1) {
        one = {axis.extent, axis.stride};
      } else if (axis.stride == one.stride * one.extent) {
        one.extent *= axis.extent;
      } else {
        return std::nullopt;
      }
    }
    return one;
  }
  bool dense(const std::string& letters) const {
    const auto one = joint(letters);
    return one && (one->extent == 1 || one->stride == 1);
  }
  // Offsets of the matrices that `letters` count.
  std::vector<int64_t> offsets(const std::string& letters) const {
    std::vector<int64_t> all = {0};
    for (char letter : letters) {
      const Axis& axis = *find(letter);
      std::vector<int64_t> next;
      next.reserve(all.size() * static_cast<size_t>(axis.extent));
      for (int64_t from : all) {
        for (int64_t i = 0; i < axis.extent; ++i) next.push_back(from + i * axis.stride);
      }
      all = std::move(next);
    }
    return all;
  }
};

// Whether the matrix [rows][columns] can be read in place from `tensor`; true: transposed.
std::optional<bool> matrix_in(const Tensor& tensor, const std::string& rows,
                              const std::string& columns) {
  const auto r = tensor.joint(rows), c = tensor.joint(columns);
  if (!r || !c) return std::nullopt;
  const auto lies = [](const Joint& outer, const Joint& inner) {
    return (inner.extent == 1 || inner.stride == 1) &&
           (outer.extent == 1 || outer.stride == inner.extent);
  };
  if (lies(*r, *c)) return false;
  if (lies(*c, *r)) return true;
  return std::nullopt;
}

bool has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

struct ProductStep {
  std::unique_ptr<KernelPlan> plan;
  BufferRef a, b, out;  // b: of products
};

class EinsumPlan final : public KernelPlan {
 public:
  std::vector<ProductStep> steps;
  size_t scratch_at = 0;

  Status run(const RunArgs& args) const override {
    for (const ProductStep& step : steps) {
      const std::byte* inputs[] = {find(args, step.a), find(args, step.b), nullptr, nullptr};
      std::byte* outputs[] = {step.out.kind == BufferRef::output ? args.outputs[0]
                                                                 : args.workspace + step.out.at};
      ANYNPU_TRY(step.plan->run({inputs, outputs, nullptr, args.workspace + scratch_at}));
    }
    return {};
  }

 private:
  static const std::byte* find(const RunArgs& args, const BufferRef& place) {
    return place.kind == BufferRef::input ? args.inputs[place.at] : args.workspace + place.at;
  }
};

class Builder {
 public:
  Builder(const OpContext& context, const Equation& eq, Isa isa)
      : target_(context.target), isa_(isa) {
    for (size_t i = 0; i < context.inputs.size(); ++i) {
      const Shape& shape = context.inputs[i].shape;
      const auto strides = strides_of(shape);
      Tensor& tensor = operands_.emplace_back();
      tensor.place = {BufferRef::input, i};
      for (size_t d = 0; d < shape.size(); ++d) {
        const char letter = eq.terms[i][d];
        if (shape[d] == 1) continue;  // repeated along the letter: the same as without it
        const auto same = std::find_if(tensor.axes.begin(), tensor.axes.end(),
                                       [&](const Axis& axis) { return axis.letter == letter; });
        if (same != tensor.axes.end()) {
          same->stride += strides[d];  // a diagonal
        } else {
          tensor.axes.push_back({letter, shape[d], strides[d]});
        }
      }
    }
    for (char letter : eq.out) {
      if (eq.extents.at(letter) != 1) out_ += letter;
    }
  }

  PlanResult build() {
    Tensor all = operands_[0];
    for (size_t i = 1; i < operands_.size(); ++i) {
      std::string needed = out_;
      for (size_t j = i + 1; j < operands_.size(); ++j) {
        for (const Axis& axis : operands_[j].axes) needed += axis.letter;
      }
      ANYNPU_ASSIGN(all, joined(all, operands_[i], needed));
    }
    if (operands_.size() == 1) {
      ANYNPU_ASSIGN(all, summed(all, out_, true));
    }
    if (all.place.kind != BufferRef::output) copy(all, out_, BufferRef{BufferRef::output, 0});
    plan_->scratch_at = bytes_;
    size_t scratch = 0;
    for (const ProductStep& step : plan_->steps)
      scratch = std::max(scratch, step.plan->workspace_bytes);
    plan_->workspace_bytes = bytes_ + scratch;
    return std::unique_ptr<KernelPlan>(std::move(plan_));
  }

 private:
  BufferRef workspace_buffer(int64_t floats) {
    const BufferRef place{BufferRef::workspace, bytes_};
    const size_t bytes = static_cast<size_t>(floats) * sizeof(float);
    bytes_ += round_up(bytes, kBufferAlignment);
    return place;
  }

  // A dense tensor of the letters; extent(letter) tells how long each is.
  template <typename Extent>
  static Tensor dense(const BufferRef& place, const std::string& letters, const Extent& extent) {
    Tensor tensor{place, {}};
    int64_t stride = 1;
    for (size_t i = letters.size(); i-- > 0; stride *= extent(letters[i])) {
      tensor.axes.insert(tensor.axes.begin(), {letters[i], extent(letters[i]), stride});
    }
    return tensor;
  }

  Tensor copy(const Tensor& from, const std::string& letters, std::optional<BufferRef> to = {}) {
    Shape shape;
    std::vector<int64_t> strides;
    for (char letter : letters) {
      shape.push_back(from.find(letter)->extent);
      strides.push_back(from.find(letter)->stride);
    }
    const BufferRef place = to ? *to : workspace_buffer(element_count(shape));
    plan_->steps.push_back(
        {plan_strided_copy(shape, std::move(strides), 0, sizeof(float)), from.place, {}, place});
    return dense(place, letters, [&](char letter) { return from.find(letter)->extent; });
  }

  // Letters that are not `needed` are summed over; the rest comes out in the order of `needed`.
  Result<Tensor> summed(const Tensor& from, const std::string& needed, bool last = false) {
    std::string kept, rest;
    for (char letter : needed) {
      if (from.find(letter) && !has(kept, letter)) kept += letter;
    }
    for (const Axis& axis : from.axes) {
      if (!has(kept, axis.letter)) rest += axis.letter;
    }
    if (rest.empty()) return from;
    const Tensor x = from.dense(kept + rest) ? from : copy(from, kept + rest);
    graph::Node node;
    node.op = "ReduceSum";
    node.name = "einsum";
    node.opset = 13;
    node.inputs = {0, 1};
    node.outputs = {2};
    node.attrs["keepdims"] = int64_t{0};
    const int64_t axis = 1, rows = from.count(kept);
    Operand axes = Operand::of(DType::i64, {1});
    axes.is_constant = true;
    axes.constant = std::as_bytes(std::span(&axis, 1));
    ANYNPU_ASSIGN(const OpContext context,
                  infer(node, {Operand::of(DType::f32, {rows, from.count(rest)}), axes}, target_));
    ANYNPU_ASSIGN(const KernelDef* kernel, choose_kernel(context));
    ANYNPU_ASSIGN(auto made, kernel->create(context));
    ANYNPU_ASSIGN(auto plan, made->plan(context));
    const BufferRef place = last ? BufferRef{BufferRef::output, 0} : workspace_buffer(rows);
    plan_->steps.push_back({std::move(plan), x.place, {}, place});
    return dense(place, kept, [&](char letter) { return from.find(letter)->extent; });
  }

  // The letters of a product by what they do in it.
  struct Roles {
    std::string batch, rows, columns, inner, inner_of_b;

    Roles(const Tensor& a, const Tensor& b, const std::string& needed) {
      std::string seen;
      for (char letter : needed) {
        if (has(seen, letter)) continue;
        seen += letter;
        const bool in_a = a.find(letter), in_b = b.find(letter);
        if (in_a || in_b) (in_a && in_b ? batch : in_a ? rows : columns) += letter;
      }
      for (const Axis& axis : a.axes) {
        if (!has(seen, axis.letter)) inner += axis.letter;
      }
      for (const Axis& axis : b.axes) {
        if (has(inner, axis.letter)) inner_of_b += axis.letter;
      }
    }
    std::string result() const { return batch + rows + columns; }
  };

  Result<Tensor> joined(Tensor a, Tensor b, const std::string& needed) {
    const auto with = [&](const Tensor& other) {
      std::string letters = needed;
      for (const Axis& axis : other.axes) letters += axis.letter;
      return letters;
    };
    const std::string for_a = with(b), for_b = with(a);
    const size_t before = plan_->steps.size();
    ANYNPU_ASSIGN(a, summed(a, for_a));
    const size_t between = plan_->steps.size();
    ANYNPU_ASSIGN(b, summed(b, for_b));
    // (inf + 1) * (0 + 1) is not what inf * 0 + inf * 1 + 0 + 1 is.
    if (before < between && between < plan_->steps.size()) {
      return fail(Code::unsupported_feature, "sums over letters of one operand on both sides");
    }
    if (Roles(b, a, needed).result() == out_ && Roles(a, b, needed).result() != out_) {
      std::swap(a, b);
    }
    return product(a, b, Roles(a, b, needed));
  }

  // Products of rows with one vector, along contiguous elements.
  struct Dots {
    std::vector<int64_t> a, b;  // offsets of the matrices and of the vectors
    int64_t rows = 1, row_step = 0, length = 1;
  };
  static std::unique_ptr<KernelPlan> plan_dots(Dots dots) {
    const auto count = dots.a.size() * static_cast<size_t>(dots.rows);
    const auto least = static_cast<size_t>(std::max<int64_t>(1, kDotRange / dots.length));
    return make_plan([=, dots = std::move(dots)](const RunArgs& args) {
      parallel(count, least, [&](size_t begin, size_t end) {
        const auto rows = static_cast<size_t>(dots.rows);
        for (size_t i = begin; i < end; ++i) {
          const auto row = static_cast<int64_t>(i % rows);
          output_of<float>(args, 0)[i] =
              row_math::dot(input_of<float>(args, 0) + dots.a[i / rows] + row * dots.row_step,
                            input_of<float>(args, 1) + dots.b[i / rows], dots.length);
        }
      });
    });
  }

  // Nothing when the elements of a row are not contiguous.
  std::optional<Tensor> dots_of(const Tensor& a, const Tensor& b, const Roles& roles) {
    const auto rows = a.joint(roles.rows);
    if (!rows || !a.dense(roles.inner) || !b.dense(roles.inner)) return std::nullopt;
    if (a.count(roles.batch) > kMostMatrices) return std::nullopt;
    Dots dots{a.offsets(roles.batch), b.offsets(roles.batch), rows->extent, rows->stride,
              a.count(roles.inner)};
    const std::string letters = roles.result();
    const BufferRef place = result_place(letters, a.count(letters));
    plan_->steps.push_back({plan_dots(std::move(dots)), a.place, b.place, place});
    return dense(place, letters, [&](char letter) { return a.find(letter)->extent; });
  }

  // The location of a result: the output if no step follows.
  BufferRef result_place(const std::string& letters, int64_t floats) {
    // Letters alone do not tell the last product: "i,i,i->i".
    const bool last = ++joined_ == operands_.size() - 1 && letters == out_;
    return last ? BufferRef{BufferRef::output, 0} : workspace_buffer(floats);
  }

  Result<Tensor> product(Tensor a, Tensor b, Roles roles) {
    if (roles.rows.empty()) {  // a vector stands on the right
      std::swap(a, b);
      std::swap(roles.rows, roles.columns);
    }
    if (roles.columns.empty() && a.count(roles.inner) >= kLeastDot) {
      if (auto made = dots_of(a, b, roles)) return *std::move(made);
    }
    const auto copies = [&](const std::string& inner) {
      return int{!matrix_in(a, roles.rows, inner)} + int{!matrix_in(b, inner, roles.columns)};
    };
    if (copies(roles.inner_of_b) < copies(roles.inner)) roles.inner = roles.inner_of_b;
    gemm::GemmShape g;
    g.m = a.count(roles.rows), g.n = b.count(roles.columns), g.k = a.count(roles.inner);
    const int64_t matrices = a.count(roles.batch);
    if (matrices > kMostMatrices || (matrices > 1 && g.m * g.n * g.k < kLeastProduct)) {
      return fail(Code::unsupported_shape, "{} matrix products of {} x {} x {}", matrices, g.m, g.k,
                  g.n);
    }
    if (!matrix_in(a, roles.rows, roles.inner)) a = copy(a, roles.batch + roles.rows + roles.inner);
    if (!matrix_in(b, roles.inner, roles.columns)) {
      b = copy(b, roles.batch + roles.inner + roles.columns);
    }
    g.transpose_a = *matrix_in(a, roles.rows, roles.inner);
    g.transpose_b = *matrix_in(b, roles.inner, roles.columns);
    g.batch_a = a.offsets(roles.batch);
    g.batch_b = b.offsets(roles.batch);
    const std::string letters = roles.result();
    const BufferRef place = result_place(letters, matrices * g.m * g.n);
    plan_->steps.push_back(
        {gemm::plan_packed_gemm(std::move(g), gemm::RightSide::plain, isa_, target_.threads),
         a.place, b.place, place});
    return dense(place, letters, [&](char letter) {
      return (a.find(letter) ? a.find(letter) : b.find(letter))->extent;
    });
  }

  Target target_;
  Isa isa_;
  std::vector<Tensor> operands_;
  std::string out_;
  std::unique_ptr<EinsumPlan> plan_ = std::make_unique<EinsumPlan>();
  size_t bytes_ = 0;   // of the workspace
  size_t joined_ = 0;  // products so far
};

}  // namespace

template <Isa isa>
PlanResult plan_einsum_products(const OpContext& context) {
  ANYNPU_ASSIGN(const Equation eq, equation_of(context));
  return Builder(context, eq, isa).build();
}

template <Isa isa>
Status can_run_einsum_products(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  for (const Operand& input : context.inputs) {
    if (element_count(input.shape) == 0) return fail(Code::unsupported_shape, "an empty operand");
  }
  return plan_einsum_products<isa>(context).status();
}

template Status can_run_einsum_products<Isa::avx512>(const OpContext&);
template Status can_run_einsum_products<Isa::avx2>(const OpContext&);
template Status can_run_einsum_products<Isa::baseline>(const OpContext&);
template PlanResult plan_einsum_products<Isa::avx512>(const OpContext&);
template PlanResult plan_einsum_products<Isa::avx2>(const OpContext&);
template PlanResult plan_einsum_products<Isa::baseline>(const OpContext&);

}  // namespace anynpu::ops::einsum
