// SPDX-License-Identifier: Apache-2.0
// A bottleneck by strips of output rows, so that the wide tensors inside of it never leave the
// caches of a core. A strip is
//   arranged   the input rows that it needs, as rows of 32 channels: the left side of the expansion
//   expanded   some panels of 32 channels at a time, into blocks of 16 as the depthwise rows want
//   filtered   by the depthwise convolution, into rows of 32 channels again: the left side of
//   projected  the last product.
// Rows that two strips need are expanded twice. Where an image has few pixels and many weights, the
// threads share the channels between them instead (parts), and the sums of the last product are
// added up in the end.
#include "ops/conv/bottleneck_amx.h"

#include <cstring>
#include <limits>

#include "base/align.h"
#include "ops/amx/product.h"
#include "ops/blocked_layout.h"
#include "ops/conv/bottleneck.h"
#include "ops/conv/conv.h"
#include "ops/conv/few_channels_amx.h"
#include "ops/plain_kernel.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::conv {

using namespace amx;

namespace {

// What one result of a convolution is made of.
int64_t window_size(const ConvShape& c) { return c.in_channels * element_count(c.window.kernel); }

// Of 1 x 1, over every pixel.
bool is_point(const ConvShape& c) {
  const Window& w = c.window;
  const auto all = [](const std::vector<int64_t>& list, int64_t value) {
    return std::all_of(list.begin(), list.end(), [=](int64_t v) { return v == value; });
  };
  return all(w.kernel, 1) && all(w.stride, 1) && all(w.pad_begin, 0) && all(w.pad_end, 0);
}

// The convolutions of a node; there is none that expands where `expand` has no window.
struct Convs {
  ConvShape expand, depthwise, project;
  Activation after_expand, after_depthwise, after_project;

  bool expands() const { return expand.out_channels > 0; }
  bool folded() const { return expands() && Fold::takes(expand); }
};

Result<Convs> convs_of(const OpContext& context) {
  ANYNPU_ASSIGN(const std::vector<StageConv> stages, stages_of(context));
  Convs convs;
  const std::array shapes = {&convs.expand, &convs.depthwise, &convs.project};
  const std::array activations = {&convs.after_expand, &convs.after_depthwise,
                                  &convs.after_project};
  for (const StageConv& conv : stages) {
    const auto at = static_cast<size_t>(conv.stage - kBottleneckStages.data());
    ANYNPU_ASSIGN(*shapes[at], conv_shape_of(conv.context));
    ANYNPU_ASSIGN(*activations[at], activation_of(conv.context));
  }
  return convs;
}

// Constants: [right side of the expansion][of the projection][biases of both][weights and biases of
// the depthwise convolution], each from a line of its own.
struct Packed {
  PackedB expand, project;
  int64_t blocks = 0, taps = 0;  // of the depthwise convolution

  explicit Packed(const Convs& convs)
      : expand{window_size(convs.expand), convs.expand.out_channels},
        project{convs.project.in_channels, convs.project.out_channels},
        blocks(ceil_div(convs.depthwise.out_channels, kBlock)),
        taps(element_count(convs.depthwise.window.kernel)) {}

  int64_t project_at() const { return expand.elements() * 2; }
  int64_t expand_bias_at() const { return project_at() + project.elements() * 2; }
  int64_t project_bias_at() const { return expand_bias_at() + expand.panels() * kPanel * 4; }
  int64_t filters_at() const { return project_bias_at() + project.panels() * kPanel * 4; }
  int64_t filter_bias_at() const { return filters_at() + blocks * taps * kBlock * 4; }
  int64_t bytes() const { return filter_bias_at() + blocks * kBlock * 4; }
};

// How the work is cut.
struct Strips {
  int64_t rows = 1;    // output rows of a strip
  int64_t strips = 1;  // of an image
  int64_t parts = 1;   // of the channels between the convolutions
  int64_t panels = 1;  // of them that are expanded at a time
};

struct AmxBottleneckPlan final : KernelPlan {
  const Engine* engine = nullptr;
  Packed packed;
  Convs convs;
  Strips cut;
  Fold fold;
  ShortLaneRows filter;  // what all rows have in common
  int64_t pad_top = 0, in_h = 0, in_w = 0, out_h = 0, out_w = 0;
  int64_t in_blocks = 0, out_blocks = 0;
  // Of a strip: pixels of the input and of the output, rounded up to whole panels.
  int64_t in_span = 0, out_span = 0;
  std::vector<int64_t> project_at;  // steps of the last product

