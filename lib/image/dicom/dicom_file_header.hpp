// The file meta information of a DICOM file, which precedes its data set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace chexbench::image {

inline constexpr std::size_t kDicomPreambleBytes = 128;  // arbitrary bytes
inline constexpr std::string_view kDicomLetters = "DICM";
inline constexpr std::size_t kDicomHeadBytes = 8;  // of an element: its tag, and its type and length

struct DicomFileHeader {
  std::string syntax;     // the transfer syntax's UID; empty if none is named
  std::size_t bytes = 0;  // where the data set begins
};

// Returns whether the element that begins here names its type, as in explicit syntaxes.
bool has_explicit_type(std::span<const std::uint8_t> element);

// Reads all elements of group 2, regardless of the group's stated length, with or without the preamble and "DICM"
// before them. Returns std::nullopt if there are none, or if one is cut off.
std::optional<DicomFileHeader> read_file_header(std::span<const std::uint8_t> file);

}  // namespace chexbench::image
