// SPDX-License-Identifier: Apache-2.0
// One model in its own context, with the shapes and output sizes for its next runs. Thread-safe:
// runs of one session are serialized. No call needs the GIL.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "aclruntime/binding.h"

namespace anynpu::aclruntime {

// One execution of a pipeline and what came of it.
struct PipelineItem {
  std::vector<Feed> feeds;
  Shapes shapes;
  std::vector<Tensor> outputs;  // on the host
  std::vector<ExecTime> times;
};

class Session {
 public:
  static Failure open(const ModelFile& file, int device, const std::string& config,
                      std::unique_ptr<Session>& session);

  const Model* model() const { return model_.get(); }  // null after free()

  Failure use();
  void set_shapes(Shapes shapes);
  void set_output_sizes(std::vector<size_t> sizes);
  void set_aipp(const Aipp& aipp);

  struct Run {
    int loop = 1;
    bool to_host = true;  // else the outputs stay on the device
    std::vector<Tensor> outputs;
    std::vector<ExecTime> times;
  };
  Failure run(const std::vector<Feed>& feeds, Run& run);
  // Runs again with outputs of the last run as inputs: input i takes output in_out[i], -1 keeps it.
  // `steps` times; outputs are those of the last.
  Failure run_again(const std::vector<int>& in_out, bool copy, int steps, Run& run);

  // Runs all items, overlapping copies with computation. `interrupted` is called now and then on
  // the calling thread; if it returns true, the pipeline stops.
  Failure pipeline(std::vector<PipelineItem>& items, int loop,
                   const std::function<bool()>& interrupted);

  // Unloads the model and ends the context; the session cannot run afterwards.
  void free();

 private:
  Failure ready();  // with the mutex held
  Failure finish(Run& run);
  std::mutex mutex_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Binding> binding_;
  std::vector<std::unique_ptr<Binding>> pipeline_bindings_;
  Shapes shapes_;
  std::vector<size_t> output_sizes_;
  Aipp aipp_;
};

}  // namespace anynpu::aclruntime