  explicit AmxBottleneckPlan(const Convs& all) : packed(all), convs(all) {}

  int64_t mid_panels() const { return packed.project.steps(); }
  int64_t part_panels() const { return ceil_div(mid_panels(), cut.parts); }
  int64_t arranged_bytes() const {
    const int64_t folding = convs.folded() ? fold.scratch_bytes() : 0;
    return convs.expands() ? packed.expand.steps() * in_span * kDepth * 2 + folding : 0;
  }
  int64_t expanded_bytes() const { return convs.expands() ? cut.panels * in_span * kDepth * 2 : 0; }
  int64_t filtered_bytes() const { return part_panels() * out_span * kDepth * 2; }
  // The sums of a part lie where its input did, in lines that its thread has already.
  int64_t sum_bytes() const {
    return cut.parts == 1 ? 0 : out_span / kPanel * packed.project.panels() * kBlockSums * 4;
  }
  int64_t filtered_at() const { return std::max(arranged_bytes() + expanded_bytes(), sum_bytes()); }
  int64_t scratch_bytes() const { return filtered_at() + filtered_bytes(); }
  size_t threads = 1;  // Target::threads
  // Sums are read by other threads: then each task has its own memory, not each thread.
  int64_t scratches() const { return cut.parts == 1 ? slots() : tasks(); }

  struct Strip {
    int64_t image, first, last;  // output rows
    int64_t top, end;            // input rows
    int64_t first_panel, end_panel;
  };
  Strip strip_of(int64_t task) const {
    const int64_t part = task % cut.parts, strip = task / cut.parts;
    Strip s;
    s.image = strip / cut.strips;
    s.first = strip % cut.strips * cut.rows;
    s.last = std::min(out_h, s.first + cut.rows);
    const int64_t reach = (filter.kernel_h - 1) * filter.dilation_h + 1;
    s.top = std::clamp<int64_t>(s.first * filter.stride_h - pad_top, 0, in_h);
    s.end = std::clamp<int64_t>((s.last - 1) * filter.stride_h - pad_top + reach, s.top, in_h);
    s.first_panel = part * part_panels();
    s.end_panel = std::min(mid_panels(), s.first_panel + part_panels());
    return s;
  }

  static void set_clamp(const Activation& activation, Epilogue& epilogue) {
    epilogue.clamp = activation.on;
    epilogue.min = activation.min;
    epilogue.max = activation.max;
  }
  static PixelProduct product_of(const Activation& activation) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    PixelProduct product;
    product.min = activation.on ? activation.min : -infinity;
    product.max = activation.on ? activation.max : infinity;
    return product;
  }
  const float* floats_at(const RunArgs& args, int64_t at) const {
    return reinterpret_cast<const float*>(args.packed + at);
  }

  // The rows that the expansion multiplies.
  void arrange(const RunArgs& args, const Strip& s, std::byte* scratch) const {
    BF16* const to = reinterpret_cast<BF16*>(scratch);
    if (convs.folded()) {
      return fold.run(*engine, input_of<BF16>(args, kBlockInput), s.image, s.top, s.end,
                      to + packed.expand.steps() * in_span * kDepth, to);
    }
    const int64_t plane = in_h * in_w * kBlock;
    for (int64_t step = 0; step < packed.expand.steps(); ++step) {
      const BF16* from = input_of<BF16>(args, kBlockInput) +
                         (s.image * in_blocks + 2 * step) * plane + s.top * in_w * kBlock;
      engine->join_units(from, 2 * step + 1 < in_blocks ? plane : 0, kBlock, (s.end - s.top) * in_w,
                         to + step * in_span * kDepth);
    }
  }

