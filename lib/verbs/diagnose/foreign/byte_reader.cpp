#include "verbs/diagnose/foreign/byte_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/errors.hpp"

namespace chexbench::verbs::foreign {

Fill fill_from(const std::string& text) {
  return [&text, at = std::size_t{0}](char* to, std::size_t size) mutable {
    const std::size_t got = text.copy(to, size, at);
    at += got;
    return got;
  };
}

ByteReader::ByteReader(Fill fill, std::string name)
    : fill_(std::move(fill)), name_(std::move(name)), buffer_(1 << 16) {}

bool ByteReader::refill() {
  if (position() - marked_ > kMostUnmarked) {
    throw DataError(
        fmt::format("{}, byte {}: a single value of more than {} MiB, which no step log has; is this the "
                    "right file?",
                    name_, marked_, kMostUnmarked >> 20));
  }
  before_ += have_;
  next_ = 0;
  have_ = fill_(buffer_.data(), buffer_.size());
  return have_ > 0;
}

std::string ByteReader::head(std::size_t most) {
  if (at_end()) return "";
  return {buffer_.data() + next_, std::min(most, have_ - next_)};
}

std::string ByteReader::rest() {
  constexpr std::size_t kMostKept = 1 << 30;
  std::string text;
  while (!at_end()) {
    if (text.size() > kMostKept) throw DataError(fmt::format("cannot read {}: it is larger than 1 GiB", name_));
    text.append(buffer_.data() + next_, have_ - next_);
    next_ = have_;
    mark();
  }
  return text;
}

}  // namespace chexbench::verbs::foreign
