// SPDX-License-Identifier: Apache-2.0
// The plug-in's entry: a program through LLVM's passes to an object, and objects into memory with
// ORC.
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugFrame.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <cmath>
#include <mutex>
#include <set>

#include "npc/jit/floats.h"
#include "npc/jit/lifter.h"
#include "npc/jit/loops.h"
#include "npc/jit/recursion.h"
#include "npc/translate/jit_api.h"

extern "C" {
float __extendhfsf2(_Float16);
_Float16 __truncsfhf2(float);
}

namespace anynpu::npc {

using namespace llvm;

namespace {

// LLVM makes minnum of a comparison and a choice, and a call of vectors of halves. The C library
// differs about signalling NaN.
float lesser(float a, float b) { return a < b || b != b ? a : b; }
float greater(float a, float b) { return a > b || b != b ? a : b; }

// What compiled code may call besides the helpers, on processors that lack the instruction.
const std::pair<const char*, void*> kMath[] = {
    {"fmaf", reinterpret_cast<void*>(static_cast<float (*)(float, float, float)>(std::fma))},
    {"floorf", reinterpret_cast<void*>(static_cast<float (*)(float)>(std::floor))},
    {"ceilf", reinterpret_cast<void*>(static_cast<float (*)(float)>(std::ceil))},
    {"truncf", reinterpret_cast<void*>(static_cast<float (*)(float)>(std::trunc))},
    {"fminf", reinterpret_cast<void*>(lesser)},
    {"fmaxf", reinterpret_cast<void*>(greater)},
    {"roundevenf", reinterpret_cast<void*>(roundevenf)},
    {"__extendhfsf2", reinterpret_cast<void*>(__extendhfsf2)},
    {"__truncsfhf2", reinterpret_cast<void*>(__truncsfhf2)},
};

// Counts what is done for each function: made ready, simplified, made vectors of, written.
class Steps {
 public:
  explicit Steps(const Jit::OnStep& on_step) : on_step_(on_step) {
    // The first pass of LLVM's simplification of a function, and one near the end of its pipeline.
    callbacks_.registerAfterPassCallback([this](StringRef pass, Any ir, const PreservedAnalyses&) {
      const auto* function = any_cast<const llvm::Function*>(&ir);
      if (!function || (pass != "SROAPass" && pass != "LoopVectorizePass")) return;
      if (seen_.emplace(pass.str(), *function).second) step();
    });
  }
  // The functions that are there once others were inlined.
  void begin(const llvm::Module& module) {
    for (const llvm::Function& function : module) total_ += function.isDeclaration() ? 0 : 4;
  }
  void step() {
    if (on_step_ && done_ < total_) on_step_(++done_, total_);
  }
  PassInstrumentationCallbacks* callbacks() { return &callbacks_; }

 private:
  const Jit::OnStep& on_step_;
  uint64_t done_ = 0, total_ = 0;
  std::set<std::pair<std::string, const void*>> seen_;
  PassInstrumentationCallbacks callbacks_;
};

// Behind the passes that write a function: counts it.
class Written : public FunctionPass {
 public:
  explicit Written(Steps& steps) : FunctionPass(id), steps_(steps) {}
  bool runOnFunction(llvm::Function&) override {
    steps_.step();
    return false;
  }
  void getAnalysisUsage(AnalysisUsage& usage) const override { usage.setPreservesAll(); }

 private:
  static inline char id = 0;
  Steps& steps_;
};

// Runs the passes with fresh analyses.
class Pipeline {
 public:
  Pipeline(TargetMachine& machine, Steps& steps)
      : steps_(steps), builder_(&machine, {}, std::nullopt, steps.callbacks()) {
    functions_.registerPass([&] {
      TargetLibraryInfoImpl library(machine.getTargetTriple());
      library.disableAllFunctions();  // a loop stays a loop: faults must be found in this code
      return TargetLibraryAnalysis(library);
    });
    builder_.registerModuleAnalyses(modules_);
    builder_.registerCGSCCAnalyses(sccs_);
    builder_.registerFunctionAnalyses(functions_);
    builder_.registerLoopAnalyses(loops_);
    builder_.crossRegisterProxies(loops_, functions_, sccs_, modules_);
  }

  void run(llvm::Module& module) {
    unfold_recursion(module);
    AlwaysInlinerPass(false).run(module, modules_);
    steps_.begin(module);
    functions_.clear();
    modules_.clear();
    FunctionPassManager early;
    early.addPass(SROAPass(SROAOptions::ModifyCFG));
    early.addPass(EarlyCSEPass());
    early.addPass(SimplifyCFGPass());
    early.addPass(InstCombinePass());
    early.addPass(LoopSimplifyPass());
    early.addPass(createFunctionToLoopPassAdaptor(LoopRotatePass()));
    early.addPass(LoopSimplifyPass());
    early.addPass(LCSSAPass());
    for (llvm::Function& function : module) {
      if (function.isDeclaration()) continue;
      functions_.invalidate(function, early.run(function, functions_));
      defer_canonical_nans(function);
      quicken_loops(function, functions_);
      steps_.step();
    }
    lower_marks(module);
    functions_.clear();
    modules_.clear();
    builder_.buildPerModuleDefaultPipeline(OptimizationLevel::O2).run(module, modules_);
  }