  void expand(const RunArgs& args, const Strip& s, int64_t panel, int64_t panels,
              const std::byte* arranged, BF16* expanded) const {
    PixelProduct p = product_of(convs.after_expand);
    p.a = reinterpret_cast<const BF16*>(arranged);
    p.a_step = in_span * kDepth;
    p.b_panel = packed.expand.panel_elements();
    p.b = reinterpret_cast<const BF16*>(args.packed) + panel * p.b_panel;
    p.bias = floats_at(args, packed.expand_bias_at()) + panel * kPanel;
    p.out = expanded;
    p.block_step = in_span * kBlock;
    p.pixels = (s.end - s.top) * in_w;
    p.blocks = std::min(packed.blocks - 2 * panel, 2 * panels);
    p.steps = packed.expand.steps();
    engine->multiply_pixels(p);
  }

  // One block of 16 channels from `plane`, whose first row is the image's, into every other half of
  // the rows at `to`.
  void filter_block(const RunArgs& args, const Strip& s, int64_t block, const BF16* plane,
                    BF16* to) const {
    ShortLaneRows rows = filter;
    rows.in = plane;
    rows.weights = floats_at(args, packed.filters_at()) + block * packed.taps * kBlock;
    rows.bias = floats_at(args, packed.filter_bias_at()) + block * kBlock;
    const int64_t count = s.last - s.first, bands = ceil_div(count, kShortRows);
    for (int64_t band = 0; band < bands; ++band) {
      const int64_t first = band * count / bands;
      rows.rows = (band + 1) * count / bands - first;
      rows.y = (s.first + first) * filter.stride_h - pad_top;
      rows.out = to + first * out_w * kDepth;
      engine->depthwise_rows(rows);
    }
  }

  void filter_panels(const RunArgs& args, const Strip& s, int64_t panel, int64_t panels,
                     const BF16* expanded, BF16* filtered) const {
    const int64_t plane = in_h * in_w * kBlock;
    for (int64_t block = 2 * panel; block < 2 * (panel + panels); ++block) {
      BF16* to = filtered + (block / 2 - s.first_panel) * out_span * kDepth + block % 2 * kBlock;
      if (block >= packed.blocks) {  // what has no channels is multiplied by zeros
        for (int64_t i = 0; i < (s.last - s.first) * out_w; ++i)
          std::fill_n(to + i * kDepth, kBlock, BF16{});
        continue;
      }
      const BF16* from =
          convs.expands()
              ? expanded + (block - 2 * panel) * in_span * kBlock - s.top * in_w * kBlock
              : input_of<BF16>(args, kBlockInput) + (s.image * packed.blocks + block) * plane;
      filter_block(args, s, block, from, to);
    }
  }

  Epilogue epilogue_of(const RunArgs& args, const Strip& s) const {
    const int64_t plane = out_h * out_w * kBlock;
    const int64_t at = s.image * out_blocks * plane + s.first * out_w * kBlock;
    const bool added = args.inputs.size() > kBlockResidual && args.inputs[kBlockResidual];
    Epilogue epilogue;
    epilogue.bias = floats_at(args, packed.project_bias_at());
    epilogue.residual = added ? input_of<BF16>(args, kBlockResidual) + at : nullptr;
    epilogue.out = output_of<BF16>(args, 0) + at;
    epilogue.row_step = kBlock;
    epilogue.tile_step = plane;
    epilogue.rows = (s.last - s.first) * out_w;
    epilogue.columns = out_blocks * kBlock;
    set_clamp(convs.after_project, epilogue);
    return epilogue;
  }

