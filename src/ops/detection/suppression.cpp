// SPDX-License-Identifier: Apache-2.0
// Suppression of boxes with outputs of a fixed size, domain anynpu.
//   SoftNonMaxSuppression(boxes, scores): boxes of one class by descending score. A box that
//     overlaps more than `iou` with one chosen before is dropped; with `sigma` above 0, its score
//     is lowered instead, by the overlap. With `overlaps` the first input is a matrix of how much
//     each two boxes overlap.
//     Outputs: indices and scores, padded with zeros, and the number of
//     chosen boxes.
//   CombinedNonMaxSuppression(boxes, scores): the best of all classes for each picture.
#include <algorithm>
#include <cmath>

#include "ops/detection/detection.h"
#include "ops/registry.h"

namespace anynpu::ops::detection {

namespace {

constexpr int64_t kMostBoxes = int64_t{1} << 24;

// Part of both boxes that they share; corners in any order.
float shared_part(const float* a, const float* b) {
  const float ay0 = std::min(a[0], a[2]), ax0 = std::min(a[1], a[3]), ay1 = std::max(a[0], a[2]),
              ax1 = std::max(a[1], a[3]);
  const float by0 = std::min(b[0], b[2]), bx0 = std::min(b[1], b[3]), by1 = std::max(b[0], b[2]),
              bx1 = std::max(b[1], b[3]);
  const float area_a = (ay1 - ay0) * (ax1 - ax0), area_b = (by1 - by0) * (bx1 - bx0);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::max(std::min(ay1, by1) - std::max(ay0, by0), 0.0f),
              width = std::max(std::min(ax1, bx1) - std::max(ax0, bx0), 0.0f);
  const float both = height * width;
  return both / (area_a + area_b - both);
}

struct Candidate {
  float score;
  int32_t index;
  int32_t compared;  // with so many of the chosen ones
};

// The better one comes last in a heap's order: by score, then by the smaller index.
bool is_worse(const Candidate& a, const Candidate& b) {
  return a.score != b.score ? a.score < b.score : a.index > b.index;
}

struct Choice {
  float iou = 0.5f, least = 0, sigma = 0;
};

// Chooses at most `most` of the candidates, which are a heap; calls take(candidate) for each.
// shared(i, k) is how much two boxes overlap.
template <typename Shared, typename Take>
int64_t choose(Candidate* heap, int64_t count, Shared&& shared, int64_t most, const Choice& choice,
               int32_t* chosen, Take&& take) {
  int64_t found = 0;
  const bool soft = choice.sigma > 0;
  const float falloff = soft ? -0.5f / choice.sigma : 0;
  std::make_heap(heap, heap + count, is_worse);
  while (found < most && count > 0) {
    std::pop_heap(heap, heap + count, is_worse);
    Candidate next = heap[--count];
    const float before = next.score;
    bool dropped = false;
    for (int64_t k = found - 1; k >= next.compared; --k) {
      const float part = shared(next.index, chosen[k]);
      if (!soft && part > choice.iou) {
        dropped = true;
        break;
      }
      if (soft) next.score *= std::exp(falloff * part * part);
      if (next.score <= choice.least) break;
    }
    next.compared = static_cast<int32_t>(found);
    if (dropped) continue;
    if (next.score == before) {
      chosen[found++] = next.index;
      take(next);
    } else if (next.score > choice.least) {
      heap[count++] = next;
      std::push_heap(heap, heap + count, is_worse);
    }
  }
  return found;
}

Status soft_rule(OpContext& context) {
  const Operand &boxes = context.inputs[0], &scores = context.inputs[1];
  const int64_t most = context.int_attr("most");
  if (most < 0 || most > kMostBoxes)
    return fail(Code::invalid_argument, "{}: it chooses {} boxes, expected 0 to {}",
                context.label(), most, kMostBoxes);
  const bool overlaps = context.int_attr("overlaps") != 0;
  const bool fits = boxes.rank() == 2 && scores.rank() == 1 && boxes.shape[0] == scores.shape[0] &&
                    boxes.shape[1] == (overlaps ? boxes.shape[0] : 4);
  if (boxes.fully_known() && scores.fully_known() && !fits) {
    return fail(Code::shape_mismatch, "{}: {} {} with scores {}, expected N, {} and N",
                context.label(), overlaps ? "overlaps" : "boxes", to_string(boxes.shape),
                to_string(scores.shape), overlaps ? "N" : "4");
  }
  const auto set = [&](size_t i, DType dtype, Shape shape) {
    if (i >= context.outputs.size()) return;
    context.outputs[i].dtype = dtype;
    context.outputs[i].shape = std::move(shape);
    context.outputs[i].has_shape = true;
  };
  set(0, DType::i32, {most});
  set(1, DType::f32, {most});
  set(2, DType::i32, {});
  return {};
}

Choice choice_of(const OpContext& context) {
  return {context.float_attr("iou"), context.float_attr("least"), context.float_attr("sigma")};
}

PlanResult plan_soft(const OpContext& context) {
  const int64_t boxes = context.inputs[0].shape[0], most = context.int_attr("most");
  const Choice choice = choice_of(context);
  const size_t outputs = context.outputs.size();
  const bool overlaps = context.int_attr("overlaps") != 0;
  auto plan = make_plan([=](const RunArgs& args) {
    auto* heap = reinterpret_cast<Candidate*>(args.workspace);
    auto* chosen = reinterpret_cast<int32_t*>(heap + boxes);
    const auto* scores = input_of<float>(args, 1);
    int64_t count = 0;
    for (int64_t i = 0; i < boxes; ++i) {
      if (scores[i] > choice.least) heap[count++] = {scores[i], static_cast<int32_t>(i), 0};
    }
    auto* indices = output_of<int32_t>(args, 0);
    float* values = outputs > 1 ? output_of<float>(args, 1) : nullptr;
    std::fill_n(indices, most, 0);
    if (values) std::fill_n(values, most, 0.0f);
    int64_t at = 0;
    const auto* given = input_of<float>(args, 0);
    const auto shared = [&](int64_t i, int64_t k) {
      return overlaps ? given[i * boxes + k] : shared_part(given + i * 4, given + k * 4);
    };
    const int64_t found =
        choose(heap, count, shared, most, choice, chosen, [&](const Candidate& one) {
          indices[at] = one.index;
          if (values) values[at] = one.score;
          ++at;
        });
    if (outputs > 2) *output_of<int32_t>(args, 2) = static_cast<int32_t>(found);
  });
  plan->workspace_bytes = static_cast<size_t>(boxes) * sizeof(Candidate) +
                          static_cast<size_t>(std::max(boxes, most)) * sizeof(int32_t);
  return plan;
}

Status combined_rule(OpContext& context) {
  const Operand &boxes = context.inputs[0], &scores = context.inputs[1];
  const int64_t per_class = context.int_attr("most_per_class"), total = context.int_attr("most");
  if (per_class < 1 || total < 1 || per_class > kMostBoxes || total > kMostBoxes) {
    return fail(Code::invalid_argument,
                "{}: it chooses {} boxes of each class and {} in all, expected 1 to {}",
                context.label(), per_class, total, kMostBoxes);
  }
  for (size_t i = 0; i < context.outputs.size(); ++i)
    context.outputs[i].dtype = i == 3 ? DType::i32 : DType::f32;
  if (!boxes.fully_known() || !scores.fully_known()) return {};
  if (boxes.rank() != 4 || scores.rank() != 3 || boxes.shape[3] != 4 ||
      boxes.shape[0] != scores.shape[0] || boxes.shape[1] != scores.shape[1] ||
      (boxes.shape[2] != 1 && boxes.shape[2] != scores.shape[2])) {
    return fail(Code::shape_mismatch,
                "{}: boxes {} with scores {}, expected N, B, 1 or C, 4 and N, B, C",
                context.label(), to_string(boxes.shape), to_string(scores.shape));
  }
  const int64_t rows =
      context.int_attr("pad_per_class") != 0 ? std::min(total, per_class * scores.shape[2]) : total;
  const Shape shapes[] = {
      {boxes.shape[0], rows, 4}, {boxes.shape[0], rows}, {boxes.shape[0], rows}, {boxes.shape[0]}};
  for (size_t i = 0; i < context.outputs.size() && i < 4; ++i) {
    context.outputs[i].shape = shapes[i];
    context.outputs[i].has_shape = true;
  }
  return {};
}

struct PickedBox {
  float score;
  int32_t label, index;
};

struct Combined {
  Shape boxes, scores;
  int64_t per_class = 0, rows = 0;
  Choice choice;
  bool clip = true;

