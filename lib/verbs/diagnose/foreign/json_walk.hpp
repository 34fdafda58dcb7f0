// Walks through JSON of any length without keeping it. A format gets each value with its place and keeps only those it
// needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "verbs/diagnose/foreign/byte_reader.hpp"

namespace chexbench::verbs::foreign {

using Scalar = std::variant<std::monostate, bool, double, std::string_view>;  // monostate: null

// The place of a value: its path of keys and positions, and its line.
class Place {
 public:
  explicit Place(const ByteReader& reader) : reader_(reader) {}

  std::size_t depth() const { return steps_.size(); }
  // The key of the object at `level`, from 0; empty for a list.
  const std::string& key(std::size_t level) const { return steps_[level].key; }
  bool in_list(std::size_t level) const { return steps_[level].is_list; }
  // Returns whether the path matches, where "*" stands for any key or position.
  bool is(std::initializer_list<std::string_view> pattern) const;

  // Return the value as a number of that kind. Messages name the place.
  // @throws DataError if it has another type, or is out of range
  double number(const Scalar& value, double most) const;
  int whole_number(const Scalar& value, int most) const;
  // @throws DataError "NAME, line LINE, PATH: complaint"
  [[noreturn]] void fail(const std::string& complaint) const;

 private:
  friend class Walker;
  struct Step {
    std::string key;
    std::size_t index = 0;
    bool is_list = false;
  };
  std::string text() const;

  const ByteReader& reader_;
  std::vector<Step> steps_;
};

// Receives all values, and picks those of one format.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void value(const Place& place, const Scalar& value) = 0;
  virtual void closed(const Place& /*place*/) {}  // an object or list at this place has ended
};

// Walks from the next byte of `reader` to its end, with the repairs of mended_json.hpp.
// @throws DataError, with line and column, if it is not JSON, is incomplete, or is nested too deep
void walk_json(ByteReader& reader, Visitor& visitor);

}  // namespace chexbench::verbs::foreign
