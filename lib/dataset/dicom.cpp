#include "dataset/dicom.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "image/dicom/dicom_decoder.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::dataset {
namespace {

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
      if (image::is_dicom_name(entry.name)) return path;
      if (opened++ < kMostEntries && has_dicom_letters(store, path)) return path;
    } else if (entry.kind == storage::StoreEntry::Kind::folder && deeper > 0 && listed++ < kMostEntries) {
      if (std::string found = find_below(store, path, deeper - 1); !found.empty()) return found;
    }
  }
  return "";
}

}  // namespace

bool has_dicom_letters(const storage::Store& store, const std::string& path) {
  try {
    const auto stream = store.stream(path, {});
    if (stream->size() == storage::kUnknownBytes || stream->size() < image::kDicomBeginningBytes) return false;
    return image::is_dicom(stream->take(image::kDicomBeginningBytes).bytes);
  } catch (const DataError&) {
    return false;  // a message cannot describe a file that cannot be read
  }
}

std::string find_dicom_file(const storage::DataRoot& root) { return find_below(*root.store, root.path, 3); }

std::string dicom_advice() {
  if (!image::reads_dicom()) {
    return "which this chexbench was built without DCMTK to read: install libdcmtk-dev and build it again, or export "
           "the images to PNG or JPEG first";
  }
  return "which is read where its name ends in .dcm or .dicom: rename the files, or export the images to PNG first";
}

std::string dicom_hint(const storage::DataRoot& root) {
  const std::string found = find_dicom_file(root);
  if (found.empty()) return "";
  return fmt::format("; {} is a DICOM file, {}", printable(found), dicom_advice());
}

}  // namespace chexbench::dataset
