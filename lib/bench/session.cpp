#include "bench/session.hpp"

#include <cstdlib>

#include "bench/rank_agreement.hpp"
#include "comm/launcher.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"

namespace chexbench::bench {

comm::World& Session::world() {
  if (world_) return *world_;
  world_ = comm::join_world();
  if (world_->communicator().world() > 1) {
    mapping_watch_.emplace([this] { world_->abort(static_cast<int>(ExitCode::data)); });
  }
  check_same_command(command_, *world_);
  return *world_;
}

void Session::wait_for_root() const { bench::wait_for_root(world_->communicator()); }

int Session::leave(int exit_code) {
  if (exit_code != 0 && world_ && world_->communicator().world() > 1) {
    if (interrupt_requested()) wait_for_root();  // rank 0 still has to write the results
    world_->abort(exit_code);
  }
  if (exit_code != 0 && !world_) abort_ranks(exit_code);
  mapping_watch_.reset();
  world_.reset();
  return exit_code;
}

void abort_ranks(int exit_code) { comm::abort_ranks(std::getenv, exit_code); }

}  // namespace chexbench::bench
