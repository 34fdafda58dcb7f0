#include "dataset/dicom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::dataset {
namespace {

// DICOM's preamble has 128 bytes, which may hold anything; the four letters follow.
constexpr std::size_t kPreambleBytes = 128;
constexpr std::string_view kLetters = "DICM";

bool has_dicom_name(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower.ends_with(".dcm") || lower.ends_with(".dicom");
}

bool has_dicom_letters(const storage::Store& store, const std::string& path) {
  try {
    const auto stream = store.stream(path, {});
    if (stream->size() == storage::kUnknownBytes || stream->size() < kPreambleBytes + kLetters.size()) return false;
    const storage::SharedBytes head = stream->take(kPreambleBytes + kLetters.size());
    return storage::as_text(head.bytes).substr(kPreambleBytes) == kLetters;
  } catch (const DataError&) {
    return false;  // a file that cannot be read is none that a message can tell of
  }
}

// `deeper` is how many more levels of folders may be opened.
std::string find_below(const storage::Store& store, const std::string& folder, int deeper) {
  constexpr std::size_t kMostEntries = 8;  // of each kind, in each folder
  std::vector<storage::StoreEntry> entries = store.list(folder);
  std::ranges::sort(entries, {}, &storage::StoreEntry::name);
  std::erase_if(entries, [](const storage::StoreEntry& e) { return e.name.starts_with('.'); });
  std::size_t opened = 0, listed = 0;
  for (const storage::StoreEntry& entry : entries) {
    std::string path = folder + "/" + entry.name;
    if (entry.kind == storage::StoreEntry::Kind::file) {
      if (has_dicom_name(entry.name)) return path;
      if (opened++ < kMostEntries && has_dicom_letters(store, path)) return path;
    } else if (entry.kind == storage::StoreEntry::Kind::folder && deeper > 0 && listed++ < kMostEntries) {
      if (std::string found = find_below(store, path, deeper - 1); !found.empty()) return found;
    }
  }
  return "";
}

}  // namespace

std::string find_dicom_file(const storage::DataRoot& root) { return find_below(*root.store, root.path, 3); }

std::string dicom_hint(const storage::DataRoot& root) {
  const std::string found = find_dicom_file(root);
  if (found.empty()) return "";
  return fmt::format("; {} is a DICOM file, which chexbench does not read: export the images to PNG or JPEG first",
                     printable(found));
}

}  // namespace chexbench::dataset
