#include "bench/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "core/errors.hpp"
#include "core/output_file.hpp"
#include "results/read.hpp"

namespace chexbench::bench {
namespace {

[[noreturn]] void fail(const std::string& doing, const std::string& path) {
  throw OutputError(fmt::format("cannot {} {}: {}", doing, path, write_failure(errno)));
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

results::JournalContents parse(const std::string& text, const std::string& path) {
  try {
    return results::journal_from_text(text, path);
  } catch (const DataError& error) {
    throw OutputError(fmt::format(
        "{}; delete that line to have its repeat measured again, or start again with another --output", error.what()));
  }
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

bool create_journal(const std::string& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0 && errno == EEXIST) return false;
  if (descriptor < 0) fail("create", path);
  close(descriptor);
  sync_folder_of(path);  // or a machine crash loses the name, and every repeat with it
  return true;
}

bool remove_empty_journal(const std::string& path) {
  std::error_code error;
  return std::filesystem::file_size(path, error) == 0 && !error && std::filesystem::remove(path, error);
}

RepeatKeys read_repeat_keys(const std::string& journal_path) {
  RepeatKeys keys;
  for (const results::JournalEntry& entry : parse(text_of(journal_path), journal_path).entries) {
    keys.emplace(entry.key, entry.repeat.repeat);
  }
  return keys;
}

RepeatKeys repeat_keys(const results::Report& report) {
  RepeatKeys keys;
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) keys.emplace(trial.key, repeat.repeat);
  }
  return keys;
}

void check_resumable(const results::Report& planned, const std::string& folder, const RepeatKeys& journalled,
                     const std::string& difference) {
  const std::string path = folder + "/report.json";
  const std::string text = text_of(path);
  const std::string experiment = text.empty() ? planned.experiment : results::experiment_from_json(text, path);
  if (experiment != planned.experiment) {
    throw SpecError(
        fmt::format("--resume {}: it holds the experiment '{}', and this one is '{}'; use --output for a new run",
                    folder, experiment, planned.experiment));
  }
  std::set<std::string_view> keys;
  for (const results::TrialResult& trial : planned.trials) keys.insert(trial.key);
  const auto is_planned = [&](const auto& repeat) { return keys.contains(repeat.first); };
  if (!journalled.empty() && std::none_of(journalled.begin(), journalled.end(), is_planned)) {
    throw SpecError(
        fmt::format("--resume {}: none of the {} repeats in its journal.jsonl belongs to a trial of this "
                    "experiment as it is now ({}); use --output for a new run",
                    folder, journalled.size(),
                    difference.empty() ? "spec, --set, number of ranks, version of chexbench" : difference));
  }
}

Journal::File::File(const std::string& path)
    : descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644)) {
  if (descriptor < 0 && errno == ELOOP) {
    throw OutputError(fmt::format(
        "{} is a symbolic link, and what it leads to is not to be written to: replace it by the file itself", path));
  }
  if (descriptor < 0) fail("open", path);
  // On a file system without locks the journal works unlocked.
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(descriptor);
    throw OutputError(fmt::format("another chexbench writes to {}; wait until it ends, or use another --output", path));
  }
}

Journal::File::~File() { close(descriptor); }

Journal::Journal(const std::string& path) : path_(path), file_(path) {
  results::JournalContents contents = parse(read_all(file_.descriptor, path), path);
  for (results::JournalEntry& entry : contents.entries) {
    const int repeat = entry.repeat.repeat;
    measured_.insert_or_assign({entry.key, repeat}, std::move(entry.repeat));
  }
  const auto whole = static_cast<off_t>(contents.whole_bytes);
  if (ftruncate(file_.descriptor, whole) != 0 || lseek(file_.descriptor, whole, SEEK_SET) < 0) fail("continue", path_);
  remove_abandoned_files(std::filesystem::path(path).parent_path().string());
}

const results::RepeatResult* Journal::find(const std::string& key, int repeat) const {
  const auto found = measured_.find({key, repeat});
  return found == measured_.end() ? nullptr : &found->second;
}

void Journal::append(const std::string& key, const results::RepeatResult& result) {
  const std::string line = results::to_journal_line({.key = key, .repeat = result}) + "\n";
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count = write(file_.descriptor, line.data() + written, line.size() - written);
    if (count < 0 && errno != EINTR) fail("write", path_);
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  if (!sync_descriptor(file_.descriptor)) fail("flush", path_);
}

}  // namespace chexbench::bench
