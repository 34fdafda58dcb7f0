#include "verbs/diagnose/foreign/json_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "core/printable.hpp"
#include "verbs/diagnose/foreign/mended_json.hpp"

namespace chexbench::verbs::foreign {
namespace {

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
