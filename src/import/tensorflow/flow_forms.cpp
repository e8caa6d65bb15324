// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/flow_forms.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "import/tensorflow/attr_value.h"

namespace anynpu::tensorflow {

namespace {

// Visits of nodes in all; a file of nested regions could ask for the square of its size.
constexpr size_t kMostVisits = size_t{20} << 20;
constexpr int kMostRounds = 64;

bool is_op(const NodeDef& node, std::string_view name) {
  return node.op == name || (node.op.starts_with("Ref") && node.op.substr(3) == name);
}

// Of a branch: two ways by a truth, or several by a number.
bool is_switch(const NodeDef& node) { return is_op(node, "Switch") || node.op == "_SwitchN"; }

struct FlowLoop {
  std::string frame;
  std::vector<size_t> merges, constants;  // Merge nodes; Enter nodes of what does not change
  size_t condition = 0;                   // LoopCond
  std::vector<size_t> switches, nexts;    // of each merge
};

class FlowRebuilder {
 public:
  explicit FlowRebuilder(std::vector<NodeDef>& nodes) : nodes_(nodes) {}

  Status run() {
    for (size_t n = 0; n < nodes_.size(); ++n) index_.emplace(nodes_[n].name, n);
    ANYNPU_TRY(find_loops());
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (is_op(nodes_[n], "Merge") && !loop_merges_.contains(n)) branches_.push_back(n);
    }
    for (int round = 0; !loops_.empty() || !branches_.empty(); ++round) {
      const size_t before = loops_.size() + branches_.size();
      ANYNPU_TRY(rebuild_loops());
      ANYNPU_TRY(rebuild_branches());
      if (loops_.size() + branches_.size() == before || round > kMostRounds) return stuck();
    }
    return {};
  }

 private:
  // A place from where nodes are copied into a function, and what stands for links that leave it.
  struct Region {
    FunctionDef function;
    std::map<std::string, Link> replaced;  // "node:index" -> argument
    bool complete = true;                  // false: control flow inside is not rebuilt yet
  };

  const NodeDef* find(const std::string& name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &nodes_[found->second];
  }

  Status stuck() const {
    const size_t n = branches_.empty() ? loops_[0].merges[0] : branches_[0];
    return fail(Code::unsupported_feature,
                "the control flow at node '{}' ({}) is no loop of tf.while_loop and no branch of "
                "tf.cond or tf.switch_case; freeze the model again, or cut it with --out_nodes",
                nodes_[n].name, nodes_[n].op);
  }

