#include "verbs/diagnose/foreign/mended_json.hpp"

#include "core/printable.hpp"
#include "core/text.hpp"

namespace chexbench::verbs::foreign {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank_or_break(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

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

}  // namespace chexbench::verbs::foreign
