// Counts and names the files of a root that are not used, by the reason, so that none vanishes silently.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "storage/data_root.hpp"
#include "storage/store.hpp"

namespace chexbench::dataset {

// Why a file is passed over. The kinds up to `second_copies` are meant as images of the set.
enum class PassedKind {
  other_formats,         // images in formats that are not read
  dicom_without_ending,  // DICOM files whose names do not end in .dcm or .dicom
  broken_links,          // links that lead nowhere
  empty_parts,           // keys of an object store with an empty part, as in a//b.png
  not_in_a_class,        // images where the layout expects none
  second_copies,         // of an image that is used
  tables,                // that provide no label
  shards,                // that are in no manifest or layout
  archives,              // which must be unpacked first
  results,               // folders that a run or an evaluation of chexbench wrote
  hidden,                // whose names begin with '.'
  others,
};

// The word for a kind in reports: "other_formats".
std::string_view to_string(PassedKind kind);

// The same for people: "other formats".
std::string kind_text(PassedKind kind);

// Not thread-safe.
class PassedOver {
 public:
  static constexpr std::size_t kMostNames = 1000;  // kept for each kind
  struct Files {
    std::size_t count = 0;
    std::set<std::string, std::less<>> names;  // the first by name: paths in the root; one that ends in '/' is a folder
  };

  // Marks a file as used, such as the table of the labels, so that add() leaves it out.
  void use(std::string_view name) { used_.emplace(name); }
  void add(PassedKind kind, std::string_view name);

  const std::map<PassedKind, Files>& kinds() const { return kinds_; }
  std::size_t count() const;
  // The folders of files that are meant as images, as paths in the root.
  const std::set<std::string, std::less<>>& image_folders() const { return image_folders_; }

 private:
  std::map<PassedKind, Files> kinds_;
  std::set<std::string, std::less<>> image_folders_, used_;
};

// Returns the count, and the first names in brackets: "4 (a.bmp, b.bmp, ...)".
std::string files_text(const PassedOver::Files& files, std::size_t shown);

// Returns a clause about files that are meant as images, with the first names of each kind, or "" if none was passed
// over: "3 images in formats that are not read (a.bmp, ...); 1 link that leads nowhere (b.png)".
std::string passed_images_text(const PassedOver& passed, std::size_t shown = 3);

// Returns why a file that is not an image is passed over, by its entry in a listing.
PassedKind passed_kind(const storage::StoreEntry& entry);

// Adds the entries of one folder that may be DICOM files without an ending, each as DICOM or as another file. Opens a
// few of them; if one of these is DICOM, the rest are assumed to be, too. `folder` begins the paths, "" or "a/b/".
void add_nameless(const storage::Store& store, const std::string& path, const std::string& folder,
                  std::span<const std::string> names, PassedOver& passed);

// Returns whether a name has no ending of letters, which is common for DICOM files: "IM0001", "1.2.840.113".
bool may_be_nameless_dicom(std::string_view name);

// Returns the path of a DICOM file in the root or up to 3 folders below it, or "" if none is found. A file is one if
// its name ends in .dcm or .dicom, in either case, or if it begins as one. Looks at only a few entries of each folder,
// so "" does not prove that there is none. Thread-safe.
// @throws DataError if the root cannot be listed
std::string find_dicom_file(const storage::DataRoot& root);

// Returns whether the file begins like a DICOM file, with or without a preamble. Thread-safe.
bool has_dicom_letters(const storage::Store& store, const std::string& path);

// Returns what to do about a DICOM file that is not read, to follow "is a DICOM file, ".
std::string dicom_advice();

// Returns a sentence for the end of a message, after "; ": which file is DICOM and what to do. "" if none is found.
// @throws DataError as find_dicom_file()
std::string dicom_hint(const storage::DataRoot& root);

}  // namespace chexbench::dataset
