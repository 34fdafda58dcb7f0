#include "bench/session.hpp"

#include "core/clock.hpp"
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
    // A signal reaches every rank; rank 0 still has to write down what was measured.
    if (interrupt_requested() && world_->communicator().rank() != 0) sleep_until_s(now_s() + kGraceS);
    world_->abort(exit_code);
  }
  world_.reset();
  return exit_code;
}

}  // namespace chexbench::bench