  void project(const RunArgs& args, const Strip& s, std::byte* scratch) const {
    const std::byte* const filtered = scratch + filtered_at();
    const Epilogue epilogue = epilogue_of(args, s);
    const BF16* b = reinterpret_cast<const BF16*>(args.packed + packed.project_at()) +
                    s.first_panel * kStepElements;
    if (cut.parts == 1) {
      PixelProduct p = product_of(convs.after_project);
      p.a = reinterpret_cast<const BF16*>(filtered);
      p.a_step = out_span * kDepth;
      p.b = b;
      p.b_panel = packed.project.panel_elements();
      p.bias = epilogue.bias;
      p.residual = epilogue.residual;
      p.out = epilogue.out;
      p.block_step = epilogue.tile_step;
      p.pixels = epilogue.rows;
      p.blocks = out_blocks;
      p.steps = s.end_panel - s.first_panel;
      return engine->multiply_pixels(p);
    }
    Job job;
    job.a = filtered;
    job.row_bytes = kDepth * 2;
    job.panel_bytes = kPanel * job.row_bytes;
    job.step_at = project_at.data();
    job.b = b;
    job.b_panel = packed.project.panel_elements();
    job.row_panels = ceil_div(epilogue.rows, kPanel);
    job.column_panels = packed.project.panels();
    job.columns_outside = true;
    job.steps = s.end_panel - s.first_panel;
    job.last = false;
    job.sums = reinterpret_cast<float*>(scratch);
    job.epilogue = &epilogue;
    engine->multiply(job);
  }

  int64_t slots() const { return static_cast<int64_t>(threads); }
  int64_t tasks() const { return convs.depthwise.batch * cut.strips * cut.parts; }

  void run_strip(const RunArgs& args, const Strip& s, std::byte* scratch) const {
    std::byte* const filtered = scratch + filtered_at();
    auto* const expanded = reinterpret_cast<BF16*>(scratch + arranged_bytes());
    if (convs.expands()) arrange(args, s, scratch);
    for (int64_t panel = s.first_panel; panel < s.end_panel; panel += cut.panels) {
      const int64_t panels = std::min(cut.panels, s.end_panel - panel);
      if (convs.expands()) expand(args, s, panel, panels, scratch, expanded);
      filter_panels(args, s, panel, panels, expanded, reinterpret_cast<BF16*>(filtered));
    }
    project(args, s, scratch);
  }

  // 32 rows of the results of a strip, from the sums of its parts.
  void add_parts(const RunArgs& args, int64_t task) const {
    const int64_t panels = out_span / kPanel;
    const int64_t first = task / panels * cut.parts;
    const Strip s = strip_of(first);
    const Epilogue epilogue = epilogue_of(args, s);
    Job job;
    job.row = task % panels * kPanel;
    job.row_panels = 1;
    job.column_panels = packed.project.panels();
    std::byte* const sums = thread_scratch(args, static_cast<size_t>(first));
    job.sums = reinterpret_cast<float*>(sums) + task % panels * job.column_panels * kBlockSums;
    job.epilogue = &epilogue;
    const int64_t step = thread_scratch(args, static_cast<size_t>(first + 1)) - sums;
    engine->add_sums(job, cut.parts, step / 4);
  }

  Status run(const RunArgs& args) const override {
    parallel_slots(threads, static_cast<size_t>(tasks()), [&](size_t task, size_t slot) {
      const auto number = static_cast<int64_t>(task);
      const int64_t own = cut.parts == 1 ? static_cast<int64_t>(slot) : number;
      run_strip(args, strip_of(number), thread_scratch(args, static_cast<size_t>(own)));
    });
    if (cut.parts == 1) return {};
    parallel_tasks(static_cast<size_t>(tasks() / cut.parts * (out_span / kPanel)),
                   [&](size_t task) { add_parts(args, static_cast<int64_t>(task)); });
    return {};
  }
};

