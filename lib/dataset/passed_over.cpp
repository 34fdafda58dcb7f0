#include "dataset/passed_over.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "formats/shards.hpp"
#include "image/dicom/dicom_decoder.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::dataset {
namespace {

using storage::StoreEntry;

struct KindWords {
  std::string_view word;  // in reports
  std::string_view one;   // "1 image in a format that is not read"; empty for files that are not meant as images
  std::string_view more;
};

constexpr std::array<KindWords, 12> kWords{{
    {"other_formats", "image in a format that is not read", "images in formats that are not read"},
    {"dicom_without_ending", "DICOM file whose name does not end in .dcm",
     "DICOM files whose names do not end in .dcm"},
    {"broken_links", "link that leads nowhere", "links that lead nowhere"},
    {"empty_parts", "key with an empty part", "keys with empty parts"},
    {"not_in_a_class", "image where the layout has none", "images where the layout has none"},
    {"second_copies", "", ""},
    {"tables", "", ""},
    {"shards", "", ""},
    {"archives", "", ""},
    {"results", "", ""},
    {"hidden", "", ""},
    {"others", "", ""},
}};

const KindWords& words_of(PassedKind kind) { return kWords.at(static_cast<std::size_t>(kind)); }

constexpr std::string_view kOtherImageEndings[] = {
    ".bmp", ".dib", ".webp", ".tif", ".tiff", ".gif",    ".heic", ".heif", ".avif", ".jp2", ".j2k", ".jpx",
    ".jxl", ".jpe", ".jfif", ".ppm", ".pgm",  ".pbm",    ".pnm",  ".pfm",  ".exr",  ".hdr", ".ico", ".svg",
    ".tga", ".psd", ".raw",  ".dng", ".nii",  ".nii.gz", ".mha",  ".mhd",  ".nrrd", ".npy", ".npz"};
constexpr std::string_view kTableEndings[] = {".csv",  ".csv.gz", ".tsv", ".tsv.gz",
                                              ".xlsx", ".xls",    ".ods", ".parquet"};
constexpr std::string_view kShardEndings[] = {".tar", ".tfrecord", ".tfrecords", ".tfrec"};
constexpr std::string_view kArchiveEndings[] = {".zip", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar"};

bool ends_in_one_of(std::string_view lower, std::span<const std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return lower.ends_with(ending); });
}

// Returns the first names in brackets, after a blank, or "" if none are to be shown.
std::string names_text(const PassedOver::Files& files, std::size_t shown) {
  if (shown == 0) return "";
  std::vector<std::string> names;
  for (auto name = files.names.begin(); name != files.names.end() && names.size() < shown; ++name)
    names.push_back(printable(*name));
  if (files.count > names.size()) names.emplace_back("...");
  return fmt::format(" ({})", fmt::join(names, ", "));
}

}  // namespace

std::string_view to_string(PassedKind kind) { return words_of(kind).word; }

std::string kind_text(PassedKind kind) {
  if (kind == PassedKind::others) return "other files";
  std::string text(to_string(kind));
  std::ranges::replace(text, '_', ' ');
  return text;
}

void PassedOver::add(PassedKind kind, std::string_view name) {
  if (used_.contains(name)) return;
  Files& files = kinds_[kind];
  ++files.count;
  const std::size_t slash = name.rfind('/');
  if (kind < PassedKind::not_in_a_class && slash != std::string_view::npos)
    image_folders_.emplace(name.substr(0, slash));
  if (files.names.size() == kMostNames && name > *files.names.rbegin()) return;
  files.names.emplace(name);
  if (files.names.size() > kMostNames) files.names.erase(std::prev(files.names.end()));
}

std::size_t PassedOver::count() const {
  std::size_t all = 0;
  for (const auto& [kind, files] : kinds_) all += files.count;
  return all;
}

std::string files_text(const PassedOver::Files& files, std::size_t shown) {
  return fmt::format("{}{}", files.count, names_text(files, shown));
}

std::string passed_images_text(const PassedOver& passed, std::size_t shown) {
  std::vector<std::string> clauses;
  for (const auto& [kind, files] : passed.kinds()) {
    const KindWords& words = words_of(kind);
    if (words.one.empty()) continue;
    clauses.push_back(
        fmt::format("{} {}{}", files.count, files.count == 1 ? words.one : words.more, names_text(files, shown)));
  }
  return fmt::to_string(fmt::join(clauses, "; "));
}

PassedKind passed_kind(const StoreEntry& entry) {
  if (entry.name.starts_with('.')) return PassedKind::hidden;
  if (entry.kind == StoreEntry::Kind::broken) return PassedKind::broken_links;
  if (entry.kind != StoreEntry::Kind::file) return PassedKind::others;
  const std::string lower = lower_case(entry.name);
  if (ends_in_one_of(lower, kOtherImageEndings) || image::is_dicom_name(lower)) return PassedKind::other_formats;
  if (ends_in_one_of(lower, kTableEndings)) return PassedKind::tables;
  if (ends_in_one_of(lower, kShardEndings) || formats::shard_name_in(entry.name)) return PassedKind::shards;
  return ends_in_one_of(lower, kArchiveEndings) ? PassedKind::archives : PassedKind::others;
}

bool may_be_nameless_dicom(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ||
         std::ranges::all_of(name.substr(dot + 1), [](unsigned char c) { return std::isdigit(c) != 0; });
}

void add_nameless(const storage::Store& store, const std::string& path, const std::string& folder,
                  std::span<const std::string> names, PassedOver& passed) {
  constexpr std::size_t kMostOpened = 8;
  bool any = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_opened = i < kMostOpened;
    const bool is_dicom = is_opened ? has_dicom_letters(store, path + "/" + names[i]) : any;
    any = any || is_dicom;
    passed.add(is_dicom ? PassedKind::dicom_without_ending : PassedKind::others, folder + names[i]);
  }
}

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
