//===- BenchDevice.cpp - kvc bench on devices with memory of their own ----===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A GPU's decode steps are timed by events beside its own copies of memory and
// beside f16. The simulator's are counted: what a step reads over what it needs
// to, and how much of the time that this takes goes into issuing instructions.
//
//===----------------------------------------------------------------------===//

#include "kvc/Bench.h"
#include "kvc/CommandLine.h"
#include "kvc/DeviceSteps.h"
#include "kvc/Json.h"
#include "kvc/OutputFiles.h"
#include "kvc/Progress.h"
#include "kvc/RunDevice.h"
#include "kvc/Table.h"

#include <algorithm>

using namespace kvc;

namespace {

/// What stands before every row.
struct Head {
  std::string spec, target;
  int64_t context, batch;
  int64_t split; ///< Keys of an item.
  double cacheBytes, neededBytes;
  std::string operands; ///< What the kernel multiplies.
};

struct TimeRow {
  Head head;
  DeviceMeasurement measured;

  double gbs() const { return head.cacheBytes * 1e-3 / measured.stepUs.median; }
};

/// What the kernels of one step came to; those that attend, and all.
struct CountRow {
  Head head;
  double pages; ///< Of 64 keys, of one kv head each.
  kvc_sim_counts attend, all;
  Json kernels;

