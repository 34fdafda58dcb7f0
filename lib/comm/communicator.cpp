#include "comm/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

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

std::string broadcast_text(Communicator& communicator, std::string text) {
  std::uint64_t size = text.size();
  communicator.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  text.resize(size);
  if (size > 0) communicator.broadcast(std::as_writable_bytes(std::span(text.data(), text.size())), 0);
  return text;
}

bool broadcast_flag(Communicator& communicator, bool value) {
  auto byte = static_cast<std::byte>(value);
  communicator.broadcast(std::span(&byte, 1), 0);
  return byte != std::byte{0};
}

std::vector<std::string> all_gather(Communicator& communicator, const std::string& text) {
  std::string packed;
  for (const std::string& part : communicator.gather(text, 0)) {
    const std::uint64_t size = part.size();
    packed.append(reinterpret_cast<const char*>(&size), sizeof size);
    packed += part;
  }
  packed = broadcast_text(communicator, std::move(packed));
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < packed.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, packed.data() + at, sizeof size);
    parts.push_back(packed.substr(at + sizeof size, size));
    at += sizeof size + size;
  }
  return parts;
}

}  // namespace chexbench::comm