  void operator()(const RunArgs& args) const {
    const int64_t count = scores[1], classes = scores[2], kinds = boxes[2];
    auto* heap = reinterpret_cast<Candidate*>(args.workspace);
    auto* chosen = reinterpret_cast<int32_t*>(heap + count);
    auto* found = reinterpret_cast<PickedBox*>(chosen + std::max(count, per_class));
    for (int64_t n = 0; n < boxes[0]; ++n) {
      const float* box = input_of<float>(args, 0) + n * count * kinds * 4;
      const float* score = input_of<float>(args, 1) + n * count * classes;
      int64_t all = 0;
      for (int64_t c = 0; c < classes; ++c) {
        int64_t waiting = 0;
        for (int64_t i = 0; i < count; ++i) {
          const float s = score[i * classes + c];
          if (s > choice.least) heap[waiting++] = {s, static_cast<int32_t>(i), 0};
        }
        const float* own = box + (kinds == 1 ? 0 : c * 4);
        const auto shared = [&](int64_t i, int64_t k) {
          return shared_part(own + i * kinds * 4, own + k * kinds * 4);
        };
        choose(heap, waiting, shared, std::min(per_class, count), choice, chosen,
               [&](const Candidate& one) {
                 found[all++] = {one.score, static_cast<int32_t>(c), one.index};
               });
      }
      std::sort(found, found + all, [](const PickedBox& a, const PickedBox& b) {
        if (a.score != b.score) return a.score > b.score;
        return a.label != b.label ? a.label < b.label : a.index < b.index;
      });
      write(args, n, box, found, std::min(all, rows), kinds);
    }
  }

