//===- Engine.cpp - Compile a spec and run batches through it -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Engine.h"

#include "kvc/DeviceBytes.h"
#include "kvc/Timing.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace kvc {

CompilerHandle createCompiler() {
  Diag diag;
  kvc_compiler *compiler = nullptr;
  diag.check(kvc_compiler_create(diag, &compiler));
  return CompilerHandle(compiler);
}

kvc_compile_options compileOptionsFor(const std::string &target) {
  kvc_compile_options options{};
  options.struct_size = sizeof(options);
  options.target = target.c_str();
  return options;
}

/// The texts that a list of artefacts holds; frees it.
static std::vector<std::string> textsOf(kvc_artifacts *made) {
  const Handle<kvc_artifacts, kvc_artifacts_free> artifacts(made);
  const kvc_artifact *list = nullptr;
  int64_t count = 0;
  Diag().check(kvc_artifacts_list(made, &list, &count));
  std::vector<std::string> texts;
  for (int64_t i = 0; i < count; ++i)
    texts.emplace_back(static_cast<const char *>(list[i].data), list[i].size);
  return texts;
}

std::string translateSpec(std::string_view text, const std::string &place,
                          kvc_spec_format format) {
  Diag diag;
  const CompilerHandle compiler = createCompiler();
  kvc_artifacts *made = nullptr;
  diag.check(kvc_translate(compiler.get(), text.data(), text.size(), format,
                           diag, &made),
             place);
  return textsOf(made).front();
}

SplitSpec splitSpec(std::string_view text, const std::string &place) {
  Diag diag;
  const CompilerHandle compiler = createCompiler();
  kvc_artifacts *made = nullptr;
  diag.check(
      kvc_split_spec(compiler.get(), text.data(), text.size(), diag, &made),
      place);
  const std::vector<std::string> texts = textsOf(made);
  return {texts.front(), texts.size() > 1 ? texts.back() : ""};
}

std::string joinSpec(const SplitSpec &parts, const std::string &place) {
  if (parts.score.empty())
    return parts.json;
  std::string text = translateSpec(parts.json, place, KVC_SPEC_MLIR);
  // The declaration is the only line of the module's body.
  const size_t declaration = text.rfind("kvc.attention_spec ");
  text.insert(text.find('\n', declaration), " " + parts.score);
  return text;
}

Engine::Engine(kvc_compiler *compiler, std::string_view spec,
               const std::string &place, const kvc_compile_options &options,
               const kvc_device *device)
    : onDevice(device) {
  Diag diag;
  kvc_jit_module *compiled = nullptr;
  diag.check(kvc_compile_jit(compiler, spec.data(), spec.size(), &options, diag,
                             &compiled),
             place);
  jit.reset(compiled);
  diag.check(kvc_jit_module_table(jit.get(), &moduleTable), place);
  kvc_module *module = nullptr;
  diag.check(kvc_module_create(moduleTable, diag, &module), place);
  moduleHandle.reset(module);
  diag.check(kvc_module_spec(module, diag, &specHandle), place);
  specInfo = specInfoOf(specHandle);
}

kvc_tensor_info Engine::tensor(kvc_tensor tensor) const {
  return tensorInfoOf(specHandle, tensor);
}

kvc_part_info Engine::part(kvc_tensor tensor, int64_t part) const {
  return partInfoOf(specHandle, tensor, part);
}

std::span<const kvc_phase> Engine::phases() const {
  const kvc_phase *phases = nullptr;
  int64_t count = 0;
  kvc_jit_module_phases(jit.get(), &phases, &count);
  return {phases, static_cast<size_t>(count)};
}

double Engine::compileMs() const {
  double total = 0;
  for (const kvc_phase &phase : phases())
    total += phase.ms;
  return total;
}

double Engine::bytesPerToken() const {
  return tensor(KVC_KEY).bytes_per_token + tensor(KVC_VALUE).bytes_per_token;
}

