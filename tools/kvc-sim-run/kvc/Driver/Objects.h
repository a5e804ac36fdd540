//===- Objects.h - What handles stand for -----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A handle is a number that is never used twice, so one that was destroyed, or
// is of another kind, is known as such. All fields that are not const or atomic
// are guarded by Driver::lock.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DRIVER_OBJECTS_H
#define KVC_DRIVER_OBJECTS_H

#include "kvc/Driver/Queue.h"
#include "kvc/Driver/Types.h"
#include "kvc/Sim/Machine/Machine.h"

#include <map>
#include <thread>
#include <unordered_map>

namespace kvc::driver {

struct Object {
  Object() = default;
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  virtual ~Object() = default;

  uintptr_t number = 0;
};

/// The handle that the API has for it.
template <typename H>
H handleOf(const Object &object) {
  return reinterpret_cast<H>(object.number);
}

struct Stream;
struct Graph;
struct Node;
struct Module;

struct Context : Object {
  bool isPrimary = false;
  unsigned flags = 0;
  std::shared_ptr<Stream> legacy;
  std::map<std::thread::id, std::shared_ptr<Stream>> ofThreads;
  std::vector<std::shared_ptr<Stream>> streams; ///< All others.
  std::vector<std::weak_ptr<Module>> modules;
  std::map<CUlimit, size_t> limits;
  CUfunc_cache cacheConfig = 0;
  CUsharedconfig sharedConfig = 0;
  std::shared_ptr<Failure> failure = std::make_shared<Failure>();
};

struct Function : Object {
  Module *module = nullptr; ///< That owns it.
  std::string name;
  // Of the kernel, when its module was loaded.
  std::vector<sim::KernelParam> params;
  sim::FunctionHints hints;
  uint64_t paramBytes = 0, sharedBytes = 0, dynamicOffset = 0, localBytes = 0;
  std::string missing; ///< Why it does not run; empty if it does.

  std::map<int, int> attributes; ///< That were set.
};

struct Module : Object {
  std::string name; ///< For messages: its file, or "module 3".
  Context *context = nullptr;
  /// Guarded by the device's lock; null after it was unloaded.
  std::unique_ptr<sim::LoadedModule> loaded;
  /// Fixed once it is loaded. Who holds one holds the module.
  std::map<std::string, std::unique_ptr<Function>, std::less<>> functions;
};

/// The recording of a graph from streams.
struct Capture {
  std::shared_ptr<Graph> graph;
  Stream *origin = nullptr;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  uint64_t number = 0;
  bool isInvalid = false;
  std::vector<std::shared_ptr<Stream>> joined; ///< The origin too.
};

struct Stream : Object {
  Context *context = nullptr;
  bool isLegacy = false, isBlocking = true;
  unsigned flags = 0;
  int priority = 0;
  OpId last = 0;
  std::vector<OpId> alsoAfter; ///< Events that its next operation waits for.
  std::shared_ptr<Capture> capture;
  std::vector<std::shared_ptr<Node>> captureAfter;
};

/// When the work before an event was done.
struct Record {
  std::chrono::steady_clock::time_point time;
};

struct Event : Object {
  unsigned flags = 0;
  OpId operation = 0;
  std::shared_ptr<Record> record; ///< Null before it is recorded.
  std::shared_ptr<Capture> capture;
  std::vector<std::shared_ptr<Node>> captureAfter;
};

struct Node : Object {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::weak_ptr<Graph> graph;
  Work work;
  std::shared_ptr<Graph> child;
  std::vector<std::shared_ptr<Node>> after;
};

struct Graph : Object {
  std::vector<std::shared_ptr<Node>> nodes;

  ~Graph() override;
};

/// A graph that can be launched: operations by number, each after others.
struct GraphExec : Object {
  struct Step {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    uintptr_t node = 0; ///< The number of the node that it came from.
    Work work;
    std::vector<size_t> after;
  };
  std::vector<Step> steps;
  OpId last = 0; ///< Of its last launch: launches follow each other.
};

struct Link : Object {
  std::string text;
  size_t inputs = 0;
  std::vector<CUjit_option> options;
  std::vector<void *> values;
};

struct MemoryPool : Object {
  uint64_t releaseThreshold = 0;
};

/// Objects by handle.
class Registry {
public:
  template <typename T>
  std::shared_ptr<T> add(std::shared_ptr<T> object) {
    // Far from each other, so that a handle plus a little is none.
    next += 0x40;
    object->number = next;
    objects[next] = object;
    return object;
  }
  template <typename T>
  std::shared_ptr<T> make() {
    return add(std::make_shared<T>());
  }
  /// Null for a handle that stands for nothing of that kind.
  template <typename T, typename H>
  std::shared_ptr<T> find(H handle) const {
    const auto found = objects.find(reinterpret_cast<uintptr_t>(handle));
    return found == objects.end() ? nullptr
                                  : std::dynamic_pointer_cast<T>(found->second);
  }
  void remove(const Object &object) { objects.erase(object.number); }

private:
  /// No address of the host or the device begins like this.
  uintptr_t next = 0x00C0000000000000;
  std::unordered_map<uintptr_t, std::shared_ptr<Object>> objects;
};

} // namespace kvc::driver

#endif // KVC_DRIVER_OBJECTS_H