Strips cut_strips(const Convs& convs, int64_t threads) {
  constexpr int64_t kFewPixels = 400;  // of an image, with more weights than pixels to read
  // Of a panel of expanded rows, and of all filtered ones: both stay in the second-level cache.
  constexpr int64_t kExpandedBytes = 240 << 10, kFilteredBytes = 1 << 20;
  const Window& window = convs.depthwise.window;
  const int64_t batch = std::max<int64_t>(1, convs.depthwise.batch);
  const int64_t rows = std::max<int64_t>(1, window.out[0]);
  const int64_t panels = ceil_div(convs.depthwise.out_channels, kDepth);
  Strips cut;
  cut.rows = rows;
  if (window.in[0] * window.in[1] <= kFewPixels) {
    const int64_t parts = std::clamp<int64_t>(ceil_div(threads, batch), 1, panels);
    cut.parts = batch < threads ? ceil_div(panels, ceil_div(panels, parts)) : 1;  // none is empty
    cut.panels = ceil_div(panels, cut.parts);
    return cut;
  }
  const int64_t expanded = std::max<int64_t>(1, window.in[1] * window.stride[0]) * kDepth * 2;
  const int64_t filtered = std::max<int64_t>(1, window.out[1] * panels) * kDepth * 2;
  const int64_t most =
      std::clamp<int64_t>(std::min(kExpandedBytes / expanded, kFilteredBytes / filtered), 1, rows);
  cut.rows = ceil_div(rows, round_up(ceil_div(rows, most), std::max<int64_t>(1, threads / batch)));
  cut.strips = ceil_div(rows, cut.rows);
  return cut;
}

class AmxBottleneck final : public Kernel {
 public:
  AmxBottleneck(const Engine& engine, const Convs& convs) : engine_(engine), packed_(convs) {}

