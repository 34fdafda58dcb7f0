#include "dataset/image_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "dataset/layouts.hpp"
#include "image/dicom/dicom_decoder.hpp"
#include "storage/untrusted.hpp"

namespace chexbench::dataset {
namespace {

// Returns whether the name ends in `ending`, which is lower case. Copies nothing, because there may be millions of
// names.
bool ends_in(std::string_view name, std::string_view ending) {
  if (name.size() < ending.size()) return false;
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, small);
}

// Returns whether the folder is one that `data convert` makes in a root.
bool is_converted(std::string_view folder) {
  return folder == "tfrecord" || folder == "webdataset" || folder == "cached";
}

// Lists the images below a folder.
class Walk {
 public:
  Walk(const storage::Store& store, const std::string& root, NameArena& names, PassedOver* passed)
      : store_(store), root_bytes_(root.size() + 1), names_(names), passed_(passed) {}

  void into(const std::string& folder, int depth) {
    constexpr int kDeepest = 32;
    if (depth > kDeepest) {
      throw DataError(fmt::format("{}: folders are nested more than {} deep: does a link lead back?",
                                  printable(folder, 1000), kDeepest));
    }
    const std::vector<storage::StoreEntry> entries = store_.list(folder);
    const std::string name = depth == 0 ? "" : folder.substr(root_bytes_) + "/";
    if (depth > 0 && is_results_folder(entries)) return pass(PassedKind::results, name);
    std::vector<std::string> nameless;
    for (const storage::StoreEntry& entry : entries) {
      const bool is_hidden = entry.name.starts_with('.');
      if (entry.kind == storage::StoreEntry::Kind::folder && !is_hidden) {
        const std::string inner = folder + "/" + entry.name;
        if (depth > 0 || !is_converted(entry.name)) {
          into(inner, depth + 1);
        } else if (passed_ != nullptr) {
          pass_images_in(inner, entry.name);
        }
      } else if (entry.kind == storage::StoreEntry::Kind::file && !is_hidden && is_image_name(entry.name)) {
        const std::string_view path = names_.keep({folder, "/", entry.name});
        files.push_back({path.substr(root_bytes_), path, entry.bytes});
      } else if (passed_ != nullptr) {
        pass_entry(entry, name, nameless);
      }
    }
    if (passed_ != nullptr) add_nameless(store_, folder, name, nameless, *passed_);
  }

  std::vector<ImageFile> files;

 private:
  void pass(PassedKind kind, const std::string& name) {
    if (passed_ != nullptr) passed_->add(kind, name);
  }

  void pass_entry(const storage::StoreEntry& entry, const std::string& folder, std::vector<std::string>& nameless) {
    if (entry.kind == storage::StoreEntry::Kind::other && !storage::is_one_name(entry.name))
      return pass(PassedKind::empty_parts, folder + entry.name + "/");
    const PassedKind kind = passed_kind(entry);
    const bool is_file = entry.kind == storage::StoreEntry::Kind::file;
    if (kind == PassedKind::others && is_file && may_be_nameless_dicom(entry.name)) {
      nameless.push_back(entry.name);
    } else {
      pass(kind, folder + entry.name + (entry.kind == storage::StoreEntry::Kind::folder ? "/" : ""));
    }
  }

  void pass_images_in(const std::string& folder, const std::string& name) {
    for (const storage::StoreEntry& entry : store_.list(folder)) {
      if (entry.kind == storage::StoreEntry::Kind::file && is_image_name(entry.name))
        pass(PassedKind::not_in_a_class, name + "/" + entry.name);
    }
  }

  const storage::Store& store_;
  const std::size_t root_bytes_;  // of the beginning of paths that is not part of names
  NameArena& names_;
  PassedOver* const passed_;
};

// Returns whether the file is where ChestX-ray14 puts images: below images/ or images_NNN/.
bool is_published_place(const ImageFile& file) {
  return file.name.starts_with("images/") || file.name.starts_with("images_");
}

}  // namespace

bool is_png_name(std::string_view name) { return ends_in(name, ".png"); }

