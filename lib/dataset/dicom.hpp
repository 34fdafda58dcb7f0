// Finds DICOM files that are not read, so that a message can report them.
#pragma once

#include <string>

#include "storage/data_root.hpp"

namespace chexbench::dataset {

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