  size_t packed_bytes() const override { return static_cast<size_t>(packed_.bytes()); }
  bool packs_input(size_t input) const override {
    return input != kBlockInput && input != kBlockResidual;
  }

  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    const auto place = [&](int64_t at) { return packed.data() + at; };
    std::memset(packed.data(), 0, packed.size());
    const auto& [expand, depthwise, project] = kBottleneckStages;
    if (packed_.expand.n > 0) {
      pack_right(context, expand, packed_.expand, place(0), place(packed_.expand_bias_at()));
    }
    pack_right(context, project, packed_.project, place(packed_.project_at()),
               place(packed_.project_bias_at()));
    pack_filters(context, depthwise.weight, packed_.taps, place(packed_.filters_at()));
    pack_filters(context, depthwise.bias, 1, place(packed_.filter_bias_at()));
    return {};
  }

  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(const Convs convs, convs_of(context));
    auto plan = std::make_unique<AmxBottleneckPlan>(convs);
    plan->threads = context.target.threads;
    const Window& w = convs.depthwise.window;
    plan->engine = &engine_;
    plan->in_h = w.in[0], plan->in_w = w.in[1], plan->out_h = w.out[0], plan->out_w = w.out[1];
    plan->pad_top = w.pad_begin[0];
    plan->in_blocks = ceil_div(context.inputs[kBlockInput].shape[1], kBlock);
    plan->out_blocks = ceil_div(convs.project.out_channels, kBlock);
    if (convs.folded()) plan->fold = Fold(convs.expand);
    plan->filter = filter_of(w, convs.after_depthwise);
    const bool empty = element_count(context.outputs[0].shape) == 0;
    if (empty) plan->convs.depthwise.batch = 0;
    plan->cut = cut_strips(plan->convs, plan->slots());
    const int64_t reach = (w.kernel[0] - 1) * w.dilation[0] + 1;
    const int64_t in_rows = std::min(w.in[0], (plan->cut.rows - 1) * w.stride[0] + reach);
    plan->in_span = round_up(in_rows * w.in[1], kPanel);
    plan->out_span = round_up(plan->cut.rows * w.out[1], kPanel);
    for (int64_t step = 0; step < plan->part_panels(); ++step)
      plan->project_at.push_back(step * plan->out_span * kDepth * 2);
    plan->add_thread_scratch(static_cast<size_t>(plan->scratches()),
                             static_cast<size_t>(plan->scratch_bytes()));
    plan->input_layouts.assign(context.inputs.size(), Layout::plain);
    plan->input_layouts[kBlockResidual] = Layout::blocked16;
    if (!convs.folded()) plan->input_layouts[kBlockInput] = Layout::blocked16;
    plan->output_layouts = {Layout::blocked16};
    return std::unique_ptr<KernelPlan>(std::move(plan));
  }

 private:
  static ShortLaneRows filter_of(const Window& w, const Activation& activation) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    ShortLaneRows rows;
    rows.in_h = w.in[0], rows.in_w = w.in[1], rows.out_w = w.out[1];
    rows.out_pixel = kDepth;
    rows.x = -w.pad_begin[1];
    rows.kernel_h = w.kernel[0], rows.kernel_w = w.kernel[1];
    rows.stride_h = w.stride[0], rows.stride_w = w.stride[1];
    rows.dilation_h = w.dilation[0], rows.dilation_w = w.dilation[1];
    rows.min = activation.on ? activation.min : -infinity;
    rows.max = activation.on ? activation.max : infinity;
    return rows;
  }

  static void pack_right(const OpContext& context, const BottleneckStage& stage,
                         const PackedB& right, std::byte* weights, std::byte* bias) {
    const auto constant = [&](int input) {
      return context.inputs[static_cast<size_t>(input)].constant.data();
    };
    const BF16* weight = reinterpret_cast<const BF16*>(constant(stage.weight));
    const int64_t channels = context.inputs[static_cast<size_t>(stage.weight)].shape[1];
    const int64_t taps = right.k / channels;
    parallel_tasks(static_cast<size_t>(right.panels()), [&](size_t panel) {
      right.pack_panel(
          static_cast<int64_t>(panel),
          [&](int64_t k, int64_t column) {  // [tap][channel]
            return weight[(column * channels + k % channels) * taps + k / channels];
          },
          reinterpret_cast<BF16*>(weights));
    });
    if (context.has_input(static_cast<size_t>(stage.bias))) {
      widen(DType::bf16, constant(stage.bias), reinterpret_cast<float*>(bias),
            static_cast<size_t>(right.n));
    }
  }

  // [block][tap][16], from [channel][tap].
  static void pack_filters(const OpContext& context, int input, int64_t taps, std::byte* to) {
    const Operand& from = context.inputs[static_cast<size_t>(input)];
    if (!from.present) return;
    const BF16* weight = reinterpret_cast<const BF16*>(from.constant.data());
    float* packed = reinterpret_cast<float*>(to);
    for (int64_t c = 0; c < from.shape[0]; ++c) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        packed[(c / kBlock * taps + tap) * kBlock + short_lane(c % kBlock)] =
            to_float(weight[c * taps + tap]);
      }
    }
  }

  const Engine& engine_;
  Packed packed_;
};

}  // namespace

Status check_amx_bottleneck(const OpContext& context) {
  ANYNPU_ASSIGN(const Convs convs, convs_of(context));
  if (convs.expands() && !is_point(convs.expand) && !Fold::takes(convs.expand))
    return fail(Code::unsupported_shape, "the expansion is neither 1 x 1 nor a window of 32");
  if (!is_point(convs.project)) return fail(Code::unsupported_shape, "the projection is not 1 x 1");
  return context.check_constants(kBlockInput + 1, kBlockResidual - 1, "weight or bias");
}

Status can_run_amx_bottleneck(const OpContext& context) {
  ANYNPU_TRY(check_amx());
  return check_amx_bottleneck(context);
}

template <const Engine& (*engine)()>
Result<std::unique_ptr<Kernel>> create_amx_bottleneck(const OpContext& context) {
  ANYNPU_ASSIGN(const Convs convs, convs_of(context));
  return std::unique_ptr<Kernel>(std::make_unique<AmxBottleneck>(engine(), convs));
}

template Result<std::unique_ptr<Kernel>> create_amx_bottleneck<amx_engine>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_amx_bottleneck<software_engine>(const OpContext&);

}  // namespace anynpu::ops::conv
