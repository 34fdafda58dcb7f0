#include "spec/document.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "core/printable.hpp"

namespace chexbench::spec {
namespace {

constexpr std::size_t kMaxKeys = 1000;   // in one object: more than any spec has, few enough for linear searches
constexpr std::size_t kMostShown = 100;  // bytes of a text in a message
constexpr std::size_t kMostWords = 400;  // bytes of the JSON library's message, which quotes the text

// Builds the tree from the parser's events.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(const std::string& text, const std::string& source) : text_(text), source_(source) {}

  bool null() override { return add(Node{}); }
  bool boolean(bool value) override { return add(Node{value}); }
  bool number_integer(std::int64_t value) override { return add(Node{value}); }
  bool number_unsigned(std::uint64_t value) override {
    const bool fits = value <= static_cast<std::uint64_t>(INT64_MAX);
    return add(fits ? Node{static_cast<std::int64_t>(value)} : Node{static_cast<double>(value)});
  }
  bool number_float(double value, const std::string&) override { return add(Node{value}); }
  bool string(std::string& value) override { return add(Node{std::move(value)}); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Node{Object{}}); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Node{List{}}); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    const Object& object = std::get<Object>(open_.back().value);
    if (object.size() >= kMaxKeys)
      throw SpecError(fmt::format("{}: an object of more than {} keys", source_, kMaxKeys));
    if (find_member(object, name) != nullptr) {
      throw SpecError(fmt::format("{}: '{}' appears twice; keep one of them", source_, path_to(name)));
    }
    keys_.back() = name;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    error_ = fmt::format("{}:{}: not valid JSON: {}", source_, line_and_column(position), in_words(error.what()));
    return false;
  }

  Node root;
  const std::string& error() const { return error_; }

 private:
  bool add(Node node) {
    if (open_.empty()) {
      root = std::move(node);
    } else if (auto* list = std::get_if<List>(&open_.back().value)) {
      list->push_back(std::move(node));
    } else {
      std::get<Object>(open_.back().value).emplace_back(keys_.back(), std::move(node));
    }
    return true;
  }

  bool open(Node node) {
    if (open_.size() >= kMaxJsonDepth)
      throw SpecError(fmt::format("{}: nested more than {} deep", source_, kMaxJsonDepth));
    open_.push_back(std::move(node));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    Node done = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(done));
  }

  // Returns the path of the key `name` of the innermost object, e.g. "pipeline[2].buffer".
  std::string path_to(const std::string& name) const {
    std::string path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      if (const List* list = open_[i].list()) {
        path += fmt::format("[{}]", list->size());
      } else {
        path += fmt::format("{}{}", path.empty() ? "" : ".", keys_[i]);
      }
    }
    return shown(fmt::format("{}{}{}", path, path.empty() ? "" : ".", name));
  }

  // Returns "LINE:COLUMN", both counted from 1. `position` is the number of bytes read, including the offending one.
  std::string line_and_column(std::size_t position) const {
    const std::size_t at = std::min(position == 0 ? 0 : position - 1, text_.size());
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(at);
    const auto line = 1 + std::count(text_.begin(), end, '\n');
    const std::size_t line_start = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
    return fmt::format("{}:{}", line, line_start == std::string::npos ? at + 1 : at - line_start);
  }

  // Returns the library's message without its error id and its position.
  static std::string in_words(const std::string& message) {
    const std::string syntax = "syntax error ", overflow = "number overflow parsing ";
    if (const std::size_t at = message.find(overflow); at != std::string::npos) {
      return "a number too large: " + shown(message.substr(at + overflow.size()));
    }
    const std::size_t at = message.find(syntax);
    const std::string words =
        at == std::string::npos ? "unreadable" : printable(message.substr(at + syntax.size()), kMostWords);
    const bool trailing_comma = words.find("unexpected '}'; expected string literal") != std::string::npos ||
                                words.find("while parsing value - unexpected ']'") != std::string::npos;
    return trailing_comma ? words + " (a comma too many before it?)" : words;
  }

  const std::string& text_;
  const std::string& source_;
  std::string error_;
  std::vector<Node> open_;         // the containers around the current position
  std::vector<std::string> keys_;  // for each of them, the key whose value comes next
};

