#include "bench/training/finished_repeat.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "bench/training/checkpoint.hpp"
#include "core/output_file.hpp"
#include "results/journal_line.hpp"

namespace chexbench::bench {
namespace {

std::string path_in(const std::string& folder) { return folder + "/repeat.json"; }

}  // namespace

void keep_finished_repeat(const std::string& folder, const std::string& key, const results::RepeatResult& repeat) {
  make_folder(folder);
  write_file_atomically(path_in(folder), results::to_journal_line({.key = key, .repeat = repeat}) + '\n');
}

std::optional<results::RepeatResult> find_finished_repeat(const std::string& folder, const std::string& key,
                                                          int repeat) {
  const std::string path = path_in(folder);
  if (!std::filesystem::exists(path) || !std::filesystem::exists(last_checkpoint(folder))) return {};
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  results::JournalContents contents = results::journal_from_text(text.view(), path);
  if (contents.entries.size() != 1) return {};
  results::JournalEntry& entry = contents.entries.front();
  if (entry.key != key || entry.repeat.repeat != repeat) return {};
  if (!is_checkpoint_after(last_checkpoint(folder), entry.repeat.epochs)) return {};
  return std::move(entry.repeat);
}

}  // namespace chexbench::bench