CacheHandle Engine::createCache(const BatchInputs &inputs, bool poison) const {
  Diag diag;
  kvc_cache_options options{};
  options.struct_size = sizeof(options);
  options.spec = specHandle;
  options.flags = poison ? KVC_CACHE_POISON : 0;
  options.device = onDevice;
  // Each sequence's last block may be part empty; paged caches have a null
  // page, and no cache is empty.
  const bool paged = specInfo.layout == KVC_PAGED;
  const int64_t block = paged ? specInfo.page : 64;
  int64_t blocks = 2;
  for (int64_t i = 0; i < inputs.batch(); ++i)
    blocks +=
        (inputs.keyStarts[i + 1] - inputs.keyStarts[i] + block - 1) / block;
  (paged ? options.num_pages : options.capacity_tokens) =
      paged ? blocks : blocks * block;
  options.max_sequences = std::max<int64_t>(inputs.batch(), 1);
  const std::vector<kvc_scheme_values> values =
      schemeValuesFor(specHandle, inputs.schemeValues);
  options.inputs = values.data();
  options.num_inputs = static_cast<int64_t>(values.size());
  for (int64_t i = 0; i < inputs.batch() && !inputs.queryStarts.empty(); ++i)
    options.max_queries = std::max<int64_t>(
        options.max_queries, inputs.queryStarts[i + 1] - inputs.queryStarts[i]);
  kvc_cache *cache = nullptr;
  const kvc_status status = kvc_cache_create(&options, diag, &cache);
  // Memory is wanting for what the spec says, not for what the inputs hold.
  diag.check(status, status == KVC_FAILED ? "cache" : inputs.place);
  return CacheHandle(cache);
}

double Engine::append(const BatchInputs &inputs, kvc_cache *cache,
                      int64_t chunk, const kvc_parallel_for *threads,
                      std::vector<kvc_sequence> &sequences) const {
  Diag diag;
  const int64_t count = inputs.batch();
  sequences.resize(count);
  for (kvc_sequence &sequence : sequences)
    diag.check(kvc_cache_create_sequence(cache, diag, &sequence));

  const int64_t elementBytes = bytesOf(specInfo.query);
  const int64_t keyRow = specInfo.kv_heads * specInfo.head_dim * elementBytes;
  const int64_t valueRow =
      specInfo.value_is_key
          ? 0
          : specInfo.kv_heads * specInfo.value_dim * elementBytes;
  std::vector<int64_t> done(count, 0), fresh(count);
  double microseconds = 0;
  for (;;) {
    // The rows of this call, gathered: chunks of neighbours are none
    // themselves.
    std::vector<int32_t> starts{0};
    std::vector<std::byte> key, value;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t left =
          inputs.keyStarts[i + 1] - inputs.keyStarts[i] - done[i];
      fresh[i] = chunk > 0 ? std::min(left, chunk) : left;
      starts.push_back(static_cast<int32_t>(starts.back() + fresh[i]));
      const int64_t first = inputs.keyStarts[i] + done[i];
      auto gather = [&](const Values &from, int64_t row,
                        std::vector<std::byte> &to) {
        const auto begin = from.bytes.begin() + first * row;
        to.insert(to.end(), begin, begin + fresh[i] * row);
      };
      gather(inputs.k, keyRow, key);
      gather(inputs.v, valueRow, value);
      done[i] += fresh[i];
    }
    if (starts.back() == 0)
      return microseconds;
    const Stopwatch watch;
    kvc_append_request request{sizeof(kvc_append_request), count,
                               sequences.data(), fresh.data()};
    diag.check(kvc_cache_append(cache, &request, diag));
    kvc_batch batch{};
    batch.struct_size = sizeof(batch);
    batch.cache = cache;
    batch.num_sequences = count;
    batch.token_start = starts.data();
    batch.sequences = sequences.data();
    const DeviceBytes keyThere(onDevice, key), valueThere(onDevice, value);
    batch.key.data = keyThere.data();
    batch.value.data = valueThere.data();
    const kvc_status status =
        kvc_run_append(moduleHandle.get(), &batch, threads, diag);
    diag.check(status, status == KVC_FAILED ? "append" : "");
    waitFor(onDevice);
    for (int64_t i = 0; i < count; ++i)
      diag.check(kvc_cache_commit(cache, sequences[i], fresh[i], diag));
    microseconds += watch.microseconds();
  }
}

static bool hasMagnitude(const Values &values, float least) {
  return std::ranges::any_of(
      values.toF32(), [&](float each) { return std::abs(each) >= least; });
}

