#include "verbs/diagnose/foreign/streamed_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"

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

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank_or_break(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

using nlohmann::json;

constexpr std::size_t kMostShown = 100;  // bytes of a key or text in a message
constexpr std::size_t kMostWords = 300;  // bytes of the JSON library's message, which quotes the file
constexpr const char* kTooLarge = "a number too large";

std::string described(const Scalar& value) {
  if (const double* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string_view>(&value))
    return fmt::format("'{}'", printable(*text, kMostShown));
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return "null";
}

}  // namespace

bool MendedJson::fill() {
  next_.clear();
  place_ = 0;
  if (!reader_.at_end()) {
    const char byte = take();
    in_text_ ? take_in_text(byte) : take_outside(byte);
  } else if (depth_ == 1 && is_list_ && !in_text_) {
    depth_ = 0;
    next_ = "]";
  }
  return !next_.empty();
}

char MendedJson::take() {
  const char byte = reader_.peek();
  reader_.skip();
  return byte;
}

void MendedJson::take_in_text(char byte) {
  next_ = byte;
  if (byte == '"') in_text_ = false;
  if (byte == '\\') return take_escape();
  if ((byte & 0x80) != 0) return take_character(byte);
  if (static_cast<unsigned char>(byte) < 0x20) next_ = " ";
}

void MendedJson::take_escape() {
  constexpr std::size_t kEscapeBytes = 6;  // "\ud800"
  if (!reader_.at_end()) next_ += take();
  if (next_ != "\\u") return;
  while (next_.size() < kEscapeBytes && !reader_.at_end() && reader_.peek() != '"') next_ += take();
  const bool is_surrogate = next_.size() == kEscapeBytes && lower_case(next_.substr(2, 1)) == "d" && next_[3] >= '8';
  if (is_surrogate) next_ = "?";
}

void MendedJson::take_character(char byte) {
  constexpr std::size_t kMostBytes = 4;
  next_ = byte;
  while (next_.size() < kMostBytes && !reader_.at_end() && (reader_.peek() & 0xc0) == 0x80) next_ += take();
  if (!is_utf8(next_)) next_ = "?";
}

void MendedJson::take_outside(char byte) {
  next_ = byte;
  const bool is_sign = byte == '-' && !reader_.at_end() && is_letter(reader_.peek());
  if (byte == ',') take_comma();
  if (!in_number_ && (is_letter(byte) || is_sign)) return take_word();
  in_number_ = is_digit(byte) || (in_number_ && std::string_view(".eE+-").find(byte) != std::string_view::npos);
  if (byte == '"') in_text_ = true;
  if (byte == '[' || byte == '{') {
    if (depth_ == 0) is_list_ = byte == '[';
    ++depth_;
  }
  if ((byte == ']' || byte == '}') && depth_ > 0) --depth_;
}

void MendedJson::take_comma() {
  while (!reader_.at_end() && is_blank_or_break(reader_.peek())) reader_.skip();
  if (reader_.at_end() || reader_.peek() == ']' || reader_.peek() == '}') next_ = " ";
}

void MendedJson::take_word() {
  constexpr std::size_t kMostLetters = 16;  // no JSON word is longer, but a file may have any number
  while (next_.size() < kMostLetters && !reader_.at_end() && is_letter(reader_.peek())) next_ += take();
  const std::string word = lower_case(next_.substr(next_.starts_with('-') ? 1 : 0));
  if (word == "nan" || word == "inf" || word == "infinity") next_ = '"' + next_ + '"';
}

bool Place::is(std::initializer_list<std::string_view> pattern) const {
  if (pattern.size() != steps_.size()) return false;
  const auto fits = [](const Step& step, std::string_view wanted) {
    return wanted == "*" || (!step.is_list && step.key == wanted);
  };
  return std::equal(steps_.begin(), steps_.end(), pattern.begin(), fits);
}

double Place::number(const Scalar& value, double most) const {
  const double* const found = std::get_if<double>(&value);
  if (found == nullptr) fail(fmt::format("it is {}, and must be a number", described(value)));
  if (!std::isfinite(*found) || *found > most) fail(fmt::format("it is {}, more than anything measured", *found));
  if (*found < 0) fail(fmt::format("it is {}, and cannot be below 0", *found));
  return *found;
}

int Place::whole_number(const Scalar& value, int most) const {
  const double found = number(value, most);
  if (found != std::floor(found)) fail(fmt::format("it is {}, and must be a whole number", found));
  return static_cast<int>(found);
}

void Place::fail(const std::string& complaint) const {
  throw DataError(fmt::format("{}, line {}, {}: {}", reader_.name(), reader_.line(), text(), complaint));
}

std::string Place::text() const {
  std::string path;
  for (const Step& step : steps_) {
    path +=
        step.is_list ? fmt::format("[{}]", step.index) : (path.empty() ? "" : ".") + printable(step.key, kMostShown);
  }
  return path.empty() ? "the top" : printable(path, 5 * kMostShown);
}

// Turns the events of nlohmann's parser into places and values.
class Walker : public nlohmann::json_sax<json> {
 public:
  Walker(ByteReader& reader, Visitor& visitor) : reader_(reader), visitor_(visitor), place_(reader) {}

  bool null() override { return scalar({}); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(std::int64_t value) override { return scalar(static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value) override { return scalar(static_cast<double>(value)); }
  bool number_float(double value, const std::string&) override { return scalar(value); }
  bool string(std::string& value) override { return scalar(std::string_view(value)); }
  bool binary(json::binary_t&) override { return false; }
  bool key(std::string& name) override {
    place_.steps_.back().key = std::move(name);
    reader_.mark();
    return true;
  }
  bool start_object(std::size_t) override { return open(false); }
  bool start_array(std::size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) override {
    const std::string words = in_words(error.what());
    if (reader_.at_end() && words != kTooLarge) {
      throw DataError(
          fmt::format("{}: it ends within its JSON, at byte {} (line {}): a copy that was cut off, or a "
                      "program that was stopped while it wrote; copy or write it again",
                      reader_.name(), reader_.position(), reader_.line()));
    }
    throw DataError(fmt::format("{}, line {}, column {}: not valid JSON: {}", reader_.name(), reader_.line(),
                                reader_.column(), words));
  }

 private:
  // Returns the library's message without its error id and its position.
  static std::string in_words(const std::string& message) {
    if (message.find("number overflow") != std::string::npos) return kTooLarge;
    const std::string mark = "syntax error ";
    const std::size_t at = message.find(mark);
    return at == std::string::npos ? "unreadable" : printable(message.substr(at + mark.size()), kMostWords);
  }

  bool open(bool is_list) {
    if (place_.depth() >= kMaxJsonDepth) place_.fail(fmt::format("nested more than {} deep", kMaxJsonDepth));
    place_.steps_.push_back({.key = "", .index = 0, .is_list = is_list});
    reader_.mark();
    return true;
  }
  bool close() {
    place_.steps_.pop_back();
    visitor_.closed(place_);
    return done();
  }
  bool scalar(const Scalar& value) {
    visitor_.value(place_, value);
    return done();
  }
  bool done() {  // the next value of a list has the next position
    if (place_.depth() > 0) ++place_.steps_.back().index;
    reader_.mark();
    return true;
  }

  ByteReader& reader_;
  Visitor& visitor_;
  Place place_;
};

void walk_json(ByteReader& reader, Visitor& visitor) {
  Walker walker(reader, visitor);
  MendedJson mended(reader);
  json::sax_parse(MendedIterator(mended), MendedIterator(), &walker);
}

}  // namespace chexbench::verbs::foreign
