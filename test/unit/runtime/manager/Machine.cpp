//===- Machine.cpp - Operations on a manager and on its model -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <algorithm>
#include <cstring>

using namespace kvc::test;

//===----------------------------------------------------------------------===//
// A manager and its devices
//===----------------------------------------------------------------------===//

Machine::Machine(const Setting &given) : setting(given) {
  std::vector<kvc_layer_group> groups;
  for (const GroupShape &shape : setting.groups) {
    const std::string json = shape.json();
    kvc_spec *spec = nullptr;
    if (kvc_spec_parse(json.data(), json.size(), &diag, &spec) != KVC_OK)
      return;
    specs.emplace_back(spec);
    groups.push_back({sizeof(kvc_layer_group), spec, shape.layers, shape.blocks,
                      shape.rawBlocks});
  }
  kvc_policy policy = {sizeof(policy), nullptr, nullptr};
  if (kvc_policy_get(setting.policy, nullptr, &policy) != KVC_OK)
    return;
  kvc_manager_options options = {};
  options.struct_size = sizeof(options);
  options.groups = groups.data();
  options.num_groups = int64_t(groups.size());
  options.max_sequences = setting.sequences;
  options.max_tokens = setting.tokens;
  options.max_queries = setting.queries;
  options.flags = setting.freesWindow ? KVC_MANAGER_FREE_WINDOW : 0;
  options.policy = &policy;
  if (setting.collides)
    options.hash = [](void *, const void *, size_t, uint8_t *digest) {
      std::memset(digest, 7, 32);
    };
  options.listener_user = this;
  options.listener = [](void *user, const kvc_event *event) {
    Machine &machine = *static_cast<Machine *>(user);
    if (machine.listening)
      machine.listening(true);
    machine.told(*event);
    if (machine.listening)
      machine.listening(false);
  };
  options.trace_user = this;
  if (setting.isTraced)
    options.trace = [](void *user, const void *data, size_t size) {
      Machine &machine = *static_cast<Machine *>(user);
      const auto *bytes = static_cast<const uint8_t *>(data);
      if (machine.listening)
        machine.listening(true);
      machine.trace.insert(machine.trace.end(), bytes, bytes + size);
      if (machine.listening)
        machine.listening(false);
    };
  if (kvc_manager_create(&options, &diag, &manager) != KVC_OK) {
    manager = nullptr;
    return;
  }
  kvc_manager_stats stats = {};
  stats.struct_size = sizeof(stats);
  kvc_manager_get_stats(manager, nullptr, &stats);
  pages.assign(size_t(stats.pools), 1);
  for (size_t g = 0; g < groups.size(); ++g) {
    kvc_group_info info = {};
    info.struct_size = sizeof(info);
    kvc_manager_get_group(manager, int64_t(g), nullptr, &info);
    infos.push_back(info);
    pages[size_t(info.pool)] = std::max(pages[size_t(info.pool)], info.page);
    if (info.raw_pool >= 0)
      pages[size_t(info.raw_pool)] =
          std::max(pages[size_t(info.raw_pool)], info.raw_page);
  }
  for (size_t p = 0; p < pages.size(); ++p) {
    kvc_pool_stats pool = {};
    pool.struct_size = sizeof(pool);
    kvc_manager_get_pool(manager, int64_t(p), nullptr, &pool);
    totals.push_back(pool.total);
    cells.emplace_back(size_t(pool.total * pages[p]));
    wasFree.emplace_back(size_t(pool.total), 0);
    written.emplace_back(size_t(pool.total), 0);
    holders.emplace_back(size_t(pool.total), 0);
  }
  lastDigest = digest();
  settle();
}

Machine::~Machine() { kvc_manager_free(manager); }

std::array<uint8_t, 32> Machine::digest() {
  std::array<uint8_t, 32> result{};
  kvc_manager_digest(manager, nullptr, result.data());
  return result;
}

bool Machine::fail(const std::string &what) {
  if (wrong.empty())
    wrong = "operation " + std::to_string(operationCount) + ": " + what;
  return false;
}

bool Machine::failStatus(const char *name, kvc_status expected,
                         kvc_status got) {
  return fail(std::string(name) + ": expected " + kvc_status_name(expected) +
              ", got " + kvc_status_name(got) + " (" + text + ")");
}

