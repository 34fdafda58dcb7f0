#include "results/journal_line.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"
#include "results/repeat_json.hpp"

namespace chexbench::results {
namespace {

// Rejects values that no run can have measured: the line was edited. The comparison is false for NaN, too.
void check_repeat(const RepeatResult& repeat) {
  const auto check = [](const char* name, double value) {
    if (!(value >= 0)) throw DataError(fmt::format("{} is {}, and cannot be below 0", name, value));
  };
  check("repeat", repeat.repeat);
  check("images_per_s", repeat.images_per_s);
  check("wall_s", repeat.wall_s);
  check("spent_s", repeat.spent_s);
  check("process_cpu_s", repeat.process_cpu_s);
}

JournalEntry journal_entry_from(const Json& object) {
  check_version(object);
  JournalEntry entry{.key = object.at("key").get<std::string>(), .repeat = repeat_from_json(object.at("repeat"))};
  check_repeat(entry.repeat);
  return entry;
}

}  // namespace

std::string to_journal_line(const JournalEntry& entry) {
  return dump({{"schema_version", kSchemaVersion}, {"key", entry.key}, {"repeat", repeat_to_json(entry.repeat)}});
}

JournalContents journal_from_text(std::string_view text, const std::string& name) {
  JournalContents contents;
  for (std::size_t end = text.find('\n'), line = 1; end != std::string_view::npos; end = text.find('\n'), ++line) {
    contents.entries.push_back(
        read_json(text.substr(0, end), fmt::format("{}, line {}", name, line), journal_entry_from));
    contents.whole_bytes += end + 1;
    text.remove_prefix(end + 1);
  }
  return contents;
}

}  // namespace chexbench::results