 private:
  Steps& steps_;
  LoopAnalysisManager loops_;
  FunctionAnalysisManager functions_;
  CGSCCAnalysisManager sccs_;
  ModuleAnalysisManager modules_;
  PassBuilder builder_;
};

class LoadedCode : public HostCode {
 public:
  LoadedCode(orc::LLJIT& jit, orc::JITDylib& library, std::string object)
      : jit_(jit), library_(library), object_(std::move(object)) {}
  ~LoadedCode() override {
    if (auto error = jit_.getExecutionSession().removeJITDylib(library_)) {
      consumeError(std::move(error));
    }
  }

  // Where everything lies.
  std::string find_symbols() {
    auto file = object::ObjectFile::createObjectFile(MemoryBufferRef(object_, "npc"));
    if (!file) return toString(file.takeError());
    file_ = std::move(*file);
    for (const object::SymbolRef& s : file_->symbols()) {
      auto name = s.getName();
      auto value = s.getAddress();
      auto type = s.getType();
      if (!name || !value || !type) return "its symbols cannot be read";
      if (*type != object::SymbolRef::ST_Function) continue;
      const bool kernel = name->starts_with("kernel_");
      uint32_t entry = 0;
      if (!kernel && !name->starts_with("indirect_")) continue;
      if (name->split('_').second.getAsInteger(10, entry)) return "it has an odd symbol";
      auto found = jit_.lookup(library_, *name);
      if (!found) return toString(found.takeError());
      auto* at = found->toPtr<char*>();
      (kernel ? kernels_ : indirect_)[entry] = at;
      text_ = at - *value;
    }
    for (const object::SectionRef& s : file_->sections()) {
      if (auto name = s.getName(); name && *name == ".text") {
        bytes_ = s.getSize();
        section_ = s.getIndex();
      }
    }
    return text_ ? "" : "it has no kernel";
  }

  void* kernel(uint32_t entry) const override { return find(kernels_, entry); }
  void* indirect(uint32_t entry) const override { return find(indirect_, entry); }

  bool contains(const void* host) const override {
    const auto* at = static_cast<const char*>(host);
    return at >= text_ && at < text_ + bytes_;
  }

  FrameRule frame_at(const void* host) const override {
    if (!contains(host)) return {};
    const auto offset = static_cast<uint64_t>(static_cast<const char*>(host) - text_);
    std::lock_guard lock(mutex_);
    if (!lines_) lines_ = DWARFContext::create(*file_);
    auto frames = lines_->getDebugFrame();
    if (!frames) {
      consumeError(frames.takeError());
      return {};
    }
    for (const dwarf::FrameEntry& entry : (*frames)->entries()) {
      const auto* fde = dyn_cast<dwarf::FDE>(&entry);
      if (!fde || offset - fde->getInitialLocation() >= fde->getAddressRange()) continue;
      auto table = dwarf::UnwindTable::create(fde);
      if (!table) {
        consumeError(table.takeError());
        return {};
      }
      FrameRule rule;
      for (const dwarf::UnwindRow& row : *table) {
        if (row.getAddress() > offset) break;
        constexpr uint32_t kBasePointer = 6;
        rule.from_base_pointer = row.getCFAValue().getRegister() == kBasePointer;
        rule.distance = row.getCFAValue().getOffset();
        const auto saved = row.getRegisterLocations().getRegisterLocation(kBasePointer);
        rule.saved_base = saved ? saved->getOffset() : 0;
      }
      return rule;
    }
    return {};
  }

  std::vector<uint32_t> locate(const void* host) const override {
    if (!contains(host)) return {};
    const auto offset = static_cast<uint64_t>(static_cast<const char*>(host) - text_);
    std::lock_guard lock(mutex_);
    if (!lines_) lines_ = DWARFContext::create(*file_);
    DILineInfoSpecifier what(DILineInfoSpecifier::FileLineInfoKind::RawValue);
    const DIInliningInfo chain = lines_->getInliningInfoForAddress({offset, section_}, what);
    std::vector<uint32_t> offsets;
    for (uint32_t i = 0; i < chain.getNumberOfFrames(); ++i) {
      const uint32_t line = chain.getFrame(i).Line;  // 0: not of the guest
      if (line > 0) offsets.push_back((line - 1) * 2);
    }
    return offsets;
  }

 private:
  static void* find(const std::map<uint32_t, char*>& all, uint32_t entry) {
    const auto found = all.find(entry);
    return found == all.end() ? nullptr : found->second;
  }

