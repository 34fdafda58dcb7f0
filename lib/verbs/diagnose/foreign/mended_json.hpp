// Repairs, while reading, JSON from programs that were stopped or use no JSON library.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>

#include "verbs/diagnose/foreign/byte_reader.hpp"

namespace chexbench::verbs::foreign {

// Gives the bytes of a reader as strict JSON, with these repairs: a comma before the end of a list or object is
// dropped; a list that is the whole file and lacks its end after an item gets one, which Chrome's trace format allows;
// NaN and Infinity become texts, so that nobody takes them for numbers; within texts, control bytes become blanks, and
// bytes that are not UTF-8 and escapes of surrogates become question marks. Everything else is unchanged, and may be an
// error.
class MendedJson {
 public:
  explicit MendedJson(ByteReader& reader) : reader_(reader) {}

  bool at_end() { return place_ == next_.size() && !fill(); }
  char peek() const { return next_[place_]; }
  void skip() { ++place_; }

 private:
  bool fill();
  char take();
  void take_in_text(char byte);
  void take_escape();
  void take_character(char byte);
  void take_outside(char byte);
  void take_comma();
  void take_word();

  ByteReader& reader_;
  std::string next_;  // mended bytes
  std::size_t place_ = 0;
  std::size_t depth_ = 0;
  bool is_list_ = false;  // the whole file
  bool in_text_ = false;
  bool in_number_ = false;
};

// Iterates over mended bytes, for nlohmann's parser. A default iterator is the end.
class MendedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  MendedIterator() = default;
  explicit MendedIterator(MendedJson& json) : json_(&json) {}
  char operator*() const { return json_->peek(); }
  MendedIterator& operator++() {
    json_->skip();
    return *this;
  }
  MendedIterator operator++(int) {
    const MendedIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const MendedIterator& other) const { return ended() == other.ended(); }

 private:
  bool ended() const { return json_ == nullptr || json_->at_end(); }
  MendedJson* json_ = nullptr;
};

}  // namespace chexbench::verbs::foreign
