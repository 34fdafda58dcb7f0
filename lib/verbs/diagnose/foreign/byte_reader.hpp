// Bytes of a file of any length, one after the other, in constant memory.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
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

}  // namespace chexbench::verbs::foreign
