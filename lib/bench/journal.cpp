#include "bench/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/errors.hpp"
#include "report/json.hpp"

namespace chexbench::bench {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

[[noreturn]] void fail(const std::string& doing, const std::string& path) {
  throw OutputError(fmt::format("cannot {} {}: {}", doing, path, std::strerror(errno)));
}

}  // namespace

Journal::Journal(const std::string& path) : path_(path) {
  report::JournalContents contents = report::journal_from_text(read_text(path), path);
  for (report::JournalEntry& entry : contents.entries) {
    const int repeat = entry.repeat.repeat;
    measured_.insert_or_assign({entry.key, repeat}, std::move(entry.repeat));
  }
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) fail("open", path_);
  if (ftruncate(file_, static_cast<off_t>(contents.whole_bytes)) != 0 || lseek(file_, 0, SEEK_END) < 0) {
    close(file_);
    fail("continue", path_);
  }
}

Journal::~Journal() {
  if (file_ >= 0) close(file_);
}

const report::RepeatResult* Journal::find(const std::string& key, int repeat) const {
  const auto found = measured_.find({key, repeat});
  return found == measured_.end() ? nullptr : &found->second;
}

void Journal::append(const std::string& key, const report::RepeatResult& result) {
  const std::string line = report::to_journal_line({.key = key, .repeat = result}) + "\n";
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count = write(file_, line.data() + written, line.size() - written);
    if (count < 0 && errno != EINTR) fail("write", path_);
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  if (fsync(file_) != 0) fail("flush", path_);
}

}  // namespace chexbench::bench
