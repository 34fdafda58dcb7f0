#include "formats/tar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {
namespace {

// The place of a field in a header block, in bytes.
struct Field {
  std::size_t begin, bytes;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kUser{108, 8}, kGroup{116, 8}, kSize{124, 12}, kTime{136, 12},
    kChecksum{148, 8}, kType{156, 1}, kMagic{257, 8}, kPrefix{345, 155};
constexpr std::string_view kUstar{"ustar\00000", 8};

constexpr char kGnuLongName = 'L', kGnuLongLink = 'K', kPax = 'x', kPaxGlobal = 'g';
constexpr std::uint64_t kEndPieceBytes = std::uint64_t{1} << 16;
constexpr std::uint64_t kMaxExtraBytes = std::uint64_t{1} << 20;  // a longer name or pax header counts as damage

std::string_view until_zero(std::string_view text) { return text.substr(0, text.find('\0')); }

std::string_view field_of(std::string_view block, Field field) { return block.substr(field.begin, field.bytes); }

// Reads octal digits or, if the first bit is set, GNU's big-endian binary number. Returns std::nullopt for other text.
std::optional<std::uint64_t> number_of(std::string_view field) {
  if ((field[0] & 0x80) != 0) {
    std::uint64_t value = 0;
    for (const char c : field.substr(field.size() - sizeof value)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  field = field.substr(0, field.find_first_of(std::string_view(" \0", 2)));
  return field.empty() ? std::uint64_t{0} : parse_number<std::uint64_t>(field, 8);
}

// Returns the sum of all bytes of a header block, in which the checksum's own bytes count as blanks.
std::uint64_t checksum_of(std::string_view block) {
  std::uint64_t sum = kChecksum.bytes * ' ';
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool counts = i < kChecksum.begin || i >= kChecksum.begin + kChecksum.bytes;
    if (counts) sum += static_cast<unsigned char>(block[i]);
  }
  return sum;
}

std::string name_of(std::string_view block) {
  const std::string_view name = until_zero(field_of(block, kName));
  const bool has_prefix = field_of(block, kMagic) == kUstar;
  const std::string_view prefix = has_prefix ? until_zero(field_of(block, kPrefix)) : std::string_view();
  return prefix.empty() ? std::string(name) : fmt::format("{}/{}", prefix, name);
}

bool is_zero(std::string_view block) { return block.find_first_not_of('\0') == std::string_view::npos; }

void put(std::string& block, Field field, std::string_view text) {
  text.copy(block.data() + field.begin, std::min(text.size(), field.bytes));
}

std::string header_block(std::string_view name, std::uint64_t size, char type) {
  std::string block(kTarBlockBytes, '\0');
  put(block, kName, name);
  put(block, kMode, "0000644");
  put(block, kUser, "0000000");
  put(block, kGroup, "0000000");
  put(block, kSize, fmt::format("{:011o}", size));
  put(block, kTime, "00000000000");
  put(block, kMagic, kUstar);
  put(block, kType, {&type, 1});
  put(block, kChecksum, fmt::format("{:06o}", checksum_of(block)) + std::string("\0 ", 2));
  return block;
}

// Returns "LENGTH KEY=VALUE\n", in which LENGTH counts the whole record with its own digits.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (length != rest + fmt::formatted_size("{}", length)) length = rest + fmt::formatted_size("{}", length);
  return fmt::format("{} {}={}\n", length, key, value);
}

}  // namespace

// The contents of the extended headers before a member's own header.
struct TarReader::Extra {
  std::optional<std::string> name;
  std::optional<std::uint64_t> size;

  // Returns false if the text is not a list of "LENGTH KEY=VALUE\n".
  bool read_pax(std::string_view text) {
    while (!text.empty()) {
      std::string_view rest = text;
      const std::size_t length = take_number<std::size_t>(rest).value_or(0);
      const std::size_t digits = text.size() - rest.size();
      if (length > text.size() || length < digits + 2 || text[length - 1] != '\n') return false;
      const std::string_view record = text.substr(digits + 1, length - digits - 2);
      const std::size_t equals = record.find('=');
      if (equals == std::string_view::npos) return false;
      if (!take(record.substr(0, equals), record.substr(equals + 1))) return false;
      text.remove_prefix(length);
    }
    return true;
  }

