//===- ModuleCalls.cpp - Modules, libraries, linking ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A library is a module under another name, a kernel a function. What the
// linker makes of one text of PTX is that text.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Driver.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace kvc::driver;

using Guard = std::lock_guard<std::mutex>;

namespace {

/// Buffers that a program gives for what the compiler says.
struct Logs {
  char *info = nullptr, *error = nullptr;
  size_t infoBytes = 0, errorBytes = 0;
  void **infoUsed = nullptr, **errorUsed = nullptr;

  static Logs of(unsigned count, const CUjit_option *options, void **values) {
    Logs logs;
    for (unsigned i = 0; i < count; ++i) {
      // A number is given in the pointer's own bytes.
      const auto number =
          size_t(uint32_t(reinterpret_cast<uintptr_t>(values[i])));
      switch (options[i]) {
      case CU_JIT_INFO_LOG_BUFFER:
        logs.info = static_cast<char *>(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        logs.infoBytes = number;
        logs.infoUsed = &values[i];
        break;
      case CU_JIT_ERROR_LOG_BUFFER:
        logs.error = static_cast<char *>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        logs.errorBytes = number;
        logs.errorUsed = &values[i];
        break;
      default:
        break;
      }
    }
    return logs;
  }

  void write(const std::string &infoText, const std::string &errorText) {
    fill(info, infoBytes, infoUsed, infoText);
    fill(error, errorBytes, errorUsed, errorText);
  }

private:
  static void fill(char *to, size_t bytes, void **used,
                   const std::string &text) {
    size_t length = 0;
    if (to && bytes > 0) {
      length = std::min(text.size(), bytes - 1);
      std::memcpy(to, text.data(), length);
      to[length] = 0;
    }
    if (used)
      *used = reinterpret_cast<void *>(length);
  }
};

/// What an image is, by its first bytes, if it is no text.
const char *binaryKind(const void *image) {
  const auto *bytes = static_cast<const unsigned char *>(image);
  if (std::strncmp(static_cast<const char *>(image), "\177ELF", 4) == 0)
    return "a cubin";
  // 0xBA55ED50, as it lies in memory.
  if (bytes[0] == 0x50 && bytes[1] == 0xED && bytes[2] == 0x55 &&
      bytes[3] == 0xBA)
    return "a fatbin";
  // The wrapper that nvcc puts around it: 0x466243B1.
  if (bytes[0] == 0xB1 && bytes[1] == 0x43 && bytes[2] == 0x62 &&
      bytes[3] == 0x46)
    return "a fatbin";
  return nullptr;
}

CUresult loadText(CUmodule *made, const std::string &name, std::string text,
                  Logs logs) {
  Driver &driver = *theDriver();
  auto module = std::make_shared<Module>();
  module->context = heldContext().get();
  {
    const Guard guard(driver.lock);
    ++driver.modules;
    module->name =
        name.empty() ? "module " + std::to_string(driver.modules) : name;
  }
  std::string notes;
  const std::optional<std::string> error =
      driver.device.load(*module, std::move(text), notes);
  logs.write(notes, error ? *error : "");
  if (error) {
    driver.device.unload(*module);
    say(module->name + ":" + *error);
    return because(CUDA_ERROR_INVALID_PTX, *error);
  }
  const Guard guard(driver.lock);
  driver.registry.add(module);
  heldContext()->modules.push_back(module);
  for (const auto &[kernel, function] : module->functions)
    driver.registry.add(std::shared_ptr<Function>(module, function.get()));
  *made = handleOf<CUmodule>(*module);
  return CUDA_SUCCESS;
}

CUresult loadImage(CUmodule *module, const void *image, Logs logs) {
  if (!module || !image)
    return CUDA_ERROR_INVALID_VALUE;
  if (const char *kind = binaryKind(image)) {
    logs.write("", std::string("image: expected PTX, got ") + kind);
    sayOnce(std::string("module: expected PTX, got ") + kind +
            ": it holds machine code of a device, which the simulator does not "
            "run");
    return because(CUDA_ERROR_NO_BINARY_FOR_GPU, kind);
  }
  return loadText(module, "", static_cast<const char *>(image), logs);
}

CUresult readImage(const char *file, std::string &text) {
  if (!file)
    return CUDA_ERROR_INVALID_VALUE;
  // A pipe that nobody writes to would be waited for.
  std::error_code error;
  std::ifstream stream;
  if (std::filesystem::is_regular_file(file, error))
    stream.open(file, std::ios::binary);
  if (!stream.is_open())
    return because(CUDA_ERROR_FILE_NOT_FOUND, file);
  std::ostringstream content;
  content << stream.rdbuf();
  text = content.str();
  return CUDA_SUCCESS;
}

CUresult loadFile(CUmodule *module, const char *file, Logs logs) {
  std::string text;
  if (!module)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = readImage(file, text))
    return result;
  if (text.size() < 4 || binaryKind(text.data()))
    return text.size() < 4 ? CUDA_ERROR_INVALID_IMAGE
                           : loadImage(module, text.data(), logs);
  return loadText(module, file, std::move(text), logs);
}

CUmodule moduleOf(CUlibrary library) {
  return reinterpret_cast<CUmodule>(library);
}

std::shared_ptr<Module> find(CUmodule handle) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  return driver.registry.find<Module>(handle);
}

} // namespace

