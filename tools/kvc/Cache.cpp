//===- Cache.cpp - kvc cache ----------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Saved sequences (kvc/saved.h) and traces of managers (kvc/manager.h) from the
// command line.
//
//===----------------------------------------------------------------------===//

#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/InspectSaved.h"
#include "kvc/Json.h"
#include "kvc/SpecFile.h"
#include "kvc/Table.h"

#include <chrono>

using namespace kvc;

namespace {

/// Traces are longer than any other text that is read whole.
constexpr size_t kMaxTraceBytes = size_t(4) << 30;

struct FileOptions {
  std::string file;
  bool json = false;
};

void verify(const FileOptions &options) {
  const auto begin = std::chrono::steady_clock::now();
  const SavedHandle saved = openSaved(options.file);
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - begin;
  const kvc_saved_info info = infoOf(saved.get());
  if (options.json)
    return print(documentOf({{"file", options.file},
                             {"bytes", info.bytes},
                             {"tokens", info.num_tokens},
                             {"seconds", time.count()}}));
  print(options.file +
        ": every byte is as it was saved: " + std::to_string(info.num_tokens) +
        " tokens, " + std::to_string(info.bytes) + " bytes, " +
        significant(double(info.bytes) / 1e9 / time.count()) + " GB/s\n");
}

void replay(const FileOptions &options) {
  const std::string trace = readFile(options.file, kMaxTraceBytes);
  Diag diag;
  int64_t records = 0;
  diag.check(kvc_manager_replay(trace.data(), trace.size(), diag, &records),
             options.file);
  if (records == 0)
    throw Failure(options.file + ": trace: expected a first record, of a "
                                 "manager's creation, got an empty file");
  print(options.json
            ? documentOf({{"file", options.file}, {"records", records}})
            : options.file + ": " + std::to_string(records) +
                  " records, each answered as it was recorded\n");
}

void addOn(CLI::App &cache, const char *name, const char *about,
           const char *file, void (*run)(const FileOptions &)) {
  auto options = std::make_shared<FileOptions>();
  CLI::App &command =
      addCommand(cache, name, about, [options, run] { run(*options); });
  addFile(command, "FILE", options->file, file, Need::Required);
  addFlag(command, "--json", options->json, "Print JSON.");
}

} // namespace

void kvc::addCacheCommand(CLI::App &app) {
  CLI::App &cache =
      addCommandGroup(app, "cache", "Look at saved sequences and traces.");
  addOn(cache, "stats", "Show what the bytes of a saved sequence are spent on.",
        "A saved sequence.", [](const FileOptions &options) {
          print(savedStats(openSaved(options.file).get(), options.json));
        });
  addOn(cache, "verify", "Verify every byte of a saved sequence.",
        "A saved sequence.", verify);
  addOn(cache, "replay",
        "Run a manager's trace again and tell the first call that answers "
        "otherwise.",
        "A trace: what kvc_manager_options.trace was given, in order.", replay);
}