  orc::LLJIT& jit_;
  orc::JITDylib& library_;
  const std::string object_;
  std::unique_ptr<object::ObjectFile> file_;
  std::map<uint32_t, char*> kernels_, indirect_;
  char* text_ = nullptr;
  uint64_t bytes_ = 0, section_ = 0;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<DWARFContext> lines_;
};

class LlvmJit : public Jit {
 public:
  LlvmJit() {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    // Eight copies of a loop body are no faster than four and take a fifth more time to compile.
    const char* options[] = {"anynpu", "-force-vector-interleave=4", "-unroll-max-count=4"};
    cl::ParseCommandLineOptions(std::size(options), options, "", &nulls());
    auto host = orc::JITTargetMachineBuilder::detectHost();
    if (!host) {
      consumeError(host.takeError());
      return;
    }
    host_ = std::make_unique<orc::JITTargetMachineBuilder>(std::move(*host));
    // A gather of eight words takes as long as eight loads here, and the loop around it is not
    // unrolled.
    host_->addFeatures({"+prefer-no-gather"});
    host_->setRelocationModel(Reloc::PIC_);
    host_->setCodeModel(CodeModel::Small);
    host_->setCodeGenOptLevel(CodeGenOptLevel::Default);
  }

  std::string signature() const override {
    if (!host_) return {};
    return LLVM_VERSION_STRING " " + host_->getCPU() + " " + host_->getFeatures().getString();
  }

  std::string compile(const Program& program, const OnStep& on_step, std::string& error) override {
    if (!host_) {
      error = "the processor is not known";
      return {};
    }
    auto machine = host_->createTargetMachine();
    if (!machine) {
      error = toString(machine.takeError());
      return {};
    }
    LLVMContext context;
    llvm::Module module("npc", context);
    module.setDataLayout((*machine)->createDataLayout());
    module.setTargetTriple((*machine)->getTargetTriple().str());
    Lifter(program, module).lift_all();
    std::string broken;
    raw_string_ostream text(broken);
    if (verifyModule(module, &text)) {
      error = "the translator made a wrong program: " + text.str();
      return {};
    }
    Steps steps(on_step);
    Pipeline(**machine, steps).run(module);
    SmallVector<char, 0> bytes;
    raw_svector_ostream out(bytes);
    legacy::PassManager emit;
    if ((*machine)->addPassesToEmitFile(emit, out, nullptr, CodeGenFileType::ObjectFile)) {
      error = "the processor's objects cannot be written";
      return {};
    }
    emit.add(new Written(steps));
    emit.run(module);
    return std::string(bytes.begin(), bytes.end());
  }

  std::unique_ptr<HostCode> load(const std::string& object, const HostHelpers& helpers,
                                 std::string& error) override {
    orc::LLJIT* jit = linker(error);
    if (!jit) return nullptr;
    static std::atomic<uint64_t> number{0};
    auto library = jit->createJITDylib("module" + std::to_string(++number));
    if (!library) {
      error = toString(library.takeError());
      return nullptr;
    }
    auto code = std::make_unique<LoadedCode>(*jit, *library, object);
    if (auto failed = library->define(orc::absoluteSymbols(symbols(*jit, helpers)))) {
      error = toString(std::move(failed));
      return nullptr;
    }
    if (auto failed = jit->addObjectFile(*library, MemoryBuffer::getMemBufferCopy(object, "npc"))) {
      error = toString(std::move(failed));
      return nullptr;
    }
    error = code->find_symbols();
    return error.empty() ? std::move(code) : nullptr;
  }

 private:
  orc::LLJIT* linker(std::string& error) {
    std::lock_guard lock(mutex_);
    if (!jit_ && host_) {
      auto made = orc::LLJITBuilder()
                      .setJITTargetMachineBuilder(*host_)
                      .setPlatformSetUp(orc::setUpInactivePlatform)
                      .setLinkProcessSymbolsByDefault(false)
                      .create();
      if (!made) {
        error = toString(made.takeError());
        return nullptr;
      }
      jit_ = std::move(*made);
    }
    return jit_.get();
  }

  static orc::SymbolMap symbols(orc::LLJIT& jit, const HostHelpers& h) {
    orc::SymbolMap map;
    const auto add = [&](const char* name, void* at) {
      map[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(at), JITSymbolFlags::Exported};
    };
    add("npc_slow", reinterpret_cast<void*>(h.check));
    add("npc_grant", reinterpret_cast<void*>(h.grant));
    add("npc_service", reinterpret_cast<void*>(h.service));
    add("npc_csr", reinterpret_cast<void*>(h.csr));
    add("npc_atomic", reinterpret_cast<void*>(h.atomic));
    add("npc_float", reinterpret_cast<void*>(h.exact_float));
    add("npc_trap", reinterpret_cast<void*>(h.trap));
    for (const FloatFunctionEntry& f : h.float_functions) {
      add((std::string("npc_") + f.name).c_str(),
          f.of_one ? reinterpret_cast<void*>(f.of_one) : reinterpret_cast<void*>(f.of_two));
    }
    for (const auto& [name, at] : kMath) add(name, at);
    return map;
  }

  std::unique_ptr<orc::JITTargetMachineBuilder> host_;
  std::mutex mutex_;
  std::unique_ptr<orc::LLJIT> jit_;
};

}  // namespace
}  // namespace anynpu::npc

// Never destroyed: translated code may run until the process ends.
extern "C" __attribute__((visibility("default"))) anynpu::npc::Jit* anynpu_npc_jit() {
  static auto* jit = new anynpu::npc::LlvmJit;
  return jit;
}
