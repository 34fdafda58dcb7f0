#include "comm/single.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "comm/arguments.hpp"

namespace chexbench::comm {
namespace {

class SingleReducer final : public Reducer {
 public:
  void reduce(BucketSpan, ReadyEvent) override {}
  void wait() override {}
  ReducerTimings timings() const override { return {}; }
  bool capturable() const override { return true; }
  int world() const override { return 1; }
};

class SingleCommunicator final : public Communicator {
 public:
  int rank() const override { return 0; }
  int world() const override { return 1; }
  void all_reduce_sum(std::span<float>) override {}
  void all_reduce_sum(std::span<double>) override {}
  void broadcast(std::span<std::byte>, int root) override { check_root(root, 1); }
  void barrier() override {}
  std::vector<std::string> gather(const std::string& bytes, int root) override {
    check_root(root, 1);
    return {bytes};
  }
  std::unique_ptr<Communicator> first(int ranks) override {
    check_first(ranks, 1);
    return std::make_unique<SingleCommunicator>();
  }
  std::unique_ptr<Reducer> make_reducer(const spec::CommSpec&) override { return make_single_reducer(); }
  std::unique_ptr<Reducer> make_device_reducer(int ranks, const DeviceReducerConfig&) override {
    check_first(ranks, 1);
    return make_single_reducer();
  }
};

class SingleWorld final : public World {
 public:
  Communicator& communicator() override { return communicator_; }
  std::string library() const override { return "none"; }
  [[noreturn]] void abort(int exit_code) override {
    std::fflush(nullptr);
    std::_Exit(exit_code);
  }

 private:
  SingleCommunicator communicator_;
};

}  // namespace

std::unique_ptr<World> make_single_world() { return std::make_unique<SingleWorld>(); }

std::unique_ptr<Reducer> make_single_reducer() { return std::make_unique<SingleReducer>(); }

}  // namespace chexbench::comm