  Status find_loops() {
    std::map<std::string, FlowLoop> frames;
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (!is_op(nodes_[n], "Enter")) continue;
      ANYNPU_ASSIGN(const std::string frame, text_attr(nodes_[n], "frame_name", ""));
      ANYNPU_ASSIGN(const bool constant, bool_attr(nodes_[n], "is_constant", false));
      enter_frames_[n] = frame;
      FlowLoop& loop = frames[frame];
      loop.frame = frame;
      if (constant) loop.constants.push_back(n);
    }
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (!is_op(nodes_[n], "Merge") || nodes_[n].inputs.size() != 2) continue;
      std::optional<size_t> enter, next;
      for (const Link& link : nodes_[n].inputs) {
        const auto found = index_.find(link.node);
        if (found == index_.end()) continue;
        if (is_op(nodes_[found->second], "Enter")) enter = found->second;
        if (is_op(nodes_[found->second], "NextIteration")) next = found->second;
      }
      if (!enter || !next) continue;
      FlowLoop& loop = frames[enter_frames_[*enter]];
      loop.merges.push_back(n);
      loop.nexts.push_back(*next);
      loop_merges_.insert(n);
    }
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (!is_op(nodes_[n], "Switch") || nodes_[n].inputs.size() != 2) continue;
      const NodeDef* condition = find(nodes_[n].inputs[1].node);
      if (condition && is_op(*condition, "LoopCond"))
        loop_switches_.emplace(n, index_.at(condition->name));
    }
    for (auto& [name, loop] : frames) {
      if (loop.merges.empty()) {
        return fail(Code::unsupported_feature,
                    "the loop '{}' has no variable that changes; freeze the model again", name);
      }
      for (size_t merge : loop.merges) {
        const auto found = std::find_if(
            loop_switches_.begin(), loop_switches_.end(),
            [&](const auto& s) { return nodes_[s.first].inputs[0].node == nodes_[merge].name; });
        if (found == loop_switches_.end()) {
          return fail(Code::corrupt_model,
                      "node '{}' of the loop '{}' has no Switch behind it; the "
                      "file is damaged",
                      nodes_[merge].name, name);
        }
        loop.switches.push_back(found->first);
        loop.condition = found->second;
      }
      // Enter nodes that no Merge reads do not change either.
      for (const auto& [enter, frame] : enter_frames_) {
        if (frame != name) continue;
        bool merged = false;
        for (size_t merge : loop.merges) {
          for (const Link& link : nodes_[merge].inputs)
            merged = merged || link.node == nodes_[enter].name;
        }
        if (!merged &&
            std::find(loop.constants.begin(), loop.constants.end(), enter) == loop.constants.end())
          loop.constants.push_back(enter);
      }
      loops_.push_back(std::move(loop));
    }
    return {};
  }

  // Copies what `results` need into the function of the region.
  Status copy_nodes(const std::vector<Link>& results, Region& region) {
    std::unordered_set<size_t> seen;
    std::vector<Link> waiting = results;
    const auto replace = [&](Link& link) {
      const auto found = region.replaced.find(to_text({link.node, link.index, {}}));
      if (found == region.replaced.end()) return false;
      link = found->second;
      return true;
    };
    while (!waiting.empty()) {
      Link link = waiting.back();
      waiting.pop_back();
      if (++visits_ > kMostVisits) {
        return fail(Code::limit_exceeded,
                    "the control flow of the model is too large; split the model");
      }
      if (replace(link)) continue;
      const auto found = index_.find(link.node);
      if (found == index_.end()) continue;  // lowering tells
      const NodeDef& node = nodes_[found->second];
      if (is_unresolved(found->second)) {
        region.complete = false;
        return {};
      }
      if (!seen.insert(found->second).second) continue;
      for (const Link& input : node.inputs) waiting.push_back(input);
    }
    for (size_t n : seen) {
      NodeDef node = nodes_[n];
      for (Link& input : node.inputs) replace(input);
      region.function.nodes.push_back(std::move(node));
    }
    for (Link result : results) {
      replace(result);
      region.function.results.push_back(std::move(result));
    }
    return {};
  }

  // Control flow that has no form yet.
  bool is_unresolved(size_t n) const {
    const NodeDef& node = nodes_[n];
    return is_op(node, "Merge") || is_op(node, "Exit") || is_op(node, "Enter") ||
           is_op(node, "NextIteration") || is_op(node, "LoopCond") || is_switch(node);
  }

  static Link argument(size_t k) { return {format("flow/argument_{}", k), 0, {}}; }
  static void add_arguments(size_t count, FunctionDef& function) {
    for (size_t k = 0; k < count; ++k) function.arguments.push_back({argument(k).node, 0});
  }

  Status rebuild_loops() {
    for (size_t l = 0; l < loops_.size();) {
      ANYNPU_ASSIGN(const bool done, rebuild_loop(loops_[l]));
      if (done) {
        loops_.erase(loops_.begin() + static_cast<ptrdiff_t>(l));
      } else {
        ++l;
      }
    }
    return {};
  }

  Result<bool> rebuild_loop(const FlowLoop& loop) {
    const size_t variables = loop.merges.size();
    Region condition, body;
    std::vector<Link> next, starts;
    for (size_t k = 0; k < variables; ++k) {
      const std::string& merge = nodes_[loop.merges[k]].name;
      condition.replaced[format("{}:0", merge)] = argument(k);
      body.replaced[format("{}:0", merge)] = argument(k);
      body.replaced[format("{}:1", nodes_[loop.switches[k]].name)] = argument(k);
      if (nodes_[loop.nexts[k]].inputs.size() != 1) return stuck();
      next.push_back(nodes_[loop.nexts[k]].inputs[0]);
      for (const Link& link : nodes_[loop.merges[k]].inputs) {
        const NodeDef* enter = find(link.node);
        if (!enter || !is_op(*enter, "Enter")) continue;
        if (enter->inputs.size() != 1) return stuck();
        starts.push_back(enter->inputs[0]);
      }
    }
    if (starts.size() != variables) return stuck();
    for (size_t c = 0; c < loop.constants.size(); ++c) {
      const NodeDef& enter = nodes_[loop.constants[c]];
      if (enter.inputs.size() != 1) return stuck();
      condition.replaced[format("{}:0", enter.name)] = argument(variables + c);
      body.replaced[format("{}:0", enter.name)] = argument(variables + c);
      next.push_back({enter.name, 0, {}});
      starts.push_back(enter.inputs[0]);
    }
    const NodeDef& loop_condition = nodes_[loop.condition];
    if (loop_condition.inputs.size() != 1) return stuck();
    ANYNPU_TRY(copy_nodes({loop_condition.inputs[0]}, condition));
    ANYNPU_TRY(copy_nodes(next, body));
    if (!condition.complete || !body.complete) return false;
    auto form = std::make_shared<FlowForm>();
    condition.function.name = loop.frame + "/cond";
    body.function.name = loop.frame + "/body";
    add_arguments(starts.size(), condition.function);
    add_arguments(starts.size(), body.function);
    form->cond = std::move(condition.function);
    form->body = std::move(body.function);
    NodeDef made;
    made.name = unique_name(loop.frame.empty() ? "while" : loop.frame);
    made.op = "While";
    made.inputs = std::move(starts);
    made.flow = std::move(form);
    // Exits now read the loop.
    for (size_t k = 0; k < variables; ++k) {
      const std::string switched = nodes_[loop.switches[k]].name;
      for (NodeDef& node : nodes_) {
        if (!is_op(node, "Exit") || node.inputs.size() != 1 || node.inputs[0].node != switched)
          continue;
        node.op = "Identity";
        node.inputs[0] = {made.name, k, {}};
      }
    }
    index_.emplace(made.name, nodes_.size());
    nodes_.push_back(std::move(made));
    return true;
  }

  std::string unique_name(std::string name) const {
    while (index_.contains(name)) name += "_flow";
    return name;
  }

  Status rebuild_branches() {
    for (size_t i = 0; i < branches_.size();) {
      ANYNPU_ASSIGN(const bool done, rebuild_branch(branches_[i]));
      if (done) {
        branches_.erase(branches_.begin() + static_cast<ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    return {};
  }

  // The Switch nodes that one side of a Merge comes from, by data and by order.
  struct Side {
    std::set<std::string> by_data;
    std::optional<Link> predicate;
    std::optional<size_t> taken;  // which output of the Switches
    bool by_number = false;       // they are _SwitchN
    bool complete = true;
  };

  Status note_switch(const NodeDef& node, size_t index, bool by_data, Side& side) {
    if (node.inputs.size() != 2) return stuck();
    if (by_data) side.by_data.insert(node.name);
    if (!side.predicate) {
      side.predicate = node.inputs[1];
      side.taken = index;
      side.by_number = node.op == "_SwitchN";
    }
    return {};
  }

  Result<Side> look_back(const Link& from) {
    Side side;
    std::unordered_set<std::string> seen;
    std::vector<std::pair<Link, bool>> waiting = {{from, true}};
    while (!waiting.empty()) {
      const auto [link, by_data] = waiting.back();
      waiting.pop_back();
      if (++visits_ > kMostVisits)
        return fail(Code::limit_exceeded, "the control flow of the model is too large; split it");
      const auto found = index_.find(link.node);
      if (found == index_.end()) continue;
      const NodeDef& node = nodes_[found->second];
      if (is_switch(node)) {
        // A variable of a loop around the branch is no Switch of the branch.
        if (!loop_switches_.contains(found->second))
          ANYNPU_TRY(note_switch(node, link.index, by_data, side));
        continue;
      }
      if (is_unresolved(found->second)) {
        if (by_data &&
            (is_op(node, "Merge") ? !loop_merges_.contains(found->second) : is_op(node, "Exit")))
          side.complete = false;
        continue;
      }
      if (!seen.insert(link.node + (by_data ? "+" : "-")).second) continue;
      for (const Link& input : node.inputs) waiting.push_back({input, by_data});
      for (const std::string& control : node.controls) waiting.push_back({{control, 0, {}}, false});
    }
    return side;
  }

  // The sides of a Merge by the output of the Switches they come from; empty: not to be told yet.
  Result<std::vector<Side>> sides_of(const NodeDef& merge) {
    const size_t count = merge.inputs.size();
    std::vector<Side> sides(count);
    std::vector<bool> given(count);
    std::optional<size_t> silent;
    const Side* told = nullptr;
    for (size_t i = 0; i < count; ++i) {
      ANYNPU_ASSIGN(sides[i], look_back(merge.inputs[i]));
      if (!sides[i].complete) return std::vector<Side>();
      if (!sides[i].predicate) {
        if (silent) return stuck();
        silent = i;
        continue;
      }
      if (*sides[i].taken >= count || given[*sides[i].taken]) return stuck();
      given[*sides[i].taken] = true;
      told = &sides[i];
    }
    if (!told) return stuck();
    // A side that tells nothing is the one that is left.
    if (silent) {
      Side& side = sides[*silent];
      side.predicate = told->predicate;
      side.by_number = told->by_number;
      side.taken =
          static_cast<size_t>(std::find(given.begin(), given.end(), false) - given.begin());
    }
    return sides;
  }

  Result<bool> rebuild_branch(size_t merge) {
    const size_t count = nodes_[merge].inputs.size();
    if (count < 2) return stuck();
    ANYNPU_ASSIGN(const std::vector<Side> sides, sides_of(nodes_[merge]));
    if (sides.empty()) return false;
    const bool by_number = sides[0].by_number;
    if (!by_number && count != 2) return stuck();
    NodeDef made;
    made.name = nodes_[merge].name;
    made.op = by_number ? "Case" : "If";
    made.inputs = {*sides[0].predicate};
    std::vector<Link> results(count);
    std::set<std::string> switches;
    for (size_t i = 0; i < count; ++i) {
      results[*sides[i].taken] = nodes_[merge].inputs[i];
      switches.insert(sides[i].by_data.begin(), sides[i].by_data.end());
    }
    std::vector<Region> ways(count);
    size_t k = 0;
    for (const std::string& name : switches) {
      for (size_t w = 0; w < count; ++w) ways[w].replaced[format("{}:{}", name, w)] = argument(k);
      made.inputs.push_back(find(name)->inputs[0]);
      ++k;
    }
    // Variables of a loop around the branch come in as they are.
    for (const auto& [loop_switch, condition] : loop_switches_) {
      const Link link{nodes_[loop_switch].name, 1, {}};
      if (std::none_of(results.begin(), results.end(),
                       [&](const Link& result) { return reads(result, link); }))
        continue;
      for (Region& way : ways) way.replaced[to_text(link)] = argument(k);
      made.inputs.push_back(link);
      ++k;
    }
    auto form = std::make_shared<FlowForm>();
    for (size_t w = 0; w < count; ++w) {
      ANYNPU_TRY(copy_nodes({results[w]}, ways[w]));
      if (!ways[w].complete) return false;
      ways[w].function.name = format("{}/branch_{}", made.name, w);
      add_arguments(k, ways[w].function);
    }
    if (by_number) {
      for (Region& way : ways) form->branches.push_back(std::move(way.function));
    } else {
      form->then_branch = std::move(ways[1].function);
      form->else_branch = std::move(ways[0].function);
    }
    made.flow = std::move(form);
    nodes_[merge] = std::move(made);
    return true;
  }

  static bool reads(const Link& result, const Link& link) {
    return result.node == link.node && result.index == link.index;
  }

  std::vector<NodeDef>& nodes_;
  std::unordered_map<std::string, size_t> index_;
  std::map<size_t, std::string> enter_frames_;
  std::unordered_set<size_t> loop_merges_;
  std::map<size_t, size_t> loop_switches_;  // to their LoopCond
  std::vector<FlowLoop> loops_;
  std::vector<size_t> branches_;
  size_t visits_ = 0;
};

}  // namespace

Status rebuild_flow(std::vector<NodeDef>& nodes) {
  const bool any = std::any_of(nodes.begin(), nodes.end(), [](const NodeDef& node) {
    return is_op(node, "Merge") || is_op(node, "Enter");
  });
  return any ? FlowRebuilder(nodes).run() : Status{};
}

}  // namespace anynpu::tensorflow