  double readOverNeeded() const {
    return static_cast<double>(attend.bytes_read) / head.neededBytes;
  }
  double movedOverNeeded() const {
    return static_cast<double>(all.bytes_read + all.bytes_written) /
           head.neededBytes;
  }
  double perPage() const {
    return static_cast<double>(attend.warp_instructions) / pages;
  }
  double issueShare(int64_t instructions) const;
};

/// An H200: how many warp instructions it issues in a second, and how
/// many bytes its memory brings.
constexpr double kIssued = 132 * 4 * 1.755e9, kBrought = 4.8e12;

double CountRow::issueShare(int64_t instructions) const {
  return static_cast<double>(instructions) / kIssued /
         (static_cast<double>(attend.bytes_read) / kBrought);
}

void add(kvc_sim_counts &sum, const kvc_sim_counts &counts) {
  sum.blocks += counts.blocks;
  sum.warp_instructions += counts.warp_instructions;
  sum.moves += counts.moves;
  sum.mma += counts.mma;
  sum.bytes_read += counts.bytes_read;
  sum.bytes_written += counts.bytes_written;
  sum.unique_bytes += counts.unique_bytes;
  sum.local_bytes += counts.local_bytes;
  sum.shared_wavefronts += counts.shared_wavefronts;
  sum.bank_conflicts += counts.bank_conflicts;
}

Json asJson(const kvc_sim_counts &counts) {
  return {{"blocks", counts.blocks},
          {"warp_instructions", counts.warp_instructions},
          {"moves", counts.moves},
          {"mma", counts.mma},
          {"bytes_read", counts.bytes_read},
          {"bytes_written", counts.bytes_written},
          {"unique_bytes", counts.unique_bytes},
          {"local_bytes", counts.local_bytes},
          {"shared_wavefronts", counts.shared_wavefronts},
          {"bank_conflicts", counts.bank_conflicts}};
}

/// The kernel that a launch ran.
const kvc_kernel_info *kernelOf(const Engine &engine,
                                const std::string &symbol) {
  for (const kvc_kernel_info &kernel : engine.kernels())
    if (kernel.symbol == symbol)
      return &kernel;
  return nullptr;
}

CountRow countRow(const Engine &engine, Head head,
                  std::span<const LaunchCounts> launches) {
  constexpr int64_t kPageKeys = 64;
  const kvc_spec_info &info = engine.info();
  const int64_t keys = visibleTokens(info, head.context, 1);
  CountRow row{std::move(head), 0, {}, {}, Json::object()};
  const int64_t pages = (keys + kPageKeys - 1) / kPageKeys;
  row.pages = static_cast<double>(pages * info.kv_heads * row.head.batch);
  for (const LaunchCounts &launch : launches) {
    const kvc_kernel_info *kernel = kernelOf(engine, launch.kernel);
    if (!kernel)
      continue;
    const std::string name = kernel->name;
    row.kernels[name] = asJson(launch.counts);
    add(row.all, launch.counts);
    if (name != "merge") {
      add(row.attend, launch.counts);
      row.head.operands = kernel->operands;
    }
  }
  return row;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

std::vector<std::string> cellsOf(const Head &head) {
  return {onOneLine(head.spec), std::to_string(head.context),
          std::to_string(head.batch), std::to_string(head.split),
          fixed(head.cacheBytes * 1e-6, 2)};
}

std::vector<Table::Column> columnsWith(std::vector<Table::Column> own) {
  std::vector<Table::Column> columns = {{"spec", Align::Left},
                                        {"context"},
                                        {"batch"},
                                        {"keys of\nan item"},
                                        {"MB per\nstep"}};
  columns.insert(columns.end(), own.begin(), own.end());
  return columns;
}

void extend(std::vector<std::string> &cells, std::vector<std::string> own) {
  cells.insert(cells.end(), own.begin(), own.end());
}

std::string textOf(const std::vector<TimeRow> &rows) {
  Table table(columnsWith({{"us per\nstep"},
                           {"GB/s"},
                           {"device\ncopies GB/s"},
                           {"% of copy\nbandwidth"},
                           {"x over\nf16"}}));
  for (const TimeRow &row : rows) {
    std::vector<std::string> cells = cellsOf(row.head);
    extend(cells, {spread(row.measured.stepUs, 1, 1), fixed(row.gbs(), 1),
                   fixed(row.measured.copyGBs, 1),
                   spread(row.measured.shareOfCopy, 100, 0),
                   spread(row.measured.overF16, 1, 2)});
    table.add(std::move(cells));
  }
  return table.str();
}

std::string textOf(const std::vector<CountRow> &rows) {
  Table table(columnsWith({{"read over\nneeded"},
                           {"moved over\nneeded"},
                           {"issue\nshare"},
                           {"warp instructions\nper page"},
                           {"bank\nconflicts"},
                           {"spilled\nbytes"}}));
  for (const CountRow &row : rows) {
    std::vector<std::string> cells = cellsOf(row.head);
    extend(cells,
           {fixed(row.readOverNeeded(), 3), fixed(row.movedOverNeeded(), 3),
            fixed(row.issueShare(row.attend.warp_instructions), 2),
            fixed(row.perPage(), 0), std::to_string(row.all.bank_conflicts),
            std::to_string(row.all.local_bytes)});
    table.add(std::move(cells));
  }
  return table.str();
}

Json jsonOf(const Head &head, const kvc_device_info &device) {
  return {{"name", head.spec},
          {"target", head.target},
          {"device", device.name},
          {"context", head.context},
          {"batch", head.batch},
          {"keys_per_item", head.split},
          {"bytes_per_step", head.cacheBytes},
          {"bytes_needed", head.neededBytes}};
}

Json jsonOf(const TimeRow &row, const kvc_device_info &device) {
  Json json = jsonOf(row.head, device);
  json["us_per_step"] = asJson(row.measured.stepUs);
  json["gb_per_s"] = row.gbs();
  json["copy_gb_per_s"] = row.measured.copyGBs;
  json["share_of_copy"] = asJson(row.measured.shareOfCopy);
  json["times_over_f16"] = asJson(row.measured.overF16);
  json["repetitions"] = row.measured.repetitions;
  json["decode_operands"] = row.head.operands;
  return json;
}

Json jsonOf(const CountRow &row, const kvc_device_info &device) {
  Json json = jsonOf(row.head, device);
  json["bytes_read"] = row.attend.bytes_read;
  json["read_over_needed"] = row.readOverNeeded();
  json["moved_over_needed"] = row.movedOverNeeded();
  json["issue_share"] = row.issueShare(row.attend.warp_instructions);
  json["issue_share_less_moves"] =
      row.issueShare(row.attend.warp_instructions - row.attend.moves);
  json["warp_instructions_per_page"] = row.perPage();
  json["bank_conflicts"] = row.all.bank_conflicts;
  json["spilled_bytes"] = row.all.local_bytes;
  json["decode_operands"] = row.head.operands;
  json["kernels"] = row.kernels;
  return json;
}

template <typename Rows>
std::string report(const Rows &rows, const BenchEngines &engines,
                   const kvc_device_info &device, const char *note,
                   bool asDocument) {
  if (asDocument) {
    Json result = Json::array();
    for (const auto &row : rows)
      result.push_back(jsonOf(row, device));
    for (const Refusal &each : engines.refused)
      result.push_back({{"name", each.name}, {"refused", each.reason}});
    return documentOf(result);
  }
  Table notes({{"", Align::Left}, {"", Align::Left}});
  for (const Refusal &each : engines.refused)
    notes.add({each.name, "not run: " + onOneLine(each.reason)});
  return textOf(rows) + device.name + ", " + rows.front().head.target + "; " +
         note + (notes.empty() ? "" : notes.str());
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

constexpr char kTimesNote[] =
    "kernels alone, cold. Medians, +- half of the distance between the "
    "quartiles; copies count what they read and write.\n";
constexpr char kCountsNote[] =
    "counted, not timed: times of the simulator are not times of a GPU.\n"
    "Read by the kernels that attend, moved by all; a page is 64 keys of one "
    "kv head. The issue share is of 132 x 4 warp instructions at 1.755 GHz "
    "while those bytes arrive at 4.8 TB/s.\n";

/// Calls `run` for each engine, context and batch.
template <typename Run>
void forEach(const BenchOptions &options, const BenchEngines &engines,
             const Run &run) {
  const size_t all =
      engines.all.size() * options.contexts.size() * options.batches.size();
  Progress progress("bench");
  size_t done = 0;
  for (const BenchEngine &each : engines.all)
    for (int64_t context : options.contexts)
      for (int64_t batch : options.batches) {
        progress.begin(done++, all,
                       each.place + ", " + std::to_string(context) +
                           " tokens x " + std::to_string(batch));
        run(each, context, batch);
      }
}

Head headOf(const Engine &engine, int64_t context, int64_t batch,
            const DeviceSteps &steps) {
  Head head{engine.info().name,
            engine.table().target,
            context,
            batch,
            steps.splitTokens(),
            steps.cacheBytes(),
            steps.neededBytes(),
            ""};
  for (const kvc_kernel_info &kernel : engine.kernels())
    if (kernel.name == std::string_view("decode"))
      head.operands = kernel.operands;
  return head;
}

kvc_device_info deviceInfoOf(const kvc_device *device) {
  kvc_device_info info{};
  info.struct_size = sizeof(info);
  Diag diag;
  diag.check(device->get_info(device->self, diag, &info), "--device");
  return info;
}

} // namespace

void kvc::benchOnDevice(const BenchOptions &options) {
  const bool isCounted = options.device == "sim";
  OutputFiles files;
  for (const std::string &path : options.specs)
    files.protect("SPEC", path);
  std::vector<LaunchCounts> launches;
  const RunDevice device(options.device, 1, isCounted ? &launches : nullptr);
  const kvc_device_info info = deviceInfoOf(device.get());
  kvc_compile_options compile = compileOptionsFor(device.target());
  compile.kernels = "decode,prefill,append,merge";
  // Of the device's memory, so that what is simulated need not be as large.
  const double share = static_cast<double>(info.memory_bytes) / 8;
  const double cold = isCounted ? 0 : std::min(512e6, share);
  const BenchEngines engines = compileAll(
      options, compile, device.get(), isCounted ? Twins::None : Twins::Compiled,
      [&](const Engine &engine) {
        for (int64_t context : options.contexts)
          for (int64_t batch : options.batches)
            DeviceSteps::groupsFor(engine, context, batch, cold);
      });
  const DeviceStream stream(device.get());
  if (isCounted) {
    std::vector<CountRow> rows;
    forEach(options, engines,
            [&](const BenchEngine &each, int64_t context, int64_t batch) {
              DeviceSteps steps(each.engine, context, batch, cold, stream);
              launches.clear();
              steps.launch();
              rows.push_back(countRow(
                  each.engine, headOf(each.engine, context, batch, steps),
                  launches));
            });
    return print(report(rows, engines, info, kCountsNote, options.json));
  }
  const CopyMemory memory(device.get(),
                          static_cast<int64_t>(std::min(128e6, share)));
  std::vector<TimeRow> rows;
  forEach(options, engines,
          [&](const BenchEngine &each, int64_t context, int64_t batch) {
            DeviceSteps steps(each.engine, context, batch, cold, stream);
            std::optional<DeviceSteps> twin;
            if (each.twin)
              twin.emplace(*each.twin, context, batch, cold, stream);
            rows.push_back(
                {headOf(each.engine, context, batch, steps),
                 measureOnDevice(device.get(), steps, twin ? &*twin : nullptr,
                                 memory, stream)});
          });
  print(report(rows, engines, info, kTimesNote, options.json));
}