std::string scalar_text(const Node& node) {
  if (const bool* flag = std::get_if<bool>(&node.value)) return *flag ? "true" : "false";
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&node.value)) return fmt::format("{}", *integer);
  if (const double* number = std::get_if<double>(&node.value)) return nlohmann::json(*number).dump();
  if (const std::string* text = node.text()) {
    return nlohmann::json(*text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return "null";
}

bool is_scalar(const Node& node) { return node.list() == nullptr && node.object() == nullptr; }

std::string new_line(std::size_t indent) { return fmt::format("\n{:{}}", "", indent); }

// Appends `node`, whose line is indented by `indent`, to `out`. Each element of a list takes one line, and so does an
// op. If `compact`, or if it is a list of scalars, the whole node takes one line.
void write(const Node& node, std::size_t indent, bool compact, std::string& out) {
  const List* list = node.list();
  const Object* object = node.object();
  if (is_scalar(node)) {
    out += scalar_text(node);
    return;
  }
  const std::size_t size = list != nullptr ? list->size() : object->size();
  const bool one_line = compact || size == 0 || (list != nullptr && std::ranges::all_of(*list, is_scalar));
  const std::string line = one_line ? "" : new_line(indent + 2);
  out += list != nullptr ? "[" : "{";
  for (std::size_t i = 0; i < size; ++i) {
    out += i == 0 ? "" : (one_line ? ", " : ",");
    out += line;
    if (object != nullptr) out += scalar_text(Node{(*object)[i].first}) + ": ";
    write(list != nullptr ? (*list)[i] : (*object)[i].second, indent + 2, compact || list != nullptr, out);
  }
  if (!one_line) out += new_line(indent);
  out += list != nullptr ? "]" : "}";
}

// Parses `text` into `builder`; returns false if the syntax is wrong.
bool parse_into(TreeBuilder& builder, const std::string& text) {
  return nlohmann::json::sax_parse(text, &builder, nlohmann::json::input_format_t::json, true, true);
}

}  // namespace

Node parse_document(const std::string& text, const std::string& source) {
  TreeBuilder builder(text, source);
  if (!parse_into(builder, text)) throw SpecError(builder.error());
  return std::move(builder.root);
}

bool try_parse_document(const std::string& text, const std::string& source, Node* node) {
  TreeBuilder builder(text, source);
  if (!parse_into(builder, text)) return false;
  *node = std::move(builder.root);
  return true;
}

std::string to_text(const Node& node) {
  std::string out;
  write(node, 0, false, out);
  return out;
}

const Node* find_member(const Object& object, const std::string& key) {
  const auto found = std::ranges::find(object, key, &Object::value_type::first);
  return found == object.end() ? nullptr : &found->second;
}

std::string shown(std::string_view text) { return printable(text, kMostShown); }

std::string describe(const Node& node) {
  if (node.list() != nullptr) return "a list";
  if (node.object() != nullptr) return "an object";
  if (const std::string* text = node.text()) return fmt::format("the text \"{}\"", shown(without_credentials(*text)));
  return to_text(node);
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMost = 16 << 20;

// Reads some bytes of an open file into `to` and returns their number: 0 at the end, negative after an error.
ssize_t read_some(int file, std::span<char> to) {
  ssize_t got = 0;
  do got = ::read(file, to.data(), to.size());
  while (got < 0 && errno == EINTR);
  return got;
}

// Appends the file to `text` and returns the system's error, or 0. It stops once the text is too large, because a
// device may be endless.
int read_all(int file, std::string& text) {
  std::array<char, 65536> buffer;
  while (text.size() <= kMost) {
    const ssize_t got = read_some(file, buffer);
    if (got < 0) return errno;
    if (got == 0) return 0;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return 0;
}

// Opens a file so that open() does not wait for a FIFO's writer but reads do wait, because a pipe's text may arrive
// late.
int open_text(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0) ::fcntl(file, F_SETFL, 0);
  return file;
}

// Returns the names of a folder's *.json files without that ending, sorted; after an error, those read so far.
std::vector<std::string> json_files_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".json") names.push_back(entry->path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

// Returns " (did you mean 'FOLDER/NAME.json'?)" for the most similar name in the folder of a missing path, or "".
std::string file_suggestion(const fs::path& missing) {
  const fs::path folder = missing.parent_path();
  const std::string wanted = (missing.extension() == ".json" ? missing.stem() : missing.filename()).string();
  const std::string nearest = nearest_name(wanted, json_files_in(folder.empty() ? "." : folder));
  return nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", shown((folder / (nearest + ".json")).string()));
}

}  // namespace

std::string read_text_file(const std::string& path, const std::string& what) {
  const auto failure = [&](const std::string& reason) {
    return SpecError(fmt::format("cannot read the {} '{}': {}", what, shown(path), reason));
  };
  const int file = open_text(path);
  if (file < 0) {
    const int reason = errno;
    throw failure(std::strerror(reason) + (reason == ENOENT ? file_suggestion(path) : ""));
  }
  std::string text;
  const int error = read_all(file, text);
  ::close(file);
  if (error == EISDIR) throw failure("it is a folder");
  if (error != 0) throw failure(std::strerror(error));
  if (text.size() > kMost) throw failure("it is larger than 16 MB");
  return text;
}

}  // namespace chexbench::spec