CUresult calls::moduleLoad(CUmodule *module, const char *file) {
  return loadFile(module, file, {});
}

CUresult calls::moduleLoadData(CUmodule *module, const void *image) {
  return loadImage(module, image, {});
}

CUresult calls::moduleLoadDataEx(CUmodule *module, const void *image,
                                 unsigned int count, CUjit_option *options,
                                 void **values) {
  if (count > 0 && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  return loadImage(module, image, Logs::of(count, options, values));
}

CUresult calls::moduleLoadFatBinary(CUmodule *module, const void *image) {
  return loadImage(module, image, {});
}

CUresult calls::moduleUnload(CUmodule handle) {
  Driver &driver = *theDriver();
  const std::shared_ptr<Module> module = find(handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  driver.queue.waitAll(*heldContext()->failure);
  driver.unload(*module);
  return heldContext()->failure->result.load();
}

CUresult calls::moduleGetFunction(CUfunction *function, CUmodule handle,
                                  const char *name) {
  if (!function || !name)
    return CUDA_ERROR_INVALID_VALUE;
  const std::shared_ptr<Module> module = find(handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  const auto found = module->functions.find(std::string_view(name));
  if (found == module->functions.end())
    return because(CUDA_ERROR_NOT_FOUND, name);
  *function = handleOf<CUfunction>(*found->second);
  return CUDA_SUCCESS;
}

CUresult calls::moduleGetGlobal(CUdeviceptr *address, size_t *bytes,
                                CUmodule handle, const char *name) {
  const std::shared_ptr<Module> module = find(handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t size = 0;
  const uint64_t found = theDriver()->device.variable(*module, name, size);
  if (found == 0)
    return because(CUDA_ERROR_NOT_FOUND, name);
  if (address)
    *address = found;
  if (bytes)
    *bytes = size;
  return CUDA_SUCCESS;
}

CUresult calls::moduleGetFunctionCount(unsigned int *count, CUmodule handle) {
  const std::shared_ptr<Module> module = find(handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = unsigned(module->functions.size());
  return CUDA_SUCCESS;
}

CUresult calls::moduleEnumerateFunctions(CUfunction *functions,
                                         unsigned int count, CUmodule handle) {
  const std::shared_ptr<Module> module = find(handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!functions)
    return CUDA_ERROR_INVALID_VALUE;
  for (const auto &[name, function] : module->functions)
    if (count > 0) {
      *functions++ = handleOf<CUfunction>(*function);
      --count;
    }
  return CUDA_SUCCESS;
}

CUresult calls::moduleGetLoadingMode(CUmoduleLoadingMode *mode) {
  if (!mode)
    return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

static std::shared_ptr<Link> find(CUlinkState handle) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  return driver.registry.find<Link>(handle);
}

CUresult calls::linkCreate(unsigned int count, CUjit_option *options,
                           void **values, CUlinkState *state) {
  if (!state || (count > 0 && (!options || !values)))
    return CUDA_ERROR_INVALID_VALUE;
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  auto link = driver.registry.make<Link>();
  Logs::of(count, options, values).write("", "");
  *state = handleOf<CUlinkState>(*link);
  return CUDA_SUCCESS;
}

static CUresult addText(CUlinkState handle, CUjitInputType type,
                        std::string text) {
  const std::shared_ptr<Link> link = find(handle);
  if (!link)
    return CUDA_ERROR_INVALID_HANDLE;
  if (type != CU_JIT_INPUT_PTX)
    return refuse("cuLinkAddData of what is not PTX");
  if (++link->inputs > 1)
    return refuse("cuLinkAddData of more than one module");
  link->text = std::move(text);
  return CUDA_SUCCESS;
}

CUresult calls::linkAddData(CUlinkState state, CUjitInputType type, void *data,
                            size_t bytes, const char *, unsigned int,
                            CUjit_option *, void **) {
  if (!data)
    return CUDA_ERROR_INVALID_VALUE;
  std::string text(static_cast<const char *>(data), bytes);
  // Some count the end of the text, some do not.
  text.resize(std::min(text.find('\0'), text.size()));
  return addText(state, type, std::move(text));
}

CUresult calls::linkAddFile(CUlinkState state, CUjitInputType type,
                            const char *file, unsigned int, CUjit_option *,
                            void **) {
  std::string text;
  if (const CUresult result = readImage(file, text))
    return result;
  return addText(state, type, std::move(text));
}

CUresult calls::linkComplete(CUlinkState state, void **image, size_t *bytes) {
  const std::shared_ptr<Link> link = find(state);
  if (!link)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!image)
    return CUDA_ERROR_INVALID_VALUE;
  *image = link->text.data();
  if (bytes)
    *bytes = link->text.size() + 1;
  return CUDA_SUCCESS;
}

CUresult calls::linkDestroy(CUlinkState state) {
  const std::shared_ptr<Link> link = find(state);
  if (!link)
    return CUDA_ERROR_INVALID_HANDLE;
  const Guard guard(theDriver()->lock);
  theDriver()->registry.remove(*link);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

CUresult calls::libraryLoadData(CUlibrary *library, const void *image,
                                CUjit_option *options, void **values,
                                unsigned int count, CUlibraryOption *, void **,
                                unsigned int) {
  if (count > 0 && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  return loadImage(reinterpret_cast<CUmodule *>(library), image,
                   Logs::of(count, options, values));
}

CUresult calls::libraryLoadFromFile(CUlibrary *library, const char *file,
                                    CUjit_option *options, void **values,
                                    unsigned int count, CUlibraryOption *,
                                    void **, unsigned int) {
  if (count > 0 && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  return loadFile(reinterpret_cast<CUmodule *>(library), file,
                  Logs::of(count, options, values));
}

CUresult calls::libraryUnload(CUlibrary library) {
  return moduleUnload(moduleOf(library));
}

CUresult calls::libraryGetKernel(CUkernel *kernel, CUlibrary library,
                                 const char *name) {
  return moduleGetFunction(reinterpret_cast<CUfunction *>(kernel),
                           moduleOf(library), name);
}

CUresult calls::libraryGetKernelCount(unsigned int *count, CUlibrary library) {
  return moduleGetFunctionCount(count, moduleOf(library));
}

CUresult calls::libraryEnumerateKernels(CUkernel *kernels, unsigned int count,
                                        CUlibrary library) {
  return moduleEnumerateFunctions(reinterpret_cast<CUfunction *>(kernels),
                                  count, moduleOf(library));
}

CUresult calls::libraryGetModule(CUmodule *module, CUlibrary library) {
  if (!module)
    return CUDA_ERROR_INVALID_VALUE;
  *module = moduleOf(library);
  return find(*module) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult calls::libraryGetGlobal(CUdeviceptr *address, size_t *bytes,
                                 CUlibrary library, const char *name) {
  return moduleGetGlobal(address, bytes, moduleOf(library), name);
}
