// SPDX-License-Identifier: Apache-2.0
// Runs every case of the onnx package in every wrong way that variants.h makes of it:
//     wrong_cases FOLDER [--share I/N] [--every K] [-k TEXT] [-v]
// FOLDER is what tests/python/onnx_backend/cases.py writes. --share takes each N-th case, --every
// each K-th variant. Work is done by a child: when it crashes or hangs, the variant is named and
// the next child goes on behind it. Exit code 1 when there was one.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "import/onnx/onnx.h"
#include "import/onnx/tensor_proto.h"
#include "run_variant.h"
#include "variants.h"

namespace {

using namespace anynpu;
using namespace anynpu::hostile;
namespace fs = std::filesystem;

constexpr int kMostSeconds = 60;  // of one variant

struct Arguments {
  std::string folder, text;
  size_t share = 0, shares = 1, every = 1;
  bool verbose = false;
};

// Where a child is: read by its parent when it has ended.
struct Progress {
  std::atomic<size_t> at{0};  // cases before this one are done
  std::atomic<size_t> variant{0};
  std::atomic<size_t> ran{0}, refused{0}, wrong{0};
  char name[512];
};

// The tensor of a .pb file.
Result<Feed> read_feed(const fs::path& path) {
  ANYNPU_ASSIGN(const auto file, MappedFile::open(path.string()));
  onnx::Source source;
  source.owner = file;
  WireField message;
  message.type = WireType::bytes;
  message.bytes = file->bytes();
  ANYNPU_ASSIGN(const onnx::Tensor tensor, onnx::read_tensor(message, source));
  const auto bytes = tensor.data->bytes;
  return Feed{tensor.dtype, tensor.shape, {bytes.begin(), bytes.end()}};
}

std::vector<Feed> feeds_of(const fs::path& folder, const graph::Graph& graph) {
  std::vector<Feed> feeds;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    auto feed = read_feed(folder / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb"));
    if (!feed.ok()) return {};
    feeds.push_back(std::move(*feed));
  }
  return feeds;
}

void run_case(const fs::path& folder, const Arguments& arguments, Progress& progress,
              size_t first) {
  auto model = onnx::import_file((folder / "model.onnx").string());
  if (!model.ok()) return;
  const std::vector<Feed> feeds = feeds_of(folder, model->graph);
  if (feeds.size() != model->graph.inputs.size()) return;  // no plain tensors
  for (size_t i = 0; i < feeds.size(); ++i) {
    graph::Value& value = model->graph.values[static_cast<size_t>(model->graph.inputs[i])];
    value.shape = feeds[i].shape;
    value.has_shape = true;
  }
  size_t number = 0;
  const std::string name = folder.filename().string();
  const size_t offset = std::hash<std::string>{}(name) % arguments.every;
  const auto wanted = [&] {
    progress.variant.store(number);
    return number++ >= first && number % arguments.every == offset;
  };
  for_each_variant(model->graph, feeds, wanted, [&](Variant&& variant) {
    std::snprintf(progress.name, sizeof progress.name, "%s: %s", name.c_str(),
                  variant.name.c_str());
    const Outcome outcome = run_variant(std::move(variant));
    auto& count = outcome.kind == Outcome::Kind::ran       ? progress.ran
                  : outcome.kind == Outcome::Kind::refused ? progress.refused
                                                           : progress.wrong;
    count.fetch_add(1);
    const bool wrong = outcome.kind == Outcome::Kind::wrong;
    if (wrong || arguments.verbose) {
      std::printf("%s%s: %s\n", wrong ? "WRONG " : "", progress.name,
                  outcome.text.empty() ? "ran" : outcome.text.c_str());
      std::fflush(stdout);
    }
  });
}

[[noreturn]] void work(const std::vector<fs::path>& cases, const Arguments& arguments,
                       Progress& progress, size_t first) {
  for (size_t i = progress.at.load(); i < cases.size(); ++i) {
    progress.at.store(i);
    run_case(cases[i], arguments, progress, first);
    first = 0;
  }
  progress.at.store(cases.size());
  std::fflush(stdout);
  _exit(0);
}

// Waits for the child; false when it was ended because a variant took too long.
bool wait_for(pid_t child, const Progress& progress, int& status) {
  size_t at = 0, variant = 0;
  for (int still = 0; still < kMostSeconds * 20;) {
    if (waitpid(child, &status, WNOHANG) == child) return true;
    usleep(50'000);
    const size_t new_at = progress.at.load(), new_variant = progress.variant.load();
    still = new_at == at && new_variant == variant ? still + 1 : 0;
    at = new_at;
    variant = new_variant;
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return false;
}

bool read_arguments(int count, char** words, Arguments& out) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const char* next = i + 1 < count ? words[i + 1] : nullptr;
    if (word == "--share" && next) {
      if (std::sscanf(next, "%zu/%zu", &out.share, &out.shares) != 2 || out.shares == 0)
        return false;
      ++i;
    } else if (word == "--every" && next) {
      out.every = std::max(1ul, std::strtoul(next, nullptr, 10));
      ++i;
    } else if (word == "-k" && next) {
      out.text = next;
      ++i;
    } else if (word == "-v") {
      out.verbose = true;
    } else {
      out.folder = word;
    }
  }
  return !out.folder.empty();
}

std::vector<fs::path> find_cases(const Arguments& arguments) {
  std::vector<fs::path> all, mine;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(arguments.folder, error)) {
    if (entry.path().filename().string().find(arguments.text) != std::string::npos &&
        fs::exists(entry.path() / "model.onnx"))
      all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end());
  for (size_t i = arguments.share; i < all.size(); i += arguments.shares) mine.push_back(all[i]);
  return mine;
}

}  // namespace

int main(int count, char** words) {
  Arguments arguments;
  if (!read_arguments(count, words, arguments)) {
    std::fprintf(stderr, "usage: wrong_cases FOLDER [--share I/N] [--every K] [-k TEXT] [-v]\n");
    return 2;
  }
  setenv("ANYNPU_LOOP_LIMIT", "1000", 0);
  const std::vector<fs::path> cases = find_cases(arguments);
  if (cases.empty()) {
    std::fprintf(stderr, "no cases in '%s'\n", arguments.folder.c_str());
    return 2;
  }
  void* shared =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  auto& progress = *new (shared) Progress;
  int fallen = 0;
  for (size_t first = 0; progress.at.load() < cases.size();) {
    const pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) work(cases, arguments, progress, first);
    int status = 0;
    const bool ended = wait_for(child, progress, status);
    if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    ++fallen;
    std::printf("%s %s\n", ended ? "CRASH" : "HANG", progress.name);
    std::fflush(stdout);
    first = progress.variant.load() + 1;
  }
  std::printf("%zu cases: %zu variants ran, %zu were refused, %zu went wrong, %d crashed\n",
              cases.size(), progress.ran.load(), progress.refused.load(), progress.wrong.load(),
              fallen);
  return fallen > 0 || progress.wrong.load() > 0 ? 1 : 0;
}