  void write(const RunArgs& args, int64_t n, const float* box, const PickedBox* found, int64_t used,
             int64_t kinds) const {
    float* out_boxes = output_of<float>(args, 0) + n * rows * 4;
    float* out_scores = output_of<float>(args, 1) + n * rows;
    float* out_classes = output_of<float>(args, 2) + n * rows;
    for (int64_t r = 0; r < rows; ++r) {
      const bool there = r < used;
      out_scores[r] = there ? found[r].score : 0;
      out_classes[r] = there ? static_cast<float>(found[r].label) : 0;
      for (int64_t k = 0; k < 4; ++k) {
        float at = 0;
        if (there) at = box[(found[r].index * kinds + (kinds == 1 ? 0 : found[r].label)) * 4 + k];
        out_boxes[r * 4 + k] = clip ? std::min(std::max(at, 0.0f), 1.0f) : at;
      }
    }
    output_of<int32_t>(args, 3)[n] = static_cast<int32_t>(used);
  }
};

PlanResult plan_combined(const OpContext& context) {
  Combined run{.boxes = context.inputs[0].shape,
               .scores = context.inputs[1].shape,
               .per_class = context.int_attr("most_per_class"),
               .rows = context.outputs[0].shape[1],
               .choice = choice_of(context),
               .clip = context.int_attr("clip") != 0};
  const int64_t count = run.scores[1], classes = run.scores[2];
  const size_t bytes =
      static_cast<size_t>(count) * sizeof(Candidate) +
      static_cast<size_t>(std::max(count, run.per_class)) * sizeof(int32_t) +
      static_cast<size_t>(std::min(run.per_class, count) * classes) * sizeof(PickedBox);
  auto plan = make_plan(std::move(run));
  plan->workspace_bytes = bytes;
  return plan;
}

}  // namespace

void register_suppression(Registry& registry) {
  registry.add(OpSchema{.name = "SoftNonMaxSuppression",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"boxes", "T"}, {"scores", "T"}},
                        .outputs = {{"indices", "I"},
                                    {"chosen_scores", "T", Presence::optional},
                                    {"count", "I", Presence::optional}},
                        .types = {{"T", {DType::f32}}, {"I", {DType::i32}}},
                        .attrs = {{"most", AttrKind::i, {}, true},
                                  {"iou", AttrKind::f, 0.5f},
                                  {"least", AttrKind::f, 0.0f},
                                  {"sigma", AttrKind::f, 0.0f},
                                  {"overlaps", AttrKind::i, int64_t{0}}},
                        .traits = OpTraits::general(),
                        .shape = soft_rule});
  registry.add(KernelDef{.op = "SoftNonMaxSuppression",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = {DType::f32},
                         .create = create_plain<plan_soft>});
  registry.add(OpSchema{
      .name = "CombinedNonMaxSuppression",
      .domain = "anynpu",
      .since = 1,
      .inputs = {{"boxes", "T"}, {"scores", "T"}},
      .outputs = {{"chosen_boxes", "T"}, {"chosen_scores", "T"}, {"classes", "T"}, {"count", "I"}},
      .types = {{"T", {DType::f32}}, {"I", {DType::i32}}},
      .attrs = {{"most_per_class", AttrKind::i, {}, true},
                {"most", AttrKind::i, {}, true},
                {"iou", AttrKind::f, 0.5f},
                {"least", AttrKind::f, 0.0f},
                {"sigma", AttrKind::f, 0.0f},
                {"pad_per_class", AttrKind::i, int64_t{0}},
                {"clip", AttrKind::i, int64_t{1}}},
      .traits = OpTraits::general(),
      .shape = combined_rule});
  registry.add(KernelDef{.op = "CombinedNonMaxSuppression",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = {DType::f32},
                         .create = create_plain<plan_combined>});
}

}  // namespace anynpu::ops::detection