/// Kernels compute in f32: scores, keys that RoPE turns, and sums of values
/// before they are divided by the sum of weights, may be beyond it where the
/// answer is not. What comes of that is NaN or, rounded, the largest number,
/// which only the largest value explains.
static void checkRange(const Outputs &outputs, const kvc_spec_info &info,
                       const BatchInputs &inputs) {
  const float largest = info.output == KVC_F32    ? FLT_MAX
                        : info.output == KVC_BF16 ? 0x1.FEp127F
                                                  : INFINITY;
  const std::vector<float> out = outputs.out.toF32();
  for (size_t i = 0; i < out.size(); ++i)
    if (std::isnan(out[i]) ||
        (std::abs(out[i]) >= largest &&
         !hasMagnitude(info.value_is_key ? inputs.k : inputs.v, largest))) {
      const size_t row = i / info.value_dim;
      throw Failure("out: expected scores, rotated keys and sums of values "
                    "that f32 holds, got some beyond it for query " +
                    std::to_string(row / info.q_heads) + ", head " +
                    std::to_string(row % info.q_heads));
    }
}

Outputs Engine::attend(const BatchInputs &inputs, kvc_cache *cache,
                       std::span<const kvc_sequence> sequences,
                       const kvc_parallel_for *threads) const {
  Diag diag;
  const int64_t count = inputs.batch();
  std::vector<int32_t> queries(count), lengths(count);
  for (int64_t i = 0; i < count; ++i) {
    queries[i] = inputs.queryStarts[i + 1] - inputs.queryStarts[i];
    lengths[i] = inputs.keyStarts[i + 1] - inputs.keyStarts[i];
  }
  kvc_plan_options options{};
  options.struct_size = sizeof(options);
  options.module = moduleHandle.get();
  options.num_sequences = count;
  options.queries = queries.data();
  options.lengths = lengths.data();
  options.device = onDevice;
  kvc_plan *planned = nullptr;
  diag.check(kvc_plan_create(&options, diag, &planned));
  const PlanHandle plan(planned);

  Outputs outputs;
  const int64_t rows = inputs.queries() * specInfo.q_heads;
  outputs.out = {specInfo.output,
                 std::vector<std::byte>(rows * specInfo.value_dim *
                                        bytesOf(specInfo.output))};
  outputs.lse.resize(rows);
  kvc_batch batch{};
  batch.struct_size = sizeof(batch);
  batch.cache = cache;
  batch.num_sequences = count;
  batch.token_start = inputs.queryStarts.data();
  batch.sequences = sequences.data();
  const DeviceBytes query(onDevice, inputs.q.bytes),
      slopes(onDevice, std::as_bytes(std::span(inputs.alibiSlopes))),
      sinks(onDevice, std::as_bytes(std::span(inputs.sinkLogits)));
  const std::span<std::byte> outBytes = outputs.out.bytes,
                             lseBytes =
                                 std::as_writable_bytes(std::span(outputs.lse));
  const DeviceBytes outThere(onDevice, outBytes), lseThere(onDevice, lseBytes);
  batch.query.data = query.data();
  batch.alibi_slopes = inputs.alibiSlopes.empty()
                           ? nullptr
                           : static_cast<const float *>(slopes.data());
  batch.sink_logits = inputs.sinkLogits.empty()
                          ? nullptr
                          : static_cast<const float *>(sinks.data());
  const kvc_out_rows out{outThere.data(), 0, 0}, lse{lseThere.data(), 0, 0};
  const Stopwatch watch;
  diag.check(kvc_run_attend(plan.get(), &batch, threads, diag, &out, &lse));
  waitFor(onDevice);
  outputs.microseconds = watch.microseconds();
  outThere.fetch(outBytes);
  lseThere.fetch(lseBytes);
  // Elsewhere what is not finite passes through.
  if (!onDevice)
    checkRange(outputs, specInfo, inputs);
  return outputs;
}

double Engine::bytesRead(const kvc_cache *cache, kvc_sequence sequence,
                         int64_t length, int64_t queries) const {
  Diag diag;
  const int64_t visible = visibleTokens(specInfo, length, queries);
  const int64_t sink = specInfo.window
                           ? std::min(specInfo.sink, specInfo.window_sinks)
                           : specInfo.sink;
  double bytes = 0;
  for (kvc_tensor which : {KVC_KEY, KVC_VALUE}) {
    int64_t codedEnd = 0;
    diag.check(kvc_cache_coded_end(cache, sequence, which, diag, &codedEnd));
    const kvc_tensor_info info = tensor(which);
    if (info.num_parts == 0)
      continue;
    // Without segments codes end at the length.
    const int64_t raw =
        std::min(visible, std::max<int64_t>(length - codedEnd, 0) + sink);
    bytes += static_cast<double>(visible - raw) * info.bytes_per_token +
             static_cast<double>(raw * info.channels * bytesOf(specInfo.query));
  }
  return bytes * static_cast<double>(specInfo.kv_heads);
}

