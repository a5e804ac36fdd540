//===- RawRows.cpp - Rows of sequences outside of their codes -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Cache/RawRows.h"

#include "kvc/Base/Checked.h"
#include "kvc/Cache/DeviceTables.h"
#include "kvc/Spec/Segments.h"

#include <algorithm>

using namespace kvc;
using spec::Tensor;

kvc_status RawRows::allocate(const spec::Spec &spec, const kvc_device &device,
                             int64_t pages, bool isPoisoned, kvc_diag *diag) {
  spec::Spec rows = spec::rawRows(spec);
  page = rows.layout.page;
  sink = spec.segments.sink;
  body = spec::rawBody(spec);
  layout::TensorStrides key =
      layout::tensorStrides(rows, Tensor::Key, familyOf(device), 0);
  layout::TensorStrides value =
      layout::tensorStrides(rows, Tensor::Value, familyOf(device), 0);
  Checked keyBytes = Checked(key.bytes) * pages;
  Checked bytes = keyBytes + Checked(value.bytes) * pages;
  if (!bytes.isValid())
    return fail(diag, KVC_FAILED,
                "memory: expected at most 2^63 - 1 bytes, got %lld pages of "
                "%lld bytes of raw rows",
                static_cast<long long>(pages),
                static_cast<long long>(key.bytes + value.bytes));
  KVC_TRY(memory.allocate(device, bytes.get(), diag));
  if (isPoisoned)
    KVC_TRY(device.fill(device.self, memory.data(), 0xFF, bytes.get(), diag));
  placeTensor(key, memory.data(), regions);
  placeTensor(value, memory.data() + keyBytes.get(), regions);
  pool = BlockPool(pages, 1);
  return KVC_OK;
}

int64_t RawRows::pagesFor(const spec::Spec &spec, int64_t sequences,
                          int64_t tokens) {
  int64_t page = spec::rawPage(spec), n = spec.key.blockTokens();
  if (spec.value)
    n = std::max(n, spec.value->blockTokens());
  // An append holds the rows that it codes beside those that it stores.
  Checked rows = Checked(2) * (spec.segments.recent + n - 1);
  int64_t ends = spec::rawBody(spec) / page + 2;
  Checked each = Checked(divideCeil(rows.saturated(), page)) + ends;
  // Neither are there more raw rows than tokens.
  Checked all =
      Checked(2) * divideCeil(tokens, page) +
      Checked(ends) * std::min(sequences, std::max<int64_t>(tokens, 1));
  return 1 + std::min({(each * sequences).saturated(), all.saturated(),
                       kMaxInt32 - 1});
}

int64_t RawRows::sinkPages(int64_t length) const {
  return divideCeil(std::min(length, sink), page);
}

int64_t RawRows::pagesUpTo(int64_t length) const {
  return length > sink ? pageOf(length - 1) + 1 : sinkPages(length);
}

int64_t RawRows::missing(const RawTable &table, int64_t begin,
                         int64_t length) const {
  auto held = static_cast<int64_t>(table.pages.size());
  int64_t count = 0;
  auto add = [&](int64_t first, int64_t end) {
    for (int64_t number = first; number < std::min(end, held); ++number)
      count += table.pages[size_t(number)] == 0;
    count += std::max<int64_t>(end - std::max(first, held), 0);
  };
  add(0, sinkPages(length));
  if (begin < length)
    add(pageOf(begin), pageOf(length - 1) + 1);
  return count;
}

void RawRows::prepare(RawTable &table, int64_t length, int64_t newPages) {
  auto size = static_cast<size_t>(pagesUpTo(length));
  if (table.pages.capacity() < size)
    table.pages.reserve(std::max(size, 2 * table.pages.capacity()));
  pool.prepare(newPages);
}

void RawRows::hold(RawTable &table, int64_t begin, int64_t length) {
  table.pages.resize(std::max(table.pages.size(), size_t(pagesUpTo(length))));
  auto take = [&](int64_t first, int64_t end) {
    for (int64_t number = first; number < end; ++number)
      if (int32_t &entry = table.pages[size_t(number)]; entry == 0)
        entry = pool.takeOne();
  };
  take(0, sinkPages(length));
  if (begin >= length)
    return;
  // A shorter append may follow one that was rolled back.
  table.firstHeld = std::min(table.firstHeld, pageOf(begin));
  take(pageOf(begin), pageOf(length - 1) + 1);
}

void RawRows::give(RawTable &table, int64_t number) {
  int32_t &entry = table.pages[size_t(number)];
  if (entry != 0)
    pool.giveOne(entry);
  entry = 0;
}

void RawRows::releaseBelow(RawTable &table, int64_t begin) {
  int64_t end = std::min(pageOf(begin), int64_t(table.pages.size()));
  for (int64_t number = std::max(table.firstHeld, body / page); number < end;
       ++number)
    give(table, number);
  if (table.firstHeld != RawTable::kNone)
    table.firstHeld = std::max(table.firstHeld, end);
}

void RawRows::releaseBehind(RawTable &table, int64_t length) {
  int64_t keep = pagesUpTo(length);
  for (int64_t number = int64_t(table.pages.size()); number-- > keep;)
    give(table, number);
  table.pages.resize(std::min(table.pages.size(), size_t(keep)));
}
