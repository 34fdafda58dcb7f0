#include "bench/session.hpp"

namespace chexbench::bench {

comm::World& Session::world() {
  if (!world_) world_ = comm::join_world();
  return *world_;
}

int Session::leave(int exit_code) {
  if (exit_code != 0 && world_ && world_->communicator().world() > 1) world_->abort(exit_code);
  world_.reset();
  return exit_code;
}

}  // namespace chexbench::bench