/// Channels [begin, begin + count) of rows of `width`, from or to rows that
/// hold them alone.
static void copyChannels(const float *from, int64_t fromWidth, float *to,
                         int64_t toWidth, int64_t count, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row)
    std::copy_n(from + row * fromWidth, count, to + row * toWidth);
}

Dump Engine::dump(const kvc_cache *cache,
                  std::span<const kvc_sequence> sequences,
                  const BatchInputs &inputs, kvc_tensor which,
                  const kvc_parallel_for *threads) const {
  const int64_t heads = specInfo.kv_heads, rows = inputs.keys() * heads,
                channels = tensor(which).channels;
  Dump dump;
  dump.values.resize(rows * channels);
  if (tensor(which).num_parts == 0) {
    const Dump key = this->dump(cache, sequences, inputs, KVC_KEY, threads);
    copyChannels(key.values.data() + specInfo.value_begin, specInfo.head_dim,
                 dump.values.data(), channels, channels, rows);
    return dump;
  }

  Diag diag;
  std::vector<kvc_part_info> infos;
  std::vector<std::vector<float>> values;
  for (int64_t i = 0; i < tensor(which).num_parts; ++i) {
    const kvc_part_info info = part(which, i);
    infos.push_back(info);
    values.emplace_back(rows * (info.end - info.begin));
    PartDump &to = dump.parts.emplace_back();
    to.codes.resize(values.back().size());
    to.scales.resize(rows * info.blocks);
    to.zeros.resize(rows * info.blocks);
    to.outlierIndices.resize(rows * info.outliers);
    to.outlierValues.resize(rows * info.outliers);
  }
  const auto first =
      static_cast<size_t>(which == KVC_KEY ? 0 : tensor(KVC_KEY).num_parts);
  std::vector<kvc_unpacked> wanted(tensor(KVC_KEY).num_parts +
                                       tensor(KVC_VALUE).num_parts,
                                   {sizeof(kvc_unpacked), nullptr, nullptr,
                                    nullptr, nullptr, nullptr, nullptr});
  dump.raw.resize(inputs.keys());
  for (size_t i = 0; i < sequences.size(); ++i) {
    const int64_t start = inputs.keyStarts[i];
    const int64_t length = inputs.keyStarts[i + 1] - start;
    int64_t codedEnd = 0;
    diag.check(
        kvc_cache_coded_end(cache, sequences[i], which, diag, &codedEnd));
    for (int64_t token = 0; token < length; ++token)
      dump.raw[start + token] = token < specInfo.sink || token >= codedEnd;
    auto unpack = [&](int64_t begin, int64_t end) {
      const int64_t row = (start + begin) * heads;
      for (size_t j = 0; j < infos.size(); ++j) {
        const int64_t width = infos[j].end - infos[j].begin;
        PartDump &to = dump.parts[j];
        wanted[first + j] = {sizeof(kvc_unpacked),
                             to.codes.data() + row * width,
                             to.scales.data() + row * infos[j].blocks,
                             to.zeros.data() + row * infos[j].blocks,
                             values[j].data() + row * width,
                             to.outlierIndices.data() + row * infos[j].outliers,
                             to.outlierValues.data() + row * infos[j].outliers};
      }
      diag.check(kvc_cache_unpack(cache, moduleHandle.get(), sequences[i],
                                  begin, end, threads, diag, wanted.data(),
                                  static_cast<int64_t>(wanted.size())));
    };
    if (specInfo.layout != KVC_RING) {
      unpack(0, length);
      continue;
    }
    // What these queries may see, from the start of a scale block on, and all
    // raw rows.
    const int64_t queries = inputs.queryStarts[i + 1] - inputs.queryStarts[i];
    int64_t shown = length - (specInfo.window + queries - 1);
    if (shown > specInfo.sink)
      shown -= (shown - specInfo.sink) % tensor(which).block_tokens;
    const int64_t sink = std::min(specInfo.sink, length);
    unpack(0, sink);
    unpack(std::clamp(std::min(shown, codedEnd), sink, length), length);
  }
  for (size_t j = 0; j < infos.size(); ++j) {
    const int64_t width = infos[j].end - infos[j].begin;
    copyChannels(values[j].data(), width, dump.values.data() + infos[j].begin,
                 channels, width, rows);
  }
  return dump;
}

} // namespace kvc
