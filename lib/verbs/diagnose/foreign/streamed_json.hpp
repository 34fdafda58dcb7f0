// JSON of any length, which is walked through without keeping it: its bytes, their repairs, and their values with their
// places. A format gets each value and keeps only those it needs.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace chexbench::verbs::foreign {

// Fills at most `size` bytes at `to` and returns how many; 0 at the end.
using Fill = std::function<std::size_t(char* to, std::size_t size)>;

// Returns a Fill for a text, which must outlive it.
Fill fill_from(const std::string& text);

// Gives bytes in order and tracks the position. mark() releases all bytes read so far; reading more than kMostUnmarked
// bytes after a mark throws, because the caller has to keep them.
class ByteReader {
 public:
  static constexpr std::size_t kMostUnmarked = 16 << 20;

  ByteReader(Fill fill, std::string name);

  // @throws DataError if too much was read since the last mark
  bool at_end() { return next_ == have_ && !refill(); }
  char peek() const { return buffer_[next_]; }
  void skip() {
    if (buffer_[next_++] == '\n') {
      ++line_;
      line_start_ = position();
    }
  }
  void mark() { marked_ = position(); }

  // Returns the next bytes, at most `most` and at most one buffer, without reading past them.
  std::string head(std::size_t most);
  // Returns all remaining bytes.
  // @throws DataError if that is more than 1 GiB
  std::string rest();

  const std::string& name() const { return name_; }
  std::size_t position() const { return before_ + next_; }  // bytes read
  std::size_t line() const { return line_; }                // of the next byte, from 1
  std::size_t column() const { return position() - line_start_ + 1; }

 private:
  bool refill();

  Fill fill_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t have_ = 0;
  std::size_t next_ = 0;
  std::size_t before_ = 0;  // bytes of the buffers before this one
  std::size_t marked_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
};

// Gives the bytes of a reader as strict JSON. It repairs what programs write that were stopped or use no JSON library:
// a comma before the end of a list or object is dropped; a list that is the whole file and lacks its end after an item
// gets one, which Chrome's trace format allows; NaN and Infinity become texts, so that nobody takes them for numbers;
// within texts, control bytes become blanks, and bytes that are not UTF-8 and escapes of surrogates become question
// marks. Everything else is unchanged, and may be an error.
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

// The most steps, or waits, of one file: more than a training of weeks has. Hostile files must not take all memory.
inline constexpr std::size_t kMostSteps = 2'000'000;
inline constexpr std::size_t kMostParts = 100'000;  // of a trace or run: threads, tensors, epochs
inline constexpr int kMostRank = 1'000'000;

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

// Walks from the next byte of `reader` to its end, with the repairs of MendedJson.
// @throws DataError, with line and column, if it is not JSON, is incomplete, or is nested too deep
void walk_json(ByteReader& reader, Visitor& visitor);

}  // namespace chexbench::verbs::foreign
