// The interface of chexbench_dicom.so: a table of C functions that call DCMTK, which brings more than 20 libraries and
// reads its dictionary when it is loaded. The program loads it at the first DICOM file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chexbench::image {

// Increase the version with each change of this header: the program refuses a module of another version.
inline constexpr int kDicomModuleVersion = 2;
inline constexpr const char* kDicomModuleFile = "chexbench_dicom.so";
inline constexpr const char* kDicomModuleSymbol = "chexbench_dicom";

// A table of a file: the value `first` and all below it become values[0], the one after it values[1], and so on; those
// after the last entry become that.
struct DicomLut {
  const std::uint16_t* values = nullptr;  // null if the file has no such table
  int entries = 0;
  int first = 0;
  int bits = 0;  // of an entry
};

// The header's fields that describe the pixels; no others are ever read. The memory of the tables belongs to the reader
// and is valid until its next file.
struct DicomHeader {
  int width = 0;
  int height = 0;
  int bits_allocated = 0;
  int bits_stored = 0;
  int high_bit = 0;
  bool is_signed = false;
  bool is_inverted = false;         // MONOCHROME1: the least value is white
  double slope = 1, intercept = 0;  // ignored if there is a modality LUT
  DicomLut modality;                // the modality LUT
  enum class Window { none, linear, linear_exact, sigmoid } window = Window::none;  // the first of the file
  double center = 0, window_width = 0;
  DicomLut voi;  // the first VOI LUT
};

// The table of functions. None of them throws. A nonzero result means that the reason was written into `reason`, which
// has `reason_bytes` bytes, with a 0 at its end.
struct DicomModule {
  int version;
  // Returns a reader, which only one thread may use at a time, or null if there is no memory.
  void* (*create)();
  void (*destroy)(void* reader);
  // Returns where the data set begins after the file's header, or 0 with a reason. `is_deflated` is set if the data set
  // is a deflate stream.
  std::size_t (*begin)(void* reader, const std::uint8_t* bytes, std::size_t size, bool* is_deflated, char* reason,
                       std::size_t reason_bytes);
  // Reads the data set of that file, inflated.
  int (*read)(void* reader, const std::uint8_t* bytes, std::size_t size, DicomHeader* header, char* reason,
              std::size_t reason_bytes);
  // Unpacks the pixels of that data set. Sets `values` to packed rows of values of bits_allocated bits in the order of
  // this machine's bytes, valid until the next begin(); *count to their number.
  int (*unpack)(void* reader, const void** values, std::size_t* count, char* reason, std::size_t reason_bytes);
};

using DicomModuleEntry = const DicomModule* (*)();

}  // namespace chexbench::image