void Machine::setQuick(bool quick) {
  isQuick = quick;
  if (!quick && manager)
    lastDigest = digest();
}

bool Machine::run(const Operations &operations) {
  for (const Operation &one : operations)
    if (!run(one))
      return false;
  return true;
}

bool Machine::run(const Operation &one) {
  if (!wrong.empty())
    return false;
  ++operationCount;
  switch (one.what) {
  case Do::Create:
    create(one);
    break;
  case Do::Free:
    if (!living.empty())
      free(one.a % living.size());
    break;
  case Do::Append:
  case Do::Together:
    append(one);
    break;
  case Do::Abandon:
    abandon(one);
    break;
  case Do::Commit:
  case Do::Rollback:
    close(one, one.what == Do::Commit);
    break;
  case Do::Fork:
    fork(one);
    break;
  case Do::Truncate:
    truncate(one);
    break;
  case Do::Publish:
    publish(one);
    break;
  case Do::Adopt:
  case Do::Reuse:
    adopt(one);
    break;
  case Do::Pin:
    pin(one);
    break;
  case Do::Unpin:
    unpin(one);
    break;
  case Do::Time:
    passTime(one.a % 4);
    break;
  case Do::Evict:
    evict(one);
    break;
  case Do::Reset:
    if (one.a % 4 == 0)
      reset();
    break;
  case Do::Begin:
    begin();
    break;
  case Do::End:
    end();
    break;
  case Do::Retire:
  case Do::Fail:
    retire(one, one.what == Do::Fail);
    break;
  case Do::Look:
    look(one);
    break;
  }
  if (wrong.empty() && !isQuick)
    settle();
  return wrong.empty();
}

