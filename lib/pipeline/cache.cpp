// cache: keeps the elements of the first whole epoch, and serves the others from them.
#include <fmt/format.h>

#include <cmath>

#include "core/errors.hpp"
#include "pipeline/cache_codec.hpp"
#include "pipeline/ops.hpp"

namespace chexbench::pipeline {
namespace {

// Passes elements on and keeps a copy of each. Only an epoch that reached its end becomes the cache.
class FillIterator final : public Iterator {
 public:
  FillIterator(Op& op, std::unique_ptr<Iterator> input, std::unique_ptr<CacheStore> store,
               std::unique_ptr<CacheStore>& finished, bool to_memory, std::stop_token stop)
      : Iterator(op, std::move(stop)),
        to_memory_(to_memory),
        codec_(op),
        input_(std::move(input)),
        store_(std::move(store)),
        finished_(finished) {}

  ~FillIterator() override {
    if (store_) op_.stats().bytes_held.set(0);
  }

 private:
  bool produce(Element& out) override {
    while (input_->next(out)) {
      if (!load(out)) continue;
      const std::size_t bytes = codec_.add(out, *store_);
      if (to_memory_) op_.stats().bytes_held.add(static_cast<std::int64_t>(bytes));
      return true;
    }
    if (store_ && !stop_.stop_requested()) {
      store_->finish();
      finished_ = std::move(store_);
    }
    return false;
  }

  // False for a file that cannot be read, where the spec says to skip bad records.
  bool load(Element& element) {
    try {
      codec_.load(element);
      op_.reading().good();
      return true;
    } catch (const DataError& error) {
      op_.reading().bad(error);
      return false;
    }
  }

  const bool to_memory_;
  CacheCodec codec_;
  const std::unique_ptr<Iterator> input_;
  std::unique_ptr<CacheStore> store_;
  std::unique_ptr<CacheStore>& finished_;
};

class ServeIterator final : public Iterator {
 public:
  ServeIterator(Op& op, const CacheStore& store, std::uint32_t epoch, std::stop_token stop)
      : Iterator(op, std::move(stop)), codec_(op), store_(store), epoch_(epoch) {}

 private:
  bool produce(Element& out) override {
    if (next_ == store_.size()) return false;
    out = codec_.restore(store_.at(next_++), epoch_, stop_);
    return !stop_.stop_requested();
  }

  CacheCodec codec_;
  const CacheStore& store_;
  const std::uint32_t epoch_;
  std::size_t next_ = 0;
};

class Cache final : public Op {
 public:
  explicit Cache(const OpSetup& setup) : Op(setup), to_(setup.spec.text("to")) {
    if (std::isinf(expected_elements())) {
      throw SpecError(
          fmt::format("pipeline[{}] cache: what comes before it never ends; put it before repeat", index()));
    }
  }

  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    if (store_) return std::make_unique<ServeIterator>(*this, *store_, epoch, stop);
    return std::make_unique<FillIterator>(*this, input_->iterate(epoch, stop), make_store(), store_, in_memory(), stop);
  }

  double copied_bytes() const override { return in_memory() ? expected_elements() * mean_element_bytes() : 0; }

 private:
  bool in_memory() const { return to_ == "memory"; }

  // Each rank has images of its own. A file is always made anew: an earlier one may hold another trial's images.
  std::unique_ptr<CacheStore> make_store() const {
    if (in_memory()) return make_memory_store();
    return make_file_store(fmt::format("{}.{}-of-{}", to_, context().rank, context().world));
  }

  double mean_element_bytes() const {
    const data::Dataset& dataset = context().dataset;
    switch (kind()) {
      case spec::ElementKind::record:
        return static_cast<double>(dataset.total_bytes) / static_cast<double>(dataset.images.size());
      case spec::ElementKind::example:
        return static_cast<double>(image_bytes());
      case spec::ElementKind::batch:
        return static_cast<double>(context().shape.bytes());
      default:
        return 0;
    }
  }

  const std::string to_;
  std::unique_ptr<CacheStore> store_;  // once an epoch is complete
};

}  // namespace

std::unique_ptr<Op> make_cache(const OpSetup& setup) { return std::make_unique<Cache>(setup); }

}  // namespace chexbench::pipeline
