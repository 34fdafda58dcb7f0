#include "bench/session.hpp"

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"

namespace chexbench::bench {
namespace {

constexpr double kGraceS = 8;

}  // namespace

comm::World& Session::world() {
  if (!world_) world_ = comm::join_world();
  return *world_;
}

int Session::leave(int exit_code) {
  if (exit_code != 0 && world_ && world_->communicator().world() > 1) {
    // A signal reaches every rank, and all of them find the same fault in a spec: rank 0 speaks for all, and still has
    // to write down what was measured.
    const bool all_ranks_end = interrupt_requested() || exit_code == static_cast<int>(ExitCode::spec);
    if (all_ranks_end && world_->communicator().rank() != 0) sleep_until_s(now_s() + kGraceS);
    world_->abort(exit_code);
  }
  world_.reset();
  return exit_code;
}

}  // namespace chexbench::bench