bool Machine::finish() {
  while (!living.empty() && wrong.empty())
    free(0);
  if (!wrong.empty())
    return false;
  reset();
  if (open)
    end();
  while (!ended.empty() && wrong.empty())
    retire({Do::Retire}, false);
  if (!wrong.empty())
    return false;
  settle();
  for (size_t p = 0; p < pages.size(); ++p) {
    kvc_pool_stats pool = {};
    pool.struct_size = sizeof(pool);
    kvc_manager_get_pool(manager, int64_t(p), nullptr, &pool);
    if (pool.free != pool.total - 1)
      return fail("I8: pool " + std::to_string(p) + ", expected " +
                  std::to_string(pool.total - 1) + " free blocks, got " +
                  std::to_string(pool.free));
  }
  int64_t records = 0;
  if (!trace.empty() &&
      kvc_manager_replay(trace.data(), trace.size(), &diag, &records) != KVC_OK)
    return fail(std::string("replay: ") + text);
  if (!trace.empty() && records != callCount + 1)
    return fail("replay: expected " + std::to_string(callCount + 1) +
                " records, got " + std::to_string(records));
  return wrong.empty();
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

void Machine::create(const Operation &one) {
  Living made;
  const bool isFull = int(living.size()) >= setting.sequences;
  if (!expect("create", isFull ? KVC_OUT_OF_BLOCKS : KVC_OK, [&] {
        return kvc_manager_create_sequence(manager, &diag, &made.handle);
      }))
    return;
  made.space = one.a % 2;
  for (const kvc_group_info &info : infos)
    made.ends.push_back({info.sink, info.sink});
  made.next = made.ends;
  for (const Living &other : living)
    if (other.handle == made.handle)
      fail("create: a handle that another one has");
  if (std::ranges::count(gone, made.handle))
    fail("create: a handle that one had that is gone");
  living.push_back(std::move(made));
}

void Machine::free(size_t at) {
  const kvc_sequence handle = living[at].handle;
  if (!expect("free", KVC_OK, [&] {
        return kvc_manager_free_sequence(manager, handle, &diag);
      }))
    return;
  living.erase(living.begin() + ptrdiff_t(at));
  gone.push_back(handle);
  if (gone.size() > 64)
    gone.erase(gone.begin());
  expect("free of a freed one", KVC_STALE,
         [&] { return kvc_manager_free_sequence(manager, handle, &diag); });
}

void Machine::fork(const Operation &one) {
  Living *parent = sequenceAt(one.a);
  if (!parent)
    return;
  const int64_t position = one.b % (parent->committed + 1);
  kvc_status expected = KVC_OK;
  int64_t below = -1, nearest = -1;
  if (parent->hasFailed)
    expected = KVC_FAILED;
  else if (parent->isOpen)
    expected = KVC_INVALID_ARGUMENT;
  else if (!isExact(*parent, position) || !isVisible(*parent, position)) {
    expected = KVC_INEXACT_POSITION;
    below = nearestBelow(*parent, position);
  } else if (int(living.size()) >= setting.sequences)
    expected = KVC_OUT_OF_BLOCKS;
  if (!wrong.empty())
    return;
  Living child = *parent;
  const bool isMade = expect("fork", expected, [&] {
    return kvc_manager_fork(manager, parent->handle, position, &diag,
                            &child.handle, &nearest);
  });
  if (nearest != below)
    fail("fork: expected the position " + std::to_string(below) + ", got " +
         std::to_string(nearest));
  if (!isMade)
    return;
  child.step = 0;
  child.taint = std::max(parent->taint, parent->step);
  cutTokens(child, position);
  living.push_back(std::move(child));
}

void Machine::truncate(const Operation &one) {
  Living *sequence = sequenceAt(one.a);
  if (!sequence)
    return;
  const int64_t length = one.b % (sequence->committed + 1);
  kvc_status expected = KVC_OK;
  int64_t below = -1, nearest = -1;
  if (sequence->hasFailed)
    expected = KVC_FAILED;
  else if (sequence->isOpen)
    expected = KVC_INVALID_ARGUMENT;
  else if (!isExact(*sequence, length) || !isVisible(*sequence, length)) {
    expected = KVC_INEXACT_POSITION;
    below = nearestBelow(*sequence, length);
  }
  if (!wrong.empty())
    return;
  const bool isCut = expect("truncate", expected, [&] {
    return kvc_manager_truncate(manager, sequence->handle, length, &diag,
                                &nearest);
  });
  if (nearest != below)
    fail("truncate: expected the position " + std::to_string(below) + ", got " +
         std::to_string(nearest));
  if (isCut)
    cutTokens(*sequence, length);
}

//===----------------------------------------------------------------------===//
// Append
//===----------------------------------------------------------------------===//

bool Machine::ask(const std::vector<Request> &requests) {
  std::vector<kvc_append_rows> rows;
  bool isOpen = false, hasFailed = false, isLong = false;
  for (const Request &request : requests) {
    const Living &one = *request.sequence;
    rows.push_back({one.handle, request.fresh,
                    int64_t(request.tokens.size()) - request.fresh});
    isOpen |= one.isOpen;
    hasFailed |= one.hasFailed;
    isLong |= setting.tokens &&
              one.committed + int64_t(request.tokens.size()) > setting.tokens;
  }
  const kvc_status probed = kvc_manager_can_append(
      manager, rows.data(), int64_t(rows.size()), nullptr);
  if (isOpen || hasFailed || isLong) {
    // Requests of several are of sequences that may all be appended to.
    const kvc_status expected = hasFailed ? KVC_FAILED : KVC_INVALID_ARGUMENT;
    if (probed != expected)
      failStatus("can_append", expected, probed);
    expect("append", expected, [&] {
      return kvc_manager_append(manager, rows.data(), int64_t(rows.size()),
                                &diag);
    });
    return false;
  }
  std::vector<int64_t> needs(pages.size(), 0);
  countHolders();
  for (const Request &request : requests)
    addNeeds(request, needs);
  bool isFree = true, isCached = true, isLater = true;
  for (size_t p = 0; p < pages.size(); ++p) {
    kvc_pool_stats pool = {};
    pool.struct_size = sizeof(pool);
    kvc_manager_get_pool(manager, int64_t(p), nullptr, &pool);
    isFree &= needs[p] <= pool.free;
    isCached &= needs[p] <= pool.free + pool.cached;
    isLater &= needs[p] <= pool.free + pool.cached + pool.quarantined;
  }
  const size_t before = entries.size();
  const kvc_status status = call([&] {
    return kvc_manager_append(manager, rows.data(), int64_t(rows.size()),
                              &diag);
  });
  if (probed != status)
    failStatus("can_append", status, probed);
  // Cached blocks that steps in flight read have to wait for these.
  const bool isIdle = inFlight == 0;
  // What failed sequences hold is not to be seen: of what they share no one
  // knows how much has to be copied.
  if (std::ranges::any_of(living,
                          [](const Living &one) { return one.hasFailed; })) {
    if (status != KVC_OK && status != KVC_WAIT && status != KVC_OUT_OF_BLOCKS)
      failStatus("append", KVC_OK, status);
    return status == KVC_OK && wrong.empty();
  }
  if (isFree || (isCached && isIdle)) {
    if (status != KVC_OK)
      failStatus("append", KVC_OK, status);
  } else if (!isLater) {
    if (status != KVC_OUT_OF_BLOCKS)
      failStatus("append", KVC_OUT_OF_BLOCKS, status);
  } else if (!isCached) {
    if (status != KVC_WAIT)
      failStatus("append", KVC_WAIT, status);
  } else if (status != KVC_OK && status != KVC_WAIT) {
    failStatus("append", KVC_WAIT, status);
  }
  if (isFree && entries.size() != before)
    fail("append: an entry was evicted though there are free blocks");
  return status == KVC_OK && wrong.empty();
}

void Machine::take(std::vector<Request> &requests) {
  for (Request &request : requests) {
    Living &one = *request.sequence;
    addTokens(one, request.tokens);
    one.fresh = request.fresh;
    one.isOpen = true;
    one.step = std::max(one.step, open);
    for (size_t g = 0; g < infos.size(); ++g)
      one.next[g] =
          extents(g, one.ends[g], one.committed + one.fresh, one.pending());
  }
}

void Machine::append(const Operation &one) {
  std::vector<Request> requests;
  auto add = [&](Living &to) {
    std::vector<int32_t> tokens =
        someTokens(one.b % 12 + one.c % 5, uint8_t(one.b + to.pending()));
    requests.push_back({&to, std::move(tokens), one.b % 12});
  };
  if (one.what == Do::Append) {
    if (Living *to = sequenceAt(one.a))
      add(*to);
  } else {
    for (Living &to : living)
      if (!to.isOpen && !to.hasFailed &&
          (!setting.tokens ||
           to.committed + one.b % 12 + one.c % 5 <= setting.tokens))
        add(to);
  }
  // What each held before, which it may write again under a step in flight.
  std::vector<std::vector<std::vector<int32_t>>> held;
  for (const Request &request : requests) {
    held.emplace_back();
    for (size_t g = 0; g < infos.size() && !request.sequence->hasFailed; ++g) {
      kvc_sequence_state state;
      if (!stateOf(*request.sequence, g, state))
        return;
      held.back().emplace_back(state.blocks, state.blocks + state.num_blocks);
      held.back().emplace_back(state.raw_blocks,
                               state.raw_blocks + state.num_raw_blocks);
    }
  }
  if (!ask(requests))
    return;
  copy();
  take(requests);
  for (size_t i = 0; i < requests.size() && wrong.empty(); ++i)
    write(*requests[i].sequence, held[i]);
}

void Machine::abandon(const Operation &one) {
  Living *to = sequenceAt(one.a);
  if (!to || to->isOpen || to->hasFailed)
    return;
  std::vector<Request> requests;
  requests.push_back(
      {to, someTokens(one.b % 12 + one.c % 5, one.b), one.b % 12});
  if (!ask(requests))
    return;
  take(requests);
  if (one.c % 2) {
    free(size_t(to - living.data()));
  } else {
    expect("rollback", KVC_OK,
           [&] { return kvc_manager_rollback(manager, to->handle, &diag); });
    to->isOpen = false;
    to->tokens.resize(size_t(to->committed));
    to->rows.resize(size_t(to->committed));
    to->next = to->ends;
  }
  copy();
}

void Machine::close(const Operation &one, bool isCommit) {
  Living *sequence = sequenceAt(one.a);
  if (!sequence)
    return;
  Living &it = *sequence;
  const int64_t drafts = it.pending() - it.committed - it.fresh;
  const int64_t accepted = it.isOpen ? it.fresh + one.b % (drafts + 1) : 0;
  const kvc_status expected = it.hasFailed ? KVC_FAILED
                              : it.isOpen  ? KVC_OK
                                           : KVC_INVALID_ARGUMENT;
  if (it.isOpen && isCommit && one.c % 8 == 7) {
    const int64_t bad = one.c % 16 == 7 ? it.fresh - 1 : it.fresh + drafts + 1;
    expect("commit of too many or few",
           it.hasFailed ? KVC_FAILED : KVC_INVALID_ARGUMENT,
           [&] { return kvc_manager_commit(manager, it.handle, bad, &diag); });
  }
  if (!expect(isCommit ? "commit" : "rollback", expected, [&] {
        return isCommit
                   ? kvc_manager_commit(manager, it.handle, accepted, &diag)
                   : kvc_manager_rollback(manager, it.handle, &diag);
      }))
    return;
  it.isOpen = false;
  if (isCommit)
    it.committed += accepted;
  it.tokens.resize(size_t(it.committed));
  it.rows.resize(size_t(it.committed));
  for (size_t g = 0; g < infos.size(); ++g) {
    if (isCommit)
      it.ends[g] = infos[g].raw_pool >= 0 ? it.next[g]
                                          : Pair{it.committed, it.committed};
    it.next[g] = it.ends[g];
  }
  if (isCommit)
    compareFreed(it);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Machine::begin() {
  if (!open && ended.size() >= 4)
    return;
  int64_t step = 0;
  const int64_t last = open;
  if (!expect("begin_step", open ? KVC_INVALID_ARGUMENT : KVC_OK,
              [&] { return kvc_manager_begin_step(manager, &diag, &step); }))
    return;
  if (step <= last || (!ended.empty() && step <= ended.back()))
    fail("begin_step: expected a later step, got " + std::to_string(step));
  open = step;
  const uint64_t bit = uint64_t(1) << step % 64;
  for (std::vector<Cell> &pool : cells)
    for (Cell &cell : pool)
      for (uint64_t &readers : cell.readers)
        readers &= ~bit;
  inFlight |= bit;
}

void Machine::end() {
  const int64_t step = open ? open : 1;
  if (!expect("end_step", open ? KVC_OK : KVC_INVALID_ARGUMENT,
              [&] { return kvc_manager_end_step(manager, step, &diag); }))
    return;
  ended.push_back(open);
  open = 0;
}

void Machine::retire(const Operation &one, bool isFailed) {
  if (ended.empty()) {
    if (open)
      expect("retire of the open step", KVC_INVALID_ARGUMENT, [&] {
        return kvc_manager_retire(manager, open, isFailed, &diag);
      });
    return;
  }
  const size_t at = one.a % ended.size();
  const int64_t step = ended[at];
  if (!expect("retire", KVC_OK, [&] {
        return kvc_manager_retire(manager, step, isFailed, &diag);
      }))
    return;
  ended.erase(ended.begin() + ptrdiff_t(at));
  inFlight &= ~(uint64_t(1) << step % 64);
  if (!isFailed)
    return;
  for (const auto &[place, entry] : entries)
    if (isWrittenSince(place, step))
      fail("retire: an entry that the failed step wrote is still there");
  for (Living &sequence : living) {
    if (sequence.hasFailed)
      continue;
    kvc_sequence_state state = {};
    state.struct_size = sizeof(state);
    const kvc_status status =
        kvc_manager_get_sequence(manager, sequence.handle, 0, nullptr, &state);
    const bool must = sequence.step >= step;
    const bool may = must || sequence.taint >= step;
    if (must && status != KVC_FAILED)
      failStatus("a sequence of the failed step", KVC_FAILED, status);
    if (!may && status != KVC_OK)
      failStatus("a sequence of other steps", KVC_OK, status);
    sequence.hasFailed = status == KVC_FAILED;
  }
  // What is lost may be anything: those that hold it must say so.
  for (std::vector<Cell> &pool : cells)
    for (Cell &cell : pool)
      for (int tensor : {0, 1})
        if (cell.step[size_t(tensor)] >= step) {
          cell.row[size_t(tensor)] = -2;
          cell.readers[size_t(tensor)] = 0;
        }
}
