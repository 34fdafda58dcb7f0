// The op cache: keeps the elements of the first complete epoch, as many as fit in max_bytes, and serves the later
// epochs from them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "pipeline/cache_store.hpp"
#include "pipeline/ops.hpp"

namespace chexbench::pipeline {
namespace {

// The cache's contents. Empty until an epoch is complete.
struct Kept {
  std::unique_ptr<CacheStore> store;
  bool whole = true;      // the store has a whole epoch; if false, `elements` lists the part that it has
  KeptElements elements;  // empty without max_bytes
};

// Reads the bytes of a record that has none yet; checks the bytes of a shard's record. Returns false if the file cannot
// be read, or the record is damaged, and the spec says to skip bad records.
bool load(Op& op, CacheCodec& codec, Element& element) {
  try {
    codec.load(element);
    op.reading().good();
    return true;
  } catch (const DataError& error) {
    op.reading().bad(error);
    return false;
  }
}

// Passes elements on and keeps a copy of each one that fits. The copies become the cache only if the epoch reaches its
// end.
class FillIterator final : public Iterator {
 public:
  struct Target {
    std::unique_ptr<CacheStore> store;
    bool to_memory = true;
    std::optional<std::size_t> max_bytes;
    Kept& kept;
  };
  FillIterator(Op& op, std::unique_ptr<Iterator> input, Target target, std::stop_token stop)
      : Iterator(op, std::move(stop)), codec_(op), input_(std::move(input)), target_(std::move(target)) {}

  ~FillIterator() override {
    if (target_.store) op_.stats().bytes_held.set(0);
  }

 private:
  bool produce(Element& out) override {
    while (input_->next(out)) {
      if (!load(op_, codec_, out)) continue;
      ++seen_;
      if (fits(out)) keep(out);
      return true;
    }
    if (target_.store && !stop_.stop_requested()) finish();
    return false;
  }

  // After the first element that does not fit, no further element is kept, no matter how small: the cache holds the
  // beginning of an epoch.
  bool fits(const Element& element) {
    if (target_.max_bytes && !full_) full_ = bytes_ + codec_.bytes_of(element) > *target_.max_bytes;
    return !full_;
  }

  void keep(const Element& element) {
    const std::size_t bytes = codec_.add(element, *target_.store);
    bytes_ += bytes;
    ++kept_;
    if (target_.max_bytes) elements_.insert(CacheCodec::key_of(element));
    if (target_.to_memory) op_.stats().bytes_held.add(static_cast<std::int64_t>(bytes));
  }

  void finish() {
    if (full_) {
      log::warning("{}: cache: max_bytes {} holds {} of {} elements; the others are made again in each epoch",
                   op_.place(), *target_.max_bytes, kept_, seen_);
    }
    target_.store->finish();
    target_.kept = {.store = std::move(target_.store), .whole = !full_, .elements = std::move(elements_)};
  }

  CacheCodec codec_;
  const std::unique_ptr<Iterator> input_;
  Target target_;
  KeptElements elements_;
  std::size_t bytes_ = 0, kept_ = 0, seen_ = 0;
  bool full_ = false;
};

// Delivers the kept elements and then, if they are not a whole epoch, the elements of `rest` that are not kept.
class ServeIterator final : public Iterator {
 public:
  ServeIterator(Op& op, const Kept& kept, std::unique_ptr<Iterator> rest, std::uint32_t epoch, std::stop_token stop)
      : Iterator(op, std::move(stop)), codec_(op), kept_(kept), rest_(std::move(rest)), epoch_(epoch) {}

 private:
  bool produce(Element& out) override {
    if (next_ == kept_.store->size()) return rest_ && produce_rest(out);
    out = codec_.restore(kept_.store->at(next_++), epoch_, stop_);
    return !stop_.stop_requested();
  }

  bool produce_rest(Element& out) {
    while (rest_->next(out)) {
      if (!kept_.elements.contains(CacheCodec::key_of(out)) && load(op_, codec_, out)) return true;
    }
    return false;
  }

  CacheCodec codec_;
  const Kept& kept_;
  const std::unique_ptr<Iterator> rest_;
  const std::uint32_t epoch_;
  std::size_t next_ = 0;
};

class Cache final : public Op {
 public:
  explicit Cache(const OpSetup& setup) : Op(setup), to_(setup.spec.text("to")) {
    if (std::isinf(expected_elements())) {
      throw SpecError(fmt::format("{}: cache: what comes before it never ends; put it before repeat", place()));
    }
    if (!setup.spec.holds_text("max_bytes")) set_budget(static_cast<std::size_t>(setup.spec.integer("max_bytes")));
  }

  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    if (!kept_.store) {
      return std::make_unique<FillIterator>(
          *this, input_->iterate(epoch, stop),
          FillIterator::Target{.store = make_store(), .to_memory = in_memory(), .max_bytes = max_bytes_, .kept = kept_},
          stop);
    }
    std::unique_ptr<Iterator> rest;
    if (!kept_.whole) {
      input_->leave_out(kept_.elements);
      rest = input_->iterate(epoch, stop);
    }
    return std::make_unique<ServeIterator>(*this, kept_, std::move(rest), epoch, stop);
  }

  double copied_bytes() const override {
    constexpr double kUnlimited = std::numeric_limits<double>::infinity();
    const double most = max_bytes_ ? static_cast<double>(*max_bytes_) : kUnlimited;
    return in_memory() ? std::min(most, expected_elements() * mean_element_bytes()) : 0;
  }

 private:
  bool in_memory() const { return to_ == "memory"; }

  // With a budget, each element needs a key by which later epochs recognize it, and all epochs must have the same
  // elements. @throws SpecError if that is not so
  void set_budget(std::size_t max_bytes) {
    if (kind() != spec::ElementKind::record && kind() != spec::ElementKind::example) {
      throw SpecError(fmt::format("{}: cache: max_bytes needs records or images, and it would get {}", place(),
                                  spec::to_string(kind())));
    }
    for (const spec::OpSpec& op : std::span(context().pipeline.ops).first(index())) {
      if (!op.rule().cuts && !op.rule().repeats) continue;
      throw SpecError(
          fmt::format("{}: cache: with max_bytes it cannot come after {}, whose epochs differ", place(), op.op));
    }
    max_bytes_ = max_bytes;
  }

  // Each rank writes its own file, because ranks have different images. The file is always rewritten, because an
  // earlier one may contain the images of another trial.
  std::unique_ptr<CacheStore> make_store() const {
    if (in_memory()) return make_memory_store();
    return make_file_store(fmt::format("{}.{}-of-{}", to_, context().rank, context().world));
  }

  double mean_element_bytes() const {
    const dataset::Dataset& dataset = context().dataset;
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
  std::optional<std::size_t> max_bytes_;
  Kept kept_;
};

}  // namespace

std::unique_ptr<Op> make_cache(const OpSetup& setup) { return std::make_unique<Cache>(setup); }

}  // namespace chexbench::pipeline