 private:
  bool take(std::string_view key, std::string_view value) {
    if (key == "path") name = value;
    if (key != "size") return true;
    size = parse_number<std::uint64_t>(value);
    return size.has_value();
  }
};

void TarReader::fail(std::uint64_t member, const std::string& reason) const {
  throw DataError(fmt::format("{}: tar member at offset {}: {}; the rest of the file cannot be read", stream_.path(),
                              base_ + member, reason));
}

std::optional<storage::SharedBytes> TarReader::take(std::uint64_t bytes, std::uint64_t member) {
  const std::uint64_t left = stream_.size() - taken_;
  if (left < bytes) fail(member, fmt::format("truncated: it needs {} more bytes, {} are left", bytes, left));
  storage::SharedBytes taken = stream_.take(static_cast<std::size_t>(bytes));
  taken_ += bytes;
  stopped_ = taken.bytes.size() < bytes;
  return stopped_ ? std::nullopt : std::optional(std::move(taken));
}

// Only zeros may follow the first block of zeros. Otherwise a hole in the file would lose samples without a message.
void TarReader::check_end(std::uint64_t end) {
  while (taken_ < stream_.size()) {
    const std::optional<storage::SharedBytes> rest = take(std::min(kEndPieceBytes, stream_.size() - taken_), end);
    if (!rest) return;
    if (!is_zero(storage::as_text(rest->bytes))) fail(end, "a block of zeros marks the end, but data follow");
  }
}

bool TarReader::read_extra(TarMember& member, char type, std::uint64_t size, Extra& extra) {
  if (size > kMaxExtraBytes) fail(member.offset, fmt::format("its extended header has {} bytes (too many)", size));
  std::optional<storage::SharedBytes> body = take(size + tar_padding(size), member.offset);
  if (!body) return false;
  const std::string_view text = storage::as_text(body->bytes.first(size));
  if (type == kGnuLongName) extra.name = until_zero(text);
  if (type == kPax && !extra.read_pax(text)) fail(member.offset, "its pax header is damaged");
  member.head.push_back(std::move(*body));
  return true;
}

std::optional<TarMember> TarReader::next() {
  TarMember member{.offset = taken_};
  Extra extra;
  while (taken_ < stream_.size()) {
    std::optional<storage::SharedBytes> head = take(kTarBlockBytes, member.offset);
    if (!head) return {};
    const std::string_view block = storage::as_text(head->bytes);
    if (is_zero(block)) {
      check_end(member.offset);
      return {};
    }
    if (number_of(field_of(block, kChecksum)) != checksum_of(block)) {
      fail(member.offset, "the checksum of its header is wrong");
    }
    const std::optional<std::uint64_t> size = number_of(field_of(block, kSize));
    if (!size) fail(member.offset, "its size is not a number");
    member.head.push_back(std::move(*head));
    const char type = block[kType.begin];
    if (type == kGnuLongName || type == kGnuLongLink || type == kPax || type == kPaxGlobal) {
      if (!read_extra(member, type, *size, extra)) return {};
      continue;
    }
    member.name = extra.name.value_or(name_of(block));
    member.is_file = type == '0' || type == '\0' || type == '7';
    member.size = extra.size.value_or(*size);
    if (member.size > kMaxTarMemberBytes) {
      fail(member.offset,
           fmt::format("absurd size of {} bytes (at most {} are accepted)", member.size, kMaxTarMemberBytes));
    }
    return member;
  }
  if (!member.head.empty()) fail(member.offset, "truncated: nothing follows its extended header");
  return {};
}

std::optional<storage::SharedBytes> TarReader::contents(const TarMember& member) {
  return take(member.size + tar_padding(member.size), member.offset);
}

std::size_t tar_padding(std::uint64_t size) { return (kTarBlockBytes - size % kTarBlockBytes) % kTarBlockBytes; }

std::string tar_header(std::string_view name, std::uint64_t size) {
  if (name.size() <= kName.bytes) return header_block(name, size, '0');
  std::string text = pax_record("path", name);
  const std::string head = header_block("PaxHeader", text.size(), kPax);
  text.append(tar_padding(text.size()), '\0');
  return head + text + header_block(name.substr(0, kName.bytes), size, '0');
}

}  // namespace chexbench::formats
