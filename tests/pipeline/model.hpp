// Computes the output of ops with simple loops over whole passes, as a reference for the real ops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/random.hpp"
#include "pipeline/harness.hpp"

namespace chexbench::pipeline::test {

// The shuffle of tf.data: fill a buffer, draw an element of it, put the next input element into the buffer, and repeat.
template <typename T>
std::vector<T> reservoir(const std::vector<T>& input, std::size_t buffer, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<T> drawn;
  std::vector<T> held;
  for (std::size_t next = 0; drawn.size() < input.size();) {
    while (next < input.size() && held.size() < buffer) held.push_back(input[next++]);
    T& one = held[random.below(held.size())];
    drawn.push_back(one);
    one = held.back();
    held.pop_back();
  }
  return drawn;
}

// Returns the seed of a shuffle's pass, which depends on the op's position, on the epoch, and, only after a shard, on
// the rank.
inline std::uint64_t shuffle_seed(std::uint64_t seed, std::size_t op, std::optional<int> rank, std::uint32_t epoch) {
  std::uint64_t of_op = derive_seed(seed, op);
  if (rank) of_op = derive_seed(of_op, static_cast<std::uint64_t>(*rank));
  return derive_seed(of_op, epoch);
}

// The loop of tf.data's interleave_dataset_op.cc over `files`, each a list of its records.
template <typename T>
std::vector<T> interleaved(const std::vector<std::vector<T>>& files, std::size_t cycle_length,
                           std::size_t block_length) {
  struct Reading {
    std::size_t file;
    std::size_t record = 0;
  };
  std::vector<std::optional<Reading>> cycle(cycle_length);
  std::vector<T> out;
  std::size_t next_file = 0, open = 0, turn = 0, taken = 0;
  const auto end_turn = [&] {
    taken = 0;
    turn = (turn + 1) % cycle_length;
  };
  while (next_file < files.size() || open > 0) {
    std::optional<Reading>& here = cycle[turn];
    if (here && here->record < files[here->file].size()) {
      out.push_back(files[here->file][here->record++]);
      if (++taken == block_length) end_turn();
    } else if (here) {
      here.reset();
      --open;
      end_turn();
    } else if (next_file < files.size()) {
      here = Reading{next_file++};
      ++open;
    } else {
      end_turn();
    }
  }
  return out;
}

// Models a whole op list that is finite and has a fixed order.
class ListModel {
 public:
  // An element is a list of the images in it; for a file, of the images that it will yield.
  using Element = std::vector<ExampleId>;

  // `lengths` is the number of images of each file.
  ListModel(const std::vector<std::size_t>& lengths, const spec::PipelineSpec& pipeline, const Setting& setting)
      : lengths_(lengths), ops_(pipeline.ops), setting_(setting) {}

  std::vector<Element> delivered() { return pass(ops_.size() - 1, 0); }
  // Whether a repeat got a pass without any element, which the real one reports as an error.
  bool has_empty_epoch() const { return has_empty_epoch_; }

 private:
  std::vector<Element> pass(std::size_t op, std::uint32_t epoch);
  std::vector<Element> files(std::uint32_t epoch) const;
  std::vector<Element> repeated(std::size_t op, std::uint32_t epoch);
  std::vector<Element> cached(std::size_t op, std::uint32_t epoch);
  std::vector<Element> shuffled(std::size_t op, std::uint32_t epoch);
  std::vector<Element> batched(const std::vector<Element>& input, bool drop_remainder) const;

  const std::vector<std::size_t> lengths_;
  const std::vector<spec::OpSpec> ops_;
  const Setting setting_;
  std::map<std::size_t, std::vector<Element>> kept_;  // the contents of each cache, by the op's index
  bool has_empty_epoch_ = false;
};

}  // namespace chexbench::pipeline::test
