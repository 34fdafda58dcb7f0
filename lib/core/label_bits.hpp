// Which labels an image has: any number of them, most of which it lacks; and of which of them nothing is known.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace chexbench {

// A set of labels, each known by its place in Dataset::label_names. The first 64 cost no memory of their own; of those
// behind them only what is set is kept, so that an image of one class in thousands stays small.
class LabelBits {
 public:
  static constexpr std::size_t kMostIgnored = 64;

  LabelBits() = default;
  // Bit f of `first`: label f. Implicit, so that a literal can stand for a set.
  LabelBits(std::uint64_t first) : first_(first) {}  // NOLINT(google-explicit-constructor)

  bool has(std::size_t label) const;
  void set(std::size_t label);
  bool empty() const { return first_ == 0 && others_.empty(); }
  // Marks a label below kMostIgnored as unknown: losses and scores leave it out. A label is never set and ignored.
  void ignore(std::size_t label) { ignored_ |= std::uint64_t{1} << label; }
  bool is_ignored(std::size_t label) const { return label < kMostIgnored && (ignored_ >> label & 1u) != 0; }
  // Returns the labels that are set, without those that are ignored: what a record can hold.
  LabelBits present() const;
  // Calls `visit` with each label that is set, ascending.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t rest = first_; rest != 0; rest &= rest - 1) {
      visit(static_cast<std::size_t>(std::countr_zero(rest)));
    }
    for (const std::uint32_t label : others_) visit(std::size_t{label});
  }
  friend bool operator==(const LabelBits&, const LabelBits&) = default;

 private:
  std::uint64_t first_ = 0;
  std::uint64_t ignored_ = 0;
  std::vector<std::uint32_t> others_;  // from 64 on, ascending
};

}  // namespace chexbench
