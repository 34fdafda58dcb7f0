// Steps that all commands for several ranks share.
#pragma once

#include "bench/ranks.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"

namespace chexbench::app {

// Joins the ranks, puts this rank's number before the lines of its log, and returns it.
inline int join_ranks(bench::Session& session, log::Level level = log::Level::info) {
  comm::Communicator& ranks = session.world().communicator();
  log::configure(level, ranks.world() > 1 ? ranks.rank() : -1);
  return ranks.rank();
}

// Returns what `check` returns. All ranks find the same fault in a spec, so the others wait while rank 0 reports it.
// @throws SpecError
template <class Check>
auto in_agreement(bench::Session& session, Check check) {
  try {
    return check();
  } catch (const SpecError&) {
    session.wait_for_root();
    throw;
  }
}

}  // namespace chexbench::app
