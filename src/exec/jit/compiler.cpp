#include "exec/jit/compiler.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <vector>

#include "exec/jit/host_functions.h"

namespace solar::exec::native {
namespace {

#if defined(__x86_64__)
#define SOLAR_LLVM_ARCHITECTURE "X86"
#else
#define SOLAR_LLVM_ARCHITECTURE "AArch64"
#endif

constexpr const char* kPasses = "default<O2>";

#define SOLAR_LLVM_FUNCTIONS(F)                           \
  F(LLVMContextCreate)                                    \
  F(LLVMContextDispose)                                   \
  F(LLVMCreateMemoryBufferWithMemoryRangeCopy)            \
  F(LLVMCreatePassBuilderOptions)                         \
  F(LLVMCreateTargetDataLayout)                           \
  F(LLVMCreateTargetMachine)                              \
  F(LLVMDisposeErrorMessage)                              \
  F(LLVMDisposeMemoryBuffer)                              \
  F(LLVMDisposeMessage)                                   \
  F(LLVMDisposeModule)                                    \
  F(LLVMDisposePassBuilderOptions)                        \
  F(LLVMDisposeTargetData)                                \
  F(LLVMGetBufferSize)                                    \
  F(LLVMGetBufferStart)                                   \
  F(LLVMGetDefaultTargetTriple)                           \
  F(LLVMGetErrorMessage)                                  \
  F(LLVMGetHostCPUFeatures)                               \
  F(LLVMGetHostCPUName)                                   \
  F(LLVMGetTargetFromTriple)                              \
  F(LLVMGetVersion)                                       \
  F(LLVMOrcAbsoluteSymbols)                               \
  F(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess) \
  F(LLVMOrcCreateLLJIT)                                   \
  F(LLVMOrcJITDylibAddGenerator)                          \
  F(LLVMOrcJITDylibDefine)                                \
  F(LLVMOrcLLJITAddObjectFile)                            \
  F(LLVMOrcLLJITGetGlobalPrefix)                          \
  F(LLVMOrcLLJITGetMainJITDylib)                          \
  F(LLVMOrcLLJITLookup)                                   \
  F(LLVMOrcLLJITMangleAndIntern)                          \
  F(LLVMParseIRInContext)                                 \
  F(LLVMPassBuilderOptionsSetSLPVectorization)            \
  F(LLVMRunPasses)                                        \
  F(LLVMSetModuleDataLayout)                              \
  F(LLVMSetTarget)                                        \
  F(LLVMTargetMachineEmitToMemoryBuffer)

/// The library's functions, by their own names.
struct Library {
#define SOLAR_LLVM_MEMBER(name) decltype(&::name) name = nullptr;
  SOLAR_LLVM_FUNCTIONS(SOLAR_LLVM_MEMBER)
#undef SOLAR_LLVM_MEMBER