bool is_image_name(std::string_view name) {
  constexpr std::string_view kEndings[] = {".png", ".jpg", ".jpeg"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return ends_in(name, ending); }) ||
         (image::reads_dicom() && image::is_dicom_name(name));
}

std::vector<ImageFile> list_images(const storage::Store& store, const std::string& folder, NameArena& names,
                                   PassedOver* passed) {
  Walk walk(store, folder, names, passed);
  walk.into(folder, 0);
  sort_by_name(walk.files);
  return std::move(walk.files);
}

std::vector<ImageFile> find_nih_files(const storage::DataRoot& root, const Index& index, NameArena& names,
                                      PassedOver* passed) {
  std::vector<ImageFile> files = list_images(*root.store, root.path, names, passed);
  const auto elsewhere = std::stable_partition(files.begin(), files.end(), is_published_place);
  if (elsewhere != files.begin()) {  // thumbnails, masks and the like must not replace missing images
    for (auto file = elsewhere; passed != nullptr && file != files.end(); ++file)
      passed->add(PassedKind::not_in_a_class, file->path.substr(root.path.size() + 1));
    files.erase(elsewhere, files.end());
  }
  for (ImageFile& file : files) file.name.remove_prefix(file.name.rfind('/') + 1);
  sort_by_name(files);
  const auto is_copy = [&, before = std::string_view()](const ImageFile& file) mutable {
    if (std::exchange(before, file.name) != file.name) return false;
    if (passed != nullptr) passed->add(PassedKind::second_copies, file.path.substr(root.path.size() + 1));
    return true;
  };
  std::erase_if(files, is_copy);
  return match_files(index, std::move(files));
}

namespace {

// Blocks double up to 1 MiB, so that a small set stays small and a large one leaves little of its last block unused.
constexpr std::size_t kFirstBlockBytes = 4096;
constexpr std::size_t kMostBlockBytes = std::size_t{1} << 20;

}  // namespace

std::string_view NameArena::keep(std::initializer_list<std::string_view> parts) {
  std::size_t bytes = 0;
  for (const std::string_view part : parts) bytes += part.size();
  char* const begin = room_for(bytes);
  char* end = begin;
  for (const std::string_view part : parts) end = std::ranges::copy(part, end).out;
  return {begin, bytes};
}

char* NameArena::room_for(std::size_t bytes) {
  if (bytes > bytes_ - used_ || blocks_.empty()) {
    bytes_ = std::max(bytes, std::clamp(bytes_ * 2, kFirstBlockBytes, kMostBlockBytes));
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes_));
    used_ = 0;
  }
  char* const room = blocks_.back().get() + used_;
  used_ += bytes;
  return room;
}

namespace {

struct Key {
  std::uint64_t head = 0;  // the first characters in which names differ
  std::uint32_t number = 0;
};

// Returns the first 8 characters as a number that compares as they do. Missing characters count as 0, so a shorter name
// never comes after a longer one that begins with it.
std::uint64_t head_of(std::string_view text) {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < sizeof head; ++i) {
    head = head << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  }
  return head;
}

std::size_t common_bytes(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

std::vector<std::uint32_t> order_of_names(std::size_t count,
                                          const std::function<std::string_view(std::size_t)>& name_of) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  if (count < 2) return order;
  const std::string_view first = name_of(0);
  std::string_view before = first;
  std::size_t common = first.size();
  bool sorted = true;
  for (std::size_t i = 1; i < count; ++i) {
    const std::string_view name = name_of(i);
    common = common_bytes(first.substr(0, common), name);
    sorted = sorted && before <= name;
    before = name;
  }
  if (sorted) return order;
  std::vector<Key> keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    keys.push_back({head_of(name_of(i).substr(common)), static_cast<std::uint32_t>(i)});
  }
  std::ranges::sort(keys, [&](const Key& a, const Key& b) {
    if (a.head != b.head) return a.head < b.head;
    const int compared = name_of(a.number).compare(name_of(b.number));
    return compared != 0 ? compared < 0 : a.number < b.number;
  });
  std::ranges::transform(keys, order.begin(), &Key::number);
  return order;
}

}  // namespace chexbench::dataset
