#include "engine/cuda/training/weight_gradient_stream.hpp"

#include <utility>

namespace chexbench::engine::cuda {

WeightGradientStream::WeightGradientStream(bool concurrent) {
  if (concurrent) beside_.emplace();
}

Stream WeightGradientStream::fork(Stream main) {
  if (!beside_) return main;
  beside_->forked.record(main);
  wait_for(beside_->stream.get(), beside_->forked);
  is_forked_ = true;
  return beside_->stream.get();
}

bool WeightGradientStream::join(Stream main) {
  if (!std::exchange(is_forked_, false)) return false;
  beside_->done.record(beside_->stream.get());
  wait_for(main, beside_->done);
  return true;
}

}  // namespace chexbench::engine::cuda