  bool open() {
    void* handle = ::dlopen("libLLVM-19.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) handle = ::dlopen("libLLVM.so.19.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return false;
    bool complete = true;
#define SOLAR_LLVM_FIND(name)                                      \
  name = reinterpret_cast<decltype(name)>(::dlsym(handle, #name)); \
  complete = complete && name != nullptr;
    SOLAR_LLVM_FUNCTIONS(SOLAR_LLVM_FIND)
#undef SOLAR_LLVM_FIND
    for (const char* part : {"TargetInfo", "Target", "TargetMC", "AsmPrinter"}) {
      const std::string name = fmt::format("LLVMInitialize" SOLAR_LLVM_ARCHITECTURE "{}", part);
      const auto initialize = reinterpret_cast<void (*)()>(::dlsym(handle, name.c_str()));
      if (initialize == nullptr) return false;
      if (complete) initialize();
    }
    return complete;
  }

  std::string taken(char* message) const {
    std::string text = message == nullptr ? "" : message;
    if (message != nullptr) LLVMDisposeMessage(message);
    return text;
  }
  /// The text of an error, or empty. Consumes it.
  std::string taken(LLVMErrorRef error) const {
    if (error == nullptr) return {};
    char* message = LLVMGetErrorMessage(error);
    std::string text = message;
    LLVMDisposeErrorMessage(message);
    return text;
  }
};

/// Which functions of the math library have vector forms that this processor can run.
std::set<std::string> vector_functions(const std::string& features) {
  std::set<std::string> found;
#if defined(__x86_64__)
  if (features.find("+avx2") == std::string::npos) return found;
  void* handle = ::dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) return found;
  for (const char* name : {"exp", "log", "log1p", "expm1", "sin", "cos", "tan", "tanh", "sinh",
                           "cosh", "asin", "acos", "atan", "erf", "pow", "atan2"}) {
    const std::string stem = name;
    const char* shape = stem == "pow" || stem == "atan2" ? "vv" : "v";
    const std::string single = fmt::format("_ZGVdN8{}_{}f", shape, stem);
    const std::string wide = fmt::format("_ZGVdN4{}_{}", shape, stem);
    if (::dlsym(handle, single.c_str()) != nullptr && ::dlsym(handle, wide.c_str()) != nullptr) {
      found.insert(stem);
    }
  }
#else
  static_cast<void>(features);
#endif
  return found;
}

}  // namespace

struct Compiler::State {
  Library llvm;
  std::string triple;
  LLVMTargetMachineRef machine = nullptr;
  LLVMOrcLLJITRef jit = nullptr;
  LLVMOrcJITDylibRef library = nullptr;
};

Compiler::Compiler() : state_(std::make_unique<State>()) {}
Compiler::~Compiler() = default;

std::unique_ptr<Compiler> Compiler::make() {
  std::unique_ptr<Compiler> result(new Compiler);
  State& state = *result->state_;
  Library& llvm = state.llvm;
  if (!llvm.open()) return nullptr;
  unsigned major = 0, minor = 0, patch = 0;
  llvm.LLVMGetVersion(&major, &minor, &patch);
  Target& target = result->target_;
  target.compiler = fmt::format("LLVM {}.{}.{} {}", major, minor, patch, kPasses);
  target.cpu = llvm.taken(llvm.LLVMGetHostCPUName());
  target.features = llvm.taken(llvm.LLVMGetHostCPUFeatures());
  target.half = target.features.find("+f16c") != std::string::npos;
  target.vector_functions = vector_functions(target.features);
  state.triple = llvm.taken(llvm.LLVMGetDefaultTargetTriple());
  LLVMTargetRef found = nullptr;
  char* message = nullptr;
  if (llvm.LLVMGetTargetFromTriple(state.triple.c_str(), &found, &message) != 0) {
    llvm.taken(message);
    return nullptr;
  }
  state.machine = llvm.LLVMCreateTargetMachine(found, state.triple.c_str(), target.cpu.c_str(),
                                               target.features.c_str(), LLVMCodeGenLevelDefault,
                                               LLVMRelocPIC, LLVMCodeModelDefault);
  if (state.machine == nullptr) return nullptr;
  if (!llvm.taken(llvm.LLVMOrcCreateLLJIT(&state.jit, nullptr)).empty()) return nullptr;
  state.library = llvm.LLVMOrcLLJITGetMainJITDylib(state.jit);
  LLVMOrcDefinitionGeneratorRef generator = nullptr;
  if (!llvm.taken(llvm.LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                      &generator, llvm.LLVMOrcLLJITGetGlobalPrefix(state.jit), nullptr, nullptr))
           .empty()) {
    return nullptr;
  }
  llvm.LLVMOrcJITDylibAddGenerator(state.library, generator);
  std::vector<LLVMOrcCSymbolMapPair> symbols;
  for (const HostFunction& function : host_functions()) {
    LLVMOrcCSymbolMapPair pair = {};
    pair.Name = llvm.LLVMOrcLLJITMangleAndIntern(state.jit, function.name);
    pair.Sym.Address = reinterpret_cast<LLVMOrcExecutorAddress>(function.address);
    pair.Sym.Flags.GenericFlags =
        LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
    symbols.push_back(pair);
  }
  if (!llvm.taken(llvm.LLVMOrcJITDylibDefine(
                      state.library, llvm.LLVMOrcAbsoluteSymbols(symbols.data(), symbols.size())))
           .empty()) {
    return nullptr;
  }
  return result;
}

Compiler* Compiler::get() {
  // Never destroyed: compiled code may run until the very end.
  static Compiler* const compiler = make().release();
  return compiler;
}

std::optional<std::string> Compiler::compile(const std::string& text, std::string& problem) {
  const std::lock_guard lock(mutex_);
  const Library& llvm = state_->llvm;
  LLVMContextRef context = llvm.LLVMContextCreate();
  LLVMMemoryBufferRef source =
      llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(text.data(), text.size(), "kernel");
  LLVMModuleRef module = nullptr;
  char* message = nullptr;
  std::optional<std::string> object;
  if (llvm.LLVMParseIRInContext(context, source, &module, &message) != 0) {
    problem = llvm.taken(message);
  } else {
    llvm.LLVMSetTarget(module, state_->triple.c_str());
    LLVMTargetDataRef layout = llvm.LLVMCreateTargetDataLayout(state_->machine);
    llvm.LLVMSetModuleDataLayout(module, layout);
    llvm.LLVMDisposeTargetData(layout);
    LLVMPassBuilderOptionsRef options = llvm.LLVMCreatePassBuilderOptions();
    llvm.LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
    problem = llvm.taken(llvm.LLVMRunPasses(module, kPasses, state_->machine, options));
    llvm.LLVMDisposePassBuilderOptions(options);
    LLVMMemoryBufferRef buffer = nullptr;
    if (problem.empty() && llvm.LLVMTargetMachineEmitToMemoryBuffer(
                               state_->machine, module, LLVMObjectFile, &message, &buffer) != 0) {
      problem = llvm.taken(message);
    } else if (problem.empty()) {
      object.emplace(llvm.LLVMGetBufferStart(buffer), llvm.LLVMGetBufferSize(buffer));
      llvm.LLVMDisposeMemoryBuffer(buffer);
    }
    llvm.LLVMDisposeModule(module);
  }
  llvm.LLVMContextDispose(context);
  return object;
}

KernelFunction Compiler::link(const std::string& object, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const Library& llvm = state_->llvm;
  LLVMMemoryBufferRef buffer =
      llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(object.data(), object.size(), name.c_str());
  if (!llvm.taken(llvm.LLVMOrcLLJITAddObjectFile(state_->jit, state_->library, buffer)).empty()) {
    return nullptr;
  }
  LLVMOrcExecutorAddress address = 0;
  if (!llvm.taken(llvm.LLVMOrcLLJITLookup(state_->jit, &address, name.c_str())).empty()) {
    return nullptr;
  }
  const auto function = reinterpret_cast<KernelFunction>(address);
  functions_[name] = function;
  return function;
}

KernelFunction Compiler::linked(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto place = functions_.find(name);
  return place == functions_.end() ? nullptr : place->second;
}

}  // namespace solar::exec::native
