// BatchLine delivers the batches of a simple model, regardless of the order in which workers finish.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <rapidcheck/gtest.h>  // after gtest.h, which it does not include

#include <deque>
#include <map>
#include <stdexcept>
#include <thread>

#include "core/random.hpp"
#include "pipeline/batch_line.hpp"
#include "pipeline/tiny_set.hpp"

namespace chexbench::pipeline::test {
namespace {

using Batches = std::vector<std::vector<std::uint32_t>>;

// Returns the images in batches of `size`. A bad image is replaced by its batch's last image, and a batch that lost
// images is filled with the next batch's last ones.
Batches batches_without(const std::vector<bool>& bad, std::size_t size, bool drop_remainder) {
  std::deque<std::vector<std::uint32_t>> making;
  for (std::size_t i = 0; i < bad.size(); ++i) {
    if (i % size == 0) making.emplace_back();
    making.back().push_back(static_cast<std::uint32_t>(i));
  }
  for (auto& images : making) {
    for (std::size_t i = 0; i < images.size();) {
      if (bad[images[i]]) {
        images[i] = images.back();
        images.pop_back();
      } else {
        ++i;
      }
    }
  }
  Batches delivered;
  while (!making.empty()) {
    std::vector<std::uint32_t> images = std::move(making.front());
    making.pop_front();
    while (images.size() < size && !making.empty()) {
      if (!making.front().empty()) {
        images.push_back(making.front().back());
        making.front().pop_back();
      }
      if (making.front().empty()) making.pop_front();
    }
    if (images.size() == size || (!drop_remainder && !images.empty())) delivered.push_back(std::move(images));
  }
  return delivered;
}

// Takes batches until there are no more, and records whether there was an error.
struct Consumer {
  Batches batches;
  bool failed = false;
  bool pixels_follow_ids = true;

  void run(BatchLine& line) {
    const std::stop_token never;
    try {
      while (const BatchLease batch = line.take(never)) take(*batch);
    } catch (const std::runtime_error&) {
      failed = true;
    }
  }
  void take(Batch& batch) {
    auto& images = batches.emplace_back();
    for (int slot = 0; slot < batch.valid; ++slot) {
      images.push_back(batch.ids[static_cast<std::size_t>(slot)].image);
      pixels_follow_ids = pixels_follow_ids && *batch.image(slot) == static_cast<std::byte>(images.back()) &&
                          batch.label(slot)[0] == static_cast<float>(images.back());
    }
  }
};

// Puts one image after another into the line, with up to `at_once` of them unfinished, and finishes them in random
// order.
void fill(BatchLine& line, Turnstile& turnstile, const std::vector<bool>& bad, std::size_t at_once,
          RandomStream random) {
  const std::stop_token never;
  std::map<std::uint32_t, BatchSlot> open;
  for (std::uint32_t next = 0; next < bad.size() || !open.empty();) {
    const std::uint32_t oldest = open.empty() ? next : open.begin()->first;
    if (next < bad.size() && next < oldest + at_once) {
      turnstile.enter(never);
      open[next++] = line.claim(never);
      turnstile.leave(1, false);
      continue;
    }
    const auto one = std::next(open.begin(), static_cast<std::ptrdiff_t>(random.below(open.size())));
    const auto [image, slot] = *one;
    open.erase(one);
    Batch& batch = *slot.batch->lease;
    batch.ids[static_cast<std::size_t>(slot.slot)].image = image;
    *batch.image(slot.slot) = static_cast<std::byte>(image);
    batch.label(slot.slot)[0] = static_cast<float>(image);
    line.finish(slot, !bad[image]);
  }
}

// Whether the count is exactly 0; value() does not show counts below 0.
bool is_nothing(Count& count) {
  count.add(1);
  return count.value() == 1;
}

RC_GTEST_PROP(BatchLineProperty, DeliversTheSameBatchesInWhateverOrderRecordsAreDone, ()) {
  const auto bad = *rc::gen::container<std::vector<bool>>(
      rc::gen::weightedElement<bool>({{4, false}, {*rc::gen::inRange<std::size_t>(1, 8), true}}));
  const int size = *rc::gen::inRange(1, 6);
  const auto at_once = *rc::gen::inRange<std::size_t>(1, 3 * static_cast<std::size_t>(size) + 1);
  const bool drop_remainder = *rc::gen::arbitrary<bool>();
  const bool failing = *rc::gen::arbitrary<bool>();
  const TinySet set({1});
  Chain chain(set.of(spec::DataFormat::images), {op("list_files"), op("read"), op("map_and_batch")},
              {.batch = size, .size = 8});
  OpStats& stats = chain.at(2).stats();
  Consumer consumer;
  {
    Turnstile turnstile(1000, stats);
    BatchLine line(chain.at(2), turnstile, drop_remainder);
    std::jthread taking([&] { consumer.run(line); });
    fill(line, turnstile, bad, at_once, RandomStream(*rc::gen::arbitrary<std::uint64_t>()));
    line.end(failing ? std::make_exception_ptr(std::runtime_error("input")) : nullptr);
  }
  RC_ASSERT(consumer.failed == failing);
  RC_ASSERT(consumer.pixels_follow_ids);
  // An error after the last record replaces a batch that is not full.
  RC_ASSERT(consumer.batches == batches_without(bad, static_cast<std::size_t>(size), drop_remainder || failing));
  RC_ASSERT(is_nothing(stats.images_held));
  RC_ASSERT(is_nothing(stats.bytes_held));
  RC_ASSERT(is_nothing(stats.queue_depth));
}

}  // namespace
}  // namespace chexbench::pipeline::test
