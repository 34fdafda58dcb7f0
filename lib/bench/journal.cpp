#include "bench/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/errors.hpp"
#include "report/json.hpp"

namespace chexbench::bench {
namespace {

[[noreturn]] void fail(const std::string& doing, const std::string& path) {
  throw OutputError(fmt::format("cannot {} {}: {}", doing, path, std::strerror(errno)));
}

std::string read_all(int file, const std::string& path) {
  std::string text;
  std::array<char, 1 << 16> part;
  while (const ssize_t count = read(file, part.data(), part.size())) {
    if (count < 0 && errno != EINTR) fail("read", path);
    if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

Journal::File::File(const std::string& path) : descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (descriptor < 0) fail("open", path);
}

Journal::File::~File() { close(descriptor); }

Journal::Journal(const std::string& path) : path_(path), file_(path) {
  report::JournalContents contents = report::journal_from_text(read_all(file_.descriptor, path), path);
  for (report::JournalEntry& entry : contents.entries) {
    const int repeat = entry.repeat.repeat;
    measured_.insert_or_assign({entry.key, repeat}, std::move(entry.repeat));
  }
  const auto whole = static_cast<off_t>(contents.whole_bytes);
  if (ftruncate(file_.descriptor, whole) != 0 || lseek(file_.descriptor, whole, SEEK_SET) < 0) fail("continue", path_);
}

const report::RepeatResult* Journal::find(const std::string& key, int repeat) const {
  const auto found = measured_.find({key, repeat});
  return found == measured_.end() ? nullptr : &found->second;
}

void Journal::append(const std::string& key, const report::RepeatResult& result) {
  const std::string line = report::to_journal_line({.key = key, .repeat = result}) + "\n";
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count = write(file_.descriptor, line.data() + written, line.size() - written);
    if (count < 0 && errno != EINTR) fail("write", path_);
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  if (fsync(file_.descriptor) != 0) fail("flush", path_);
}

}  // namespace chexbench::bench
