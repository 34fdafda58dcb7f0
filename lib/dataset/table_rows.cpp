#include "dataset/table_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/errors.hpp"
#include "core/text.hpp"
#include "formats/inflated_stream.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::dataset {

namespace {

bool next_not_blank(LineReader& lines, std::string_view& record, char separator) {
  do {
    if (!lines.next_record(record, separator)) return false;
  } while (trimmed(record).empty());
  return true;
}

std::vector<std::string> copied(const std::vector<std::string_view>& fields) { return {fields.begin(), fields.end()}; }

}  // namespace

TableRows::TableRows(std::string_view text, std::string table, RowWidth width)
    : table_(std::move(table)), width_(width), lines_(text), separator_(csv_separator(text)) {
  std::string_view header;
  LineReader before = lines_;
  if (std::string_view line; before.next(line)) {
    if (const std::optional<char> stated = stated_separator(line)) {
      separator_ = *stated;
      lines_ = before;
    }
  }
  if (!lines_.next_record(header, separator_)) throw DataError(fmt::format("{}: the file is empty", table_));
  split_ = CsvFields(separator_);
  names_ = copied(split_.split(header));
}

std::vector<std::string> TableRows::following() const {
  LineReader lines = lines_;
  std::string_view record;
  if (!next_not_blank(lines, record, separator_)) return {};
  return copied(CsvFields(separator_).split(record));
}

bool TableRows::next() {
  std::string_view record;
  if (!next_not_blank(lines_, record, separator_)) return false;
  where_.clear();
  fmt::format_to(fmt::appender(where_), "{}:{}", table_, lines_.number());
  fields_ = &split_.split(record);
  if (fields_->size() == names_.size() || width_ == RowWidth::any) return true;
  throw DataError(fmt::format("{}: the row has {} fields, the header has {}", where(), fields_->size(), names_.size()));
}

std::size_t TableRows::column(std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  throw DataError(
      fmt::format("{}:1: the header has no column '{}'{}", table_, name, suggestion(std::string(name), names_)));
}

namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
constexpr std::size_t kMostBytes = std::size_t{512} << 20;
constexpr std::size_t kGzipHeadBytes = 2;  // of GZIP, which identify the format

std::string inflate(const storage::Store& store, const std::string& path) {
  std::unique_ptr<storage::ByteStream> packed = store.stream(path, {});
  storage::SharedBytes head = packed->take(std::min<std::uint64_t>(kGzipHeadBytes, packed->size()));
  if (!formats::looks_compressed(head.bytes)) throw DataError(fmt::format("{}: it is no GZIP file", path));
  const auto stream = formats::inflate_stream(std::move(packed), std::move(head));
  std::string text;
  while (true) {
    const storage::SharedBytes piece = stream->take(kPieceBytes);
    text += storage::as_text(piece.bytes);
    if (piece.bytes.size() < kPieceBytes) return text;
    if (text.size() > kMostBytes) throw DataError(fmt::format("{}: a table may have {} bytes", path, kMostBytes));
  }
}

// Returns the byte order of the text: which byte of a unit is the higher one, or std::nullopt if it is not UTF-16.
std::optional<std::size_t> higher_byte(std::string_view text) {
  const std::string_view first = text.substr(0, 2);
  if (first == "\xff\xfe") return 1;
  if (first == "\xfe\xff") return 0;
  if (first.size() < 2 || (first[0] == '\0') == (first[1] == '\0')) return std::nullopt;
  return first[0] == '\0' ? 0 : 1;
}

void add_utf8(std::uint32_t c, std::string& text) {
  const auto rest = [&](unsigned shift) { return static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += {static_cast<char>(0xc0 | c >> 6), rest(0)};
  } else if (c < 0x10000) {
    text += {static_cast<char>(0xe0 | c >> 12), rest(6), rest(0)};
  } else {
    text += {static_cast<char>(0xf0 | c >> 18), rest(12), rest(6), rest(0)};
  }
}

}  // namespace

std::optional<std::string> from_utf16(std::string_view text) {
  constexpr std::uint32_t kReplacement = 0xfffd;
  const std::optional<std::size_t> higher = higher_byte(text);
  if (!higher) return std::nullopt;
  const auto unit = [&](std::size_t at) -> std::uint32_t {
    if (at + 1 >= text.size()) return at < text.size() ? kReplacement : 0;
    const auto byte = [&](std::size_t i) -> std::uint32_t { return static_cast<unsigned char>(text[at + i]); };
    return byte(*higher) << 8 | byte(1 - *higher);
  };
  std::string utf8;
  utf8.reserve(text.size() / 2);
  for (std::size_t at = 0; at < text.size(); at += 2) {
    std::uint32_t c = unit(at);
    const bool is_pair = c >> 10 == 0xd800 >> 10 && unit(at + 2) >> 10 == 0xdc00 >> 10;
    if (is_pair) {
      c = 0x10000 + ((c & 0x3ff) << 10 | (unit(at + 2) & 0x3ff));
      at += 2;
    }
    add_utf8(c >> 11 == 0xd800 >> 11 ? kReplacement : c, utf8);
  }
  return utf8;
}

TableText::TableText(const storage::Store& store, std::string path) : path_(std::move(path)) {
  const bool is_packed = lower_case(path_).ends_with(".gz");
  if (is_packed) made_ = inflate(store, path_);
  text_ = is_packed ? std::string_view(made_) : storage::as_text(store.read(path_, buffer_));
  if (auto utf8 = from_utf16(text_)) text_ = made_ = *std::move(utf8);
}

std::string table_head(const storage::Store& store, const std::string& path) {
  constexpr std::size_t kTableHeadBytes = 64 * 1024;
  const auto stream = store.stream(path, {});
  const storage::SharedBytes head = stream->take(std::min<std::uint64_t>(stream->size(), kTableHeadBytes));
  const std::string_view text = storage::as_text(head.bytes);
  return from_utf16(text).value_or(std::string(text));
}

}  // namespace chexbench::dataset
