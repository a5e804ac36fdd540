//===- Driver.h - The state behind the calls --------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One driver of one device for the process, made by cuInit. Locks, in the order
// in which they may be taken: Driver::lock, the queue's own, the device's own;
// nobody waits for operations or for the device's memory with Driver::lock.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DRIVER_DRIVER_H
#define KVC_DRIVER_DRIVER_H

#include "kvc/Driver/Device.h"
#include "kvc/Driver/Signatures.h"

namespace kvc::driver {

/// What cuDriverGetVersion says, and the calls are of.
inline constexpr int kVersion = 13000;

class Driver {
public:
  explicit Driver(const Settings &settings);

  const Settings settings;
  Device device;
  Queue queue;

  std::mutex lock;
  Registry registry;
  std::shared_ptr<Context> primary;
  unsigned primaryUses = 0, primaryFlags = 0;
  std::shared_ptr<MemoryPool> pool;
  uint64_t captures = 0;
  std::vector<std::shared_ptr<Capture>> activeCaptures;
  size_t modules = 0;

  std::shared_ptr<Context> makeContext(unsigned flags);
  void unload(Module &module);
  /// Waits for its work and frees all that it has.
  void destroyContext(const std::shared_ptr<Context> &context);
};

/// Null before cuInit and after the end.
Driver *theDriver();
/// CUDA_ERROR_INVALID_VALUE where the settings are wrong.
CUresult startDriver();

/// Contexts of this thread, the current one last.
std::vector<CUcontext> &contextStack();
/// The current one; null if there is none, or it was destroyed.
std::shared_ptr<Context> currentContext();
/// The current one during a call that needs one.
std::shared_ptr<Context> &heldContext();
/// Whether stream 0 is the thread's own, during a call.
bool &isPerThread();

/// The same result, with its reason for the log.
CUresult because(CUresult result, const std::string &reason);
/// CUDA_ERROR_NOT_SUPPORTED; names what is missing once on stderr.
CUresult refuse(const std::string &what);

enum class Needs : uint8_t { Nothing, Driver, Context };

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// The stream of a handle, 0 too; null if there is none. With the lock.
std::shared_ptr<Stream> streamOf(Driver &driver, CUstream handle);

/// Does the work after what the stream has to do, or records it. Where
/// operations are not held back, it is done on return. Without the lock.
CUresult enqueue(Driver &driver, CUstream stream, CUgraphNodeType type,
                 Work work, OpId *made = nullptr);
/// The same, and waits; not possible in a capture.
CUresult perform(Driver &driver, CUstream stream, CUgraphNodeType type,
                 Work work);
/// What the next operation of a stream follows. With the lock.
std::vector<OpId> followed(const Stream &stream);
/// Waits, and gives the error of the context. Without the lock.
CUresult waitFor(Driver &driver, const Context &context, OpId id);
/// Ends the capture that waiting for `stream` would break; null: those of all
/// streams, where their mode forbids waiting. With the lock.
CUresult checkCapture(Driver &driver, const Stream *stream);

//===----------------------------------------------------------------------===//
// What several calls make
//===----------------------------------------------------------------------===//

/// Checks a launch and copies its parameters.
CUresult prepareLaunch(Driver &driver,
                       const std::shared_ptr<Function> &function,
                       const CUlaunchConfig &config, void **params,
                       void **extra, Work &work);
CUresult prepareCopy(Driver &driver, const CUDA_MEMCPY3D &params, Work &work,
                     bool &waits, bool isCaptured);
CUresult prepareFill(Driver &driver, const Fill &fill, Work &work);
/// Of a handle to a function or a kernel. With the lock.
template <typename H>
std::shared_ptr<Function> functionOf(Driver &driver, H handle) {
  return driver.registry.find<Function>(handle);
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

namespace calls {
#define KVC_CALL(SYMBOL, BASE, VERSION, NEEDS, THREADS, IMPL, ...)             \
  CUresult IMPL(KVC_PARAMS(__VA_ARGS__));
#include "kvc/Driver/Calls.def"
#undef KVC_CALL
} // namespace calls

} // namespace kvc::driver

#endif // KVC_DRIVER_DRIVER_H
