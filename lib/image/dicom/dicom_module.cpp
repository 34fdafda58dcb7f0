#include "image/dicom/dicom_module.hpp"

#include <dcmtk/dcmdata/dccodec.h>
#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcfilefo.h>
#include <dcmtk/dcmdata/dcistrmb.h>
#include <dcmtk/dcmdata/dcpixel.h>
#include <dcmtk/dcmdata/dcrledrg.h>
#include <dcmtk/dcmdata/dcxfer.h>
#include <dcmtk/dcmjpeg/djdecode.h>
#include <dcmtk/dcmjpls/djdecode.h>
#include <dcmtk/oflog/oflog.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "image/dicom/dicom_decoder.hpp"

namespace chexbench::image {
namespace {

using Window = DicomHeader::Window;

struct Failure {
  std::string reason;
};

[[noreturn]] void fail(const std::string& reason) { throw Failure{reason}; }

void check(const OFCondition& condition, const char* what) {
  if (condition.bad()) fail(std::string(what) + ": " + condition.text());
}

// Logging is off: DCMTK's warnings may quote a patient's data from a header.
struct Setup {
  Setup() {
    OFLog::configure(OFLogger::OFF_LOG_LEVEL);
    DcmRLEDecoderRegistration::registerCodecs();
    DJDecoderRegistration::registerCodecs();
    DJLSDecoderRegistration::registerCodecs();
  }
  ~Setup() {
    DJLSDecoderRegistration::cleanup();
    DJDecoderRegistration::cleanup();
    DcmRLEDecoderRegistration::cleanup();
  }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;
};

struct Reader {
  std::unique_ptr<DcmDataset> data;
  E_TransferSyntax syntax = EXS_Unknown;
  int bits_allocated = 0;
  std::vector<std::uint16_t> modality_table, voi_table;
};

// Returns a text of the file only if it is one of the words of a list, or else "another one".
std::string word_in(const std::string& text, std::initializer_list<const char*> words) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const char* word) { return text == word; });
  return found == words.end() ? "another one" : *found;
}

int required(DcmItem& data, const DcmTagKey& tag, const char* name) {
  Uint16 value = 0;
  if (data.findAndGetUint16(tag, value).bad()) fail(std::string("its header has no ") + name);
  return value;
}

double number(DcmItem& data, const DcmTagKey& tag, double otherwise) {
  Float64 value = 0;
  return data.findAndGetFloat64(tag, value).good() ? value : otherwise;
}

// Returns a text of capitals; empty if there is none. Some writers use lower case.
std::string code(DcmItem& data, const DcmTagKey& tag) {
  OFString text;
  data.findAndGetOFString(tag, text);
  std::string capitals(text.c_str(), text.length());  // in some builds of DCMTK, OFString is a separate class
  std::ranges::transform(capitals, capitals.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
  return capitals;
}

void read_geometry(DcmItem& data, DicomHeader& header) {
  if (!data.tagExists(DCM_PixelData)) fail("it has no pixels: it is no image, or one of floating-point numbers");
  const std::string photometric = code(data, DCM_PhotometricInterpretation);
  header.is_inverted = photometric == "MONOCHROME1";
  if (!header.is_inverted && photometric != "MONOCHROME2") {
    fail("its photometric interpretation is " +
         word_in(photometric, {"RGB", "PALETTE COLOR", "YBR_FULL", "YBR_FULL_422", "YBR_RCT", "YBR_ICT"}) +
         ", and only MONOCHROME1 and MONOCHROME2 are read");
  }
  const int samples = required(data, DCM_SamplesPerPixel, "number of samples for each pixel");
  if (samples != 1) fail("it has " + std::to_string(samples) + " samples for each pixel: gray images have one");
  Sint32 frames = 0;
  if (data.findAndGetSint32(DCM_NumberOfFrames, frames).good() && frames != 1)
    fail("it has " + std::to_string(frames) + " frames: one is read; write each into a separate file");
  header.height = required(data, DCM_Rows, "number of rows");
  header.width = required(data, DCM_Columns, "number of columns");
  header.bits_allocated = required(data, DCM_BitsAllocated, "number of bits");
  header.bits_stored = required(data, DCM_BitsStored, "number of stored bits");
  header.high_bit = required(data, DCM_HighBit, "highest bit");
  header.is_signed = required(data, DCM_PixelRepresentation, "kind of numbers (PixelRepresentation)") == 1;
}

// Returns a number of a LUT's descriptor, whose kind of numbers depends on that of the pixels.
int descriptor_number(DcmItem& item, unsigned long place, const std::string& what) {
  Uint16 number = 0;
  Sint16 signed_number = 0;
  if (item.findAndGetUint16(DCM_LUTDescriptor, number, place).good()) return number;
  if (item.findAndGetSint16(DCM_LUTDescriptor, signed_number, place).good()) return signed_number;
  fail(what + " has no descriptor with its entries, first value and bits");
}

// Copies the entries of a LUT into `table`. Those of 8 bits may be two in a word, the first one in its lower byte.
void read_entries(DcmItem& item, const DicomLut& lut, const std::string& what, std::vector<std::uint16_t>& table) {
  const Uint16* words = nullptr;
  unsigned long count = 0;
  if (item.findAndGetUint16Array(DCM_LUTData, words, &count).bad() || words == nullptr) fail(what + " has no entries");
  const auto entries = static_cast<std::size_t>(lut.entries);
  if (lut.bits == 8 && count < entries && count == (entries + 1) / 2) {
    for (std::size_t i = 0; i < entries; ++i)
      table.push_back(static_cast<std::uint16_t>(words[i / 2] >> (i % 2 == 0 ? 0 : 8) & 0xff));
    return;
  }
  if (count < entries)
    fail(what + " has " + std::to_string(count) + " of its " + std::to_string(entries) + " entries: it is truncated");
  table.assign(words, words + entries);
}

// Reads the first table of a sequence, if there is one. Its descriptor gives the number of entries (0 means 65536), the
// first value, and the bits of an entry.
DicomLut read_lut(DcmItem& data, const DcmTagKey& sequence, const std::string& what, bool maps_signed,
                  std::vector<std::uint16_t>& table) {
  table.clear();
  DcmItem* item = nullptr;
  if (data.findAndGetSequenceItem(sequence, item, 0).bad() || item == nullptr) return {};
  const auto word = [&](unsigned long place) { return descriptor_number(*item, place, what) & 0xffff; };
  DicomLut lut{.entries = word(0) == 0 ? 65536 : word(0), .first = word(1), .bits = word(2)};
  if (maps_signed) lut.first = static_cast<Sint16>(lut.first);
  read_entries(*item, lut, what, table);
  lut.values = table.data();
  return lut;
}

// The function that a VOI LUT function's word names; none for any other word.
Window window_of(const std::string& function) {
  if (function == "SIGMOID") return Window::sigmoid;
  if (function == "LINEAR_EXACT") return Window::linear_exact;
  return function.empty() || function == "LINEAR" ? Window::linear : Window::none;
}

void read_display(Reader& reader, DicomHeader& header) {
  DcmItem& data = *reader.data;
  header.modality =
      read_lut(data, DCM_ModalityLUTSequence, "its modality LUT", header.is_signed, reader.modality_table);
  header.slope = number(data, DCM_RescaleSlope, 1);
  header.intercept = number(data, DCM_RescaleIntercept, 0);
  // A modality LUT's output is never negative.
  const bool maps_signed = header.is_signed && header.modality.values == nullptr;
  header.voi = read_lut(data, DCM_VOILUTSequence, "its VOI LUT", maps_signed, reader.voi_table);
  Float64 center = 0, width = 0;
  if (data.findAndGetFloat64(DCM_WindowCenter, center).bad() || data.findAndGetFloat64(DCM_WindowWidth, width).bad())
    return;
  header.center = center;
  header.window_width = width;
  header.window = window_of(code(data, DCM_VOILUTFunction));
  if (header.window == Window::none && header.voi.values == nullptr)
    fail("its VOI LUT function is none of LINEAR, LINEAR_EXACT and SIGMOID, so its window has no meaning");
}

// Whether pixels are stored in separate fragments, compressed or not. DCMTK 3.6.8 renamed isEncapsulated().
template <typename Xfer>
bool is_encapsulated(const Xfer& xfer) {
  if constexpr (requires { xfer.usesEncapsulatedFormat(); }) {
    return xfer.usesEncapsulatedFormat();
  } else {
    return xfer.isEncapsulated();
  }
}

// Returns the transfer syntax of this UID, if it can be read here.
E_TransferSyntax syntax_of(const std::string& uid) {
  if (uid.empty()) fail("its header names no transfer syntax");
  if (uid.find_first_not_of("0123456789.") != std::string::npos || uid.size() > 64)
    fail("its header names a transfer syntax that is no UID");
  const DcmXfer xfer(uid.c_str());
  if (xfer.getXfer() == EXS_Unknown) fail("its transfer syntax " + uid + " is unknown");
  const E_TransferSyntax syntax = xfer.getXfer();
  const bool is_raw = !is_encapsulated(xfer) || syntax == EXS_DeflatedLittleEndianExplicit;
  if (is_raw || DcmCodecList::canChangeCoding(syntax, EXS_LittleEndianExplicit)) return syntax;
  fail(std::string("its transfer syntax is ") + xfer.getXferName() + " (" + uid +
       "), which DCMTK does not read here: convert it, for example by gdcmconv --raw");
}

// The file meta information of a DICOM file, which precedes its data set.
struct DicomFileHeader {
  std::string syntax;     // the transfer syntax's UID; empty if none is named
  std::size_t bytes = 0;  // where the data set begins
};

constexpr std::uint32_t kSyntax = 0x00020010;
constexpr std::size_t kDicomHeadBytes = 8;  // of an element: its tag, and its type and length

using Bytes = std::span<const std::uint8_t>;

std::uint32_t number(Bytes bytes, std::size_t at, int count) {
  std::uint32_t value = 0;
  for (int i = count - 1; i >= 0; --i) value = value << 8 | bytes[at + static_cast<std::size_t>(i)];
  return value;
}

std::string_view text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Returns whether the element that begins here names its type, as in explicit syntaxes.
bool has_explicit_type(Bytes element) {
  const auto is_capital = [](std::uint8_t c) { return c >= 'A' && c <= 'Z'; };
  return element.size() >= kDicomHeadBytes && is_capital(element[4]) && is_capital(element[5]);
}

struct Element {
  std::uint32_t tag = 0;
  Bytes value;
};

// Takes the element at the beginning of `bytes`, in little-endian order. Returns std::nullopt if it is cut off.
std::optional<Element> take_element(Bytes& bytes) {
  if (bytes.size() < kDicomHeadBytes) return std::nullopt;
  Element element{.tag = number(bytes, 0, 2) << 16 | number(bytes, 2, 2)};
  const std::string_view type = text(bytes.subspan(4, 2));
  const bool is_long = type == "OB" || type == "OW" || type == "UN" || type == "SQ" || type == "UT";
  std::size_t begin = kDicomHeadBytes, length = number(bytes, 4, 4);
  if (has_explicit_type(bytes)) {
    if (is_long && bytes.size() < begin + 4) return std::nullopt;
    length = is_long ? number(bytes, begin, 4) : number(bytes, 6, 2);
    begin += is_long ? 4 : 0;
  }
  if (length > bytes.size() - begin) return std::nullopt;
  element.value = bytes.subspan(begin, length);
  bytes = bytes.subspan(begin + length);
  return element;
}

// Reads all elements of group 2, regardless of the group's stated length, with or without the preamble and "DICM"
// before them. Returns std::nullopt if there are none, or if one is cut off.
std::optional<DicomFileHeader> read_file_header(Bytes file) {
  Bytes rest = file;
  const bool has_letters = file.size() >= kDicomPreambleBytes + kDicomLetters.size() &&
                           text(file.subspan(kDicomPreambleBytes, kDicomLetters.size())) == kDicomLetters;
  if (has_letters) rest = rest.subspan(kDicomPreambleBytes + kDicomLetters.size());
  DicomFileHeader header;
  bool has_elements = false;
  while (rest.size() >= 2 && number(rest, 0, 2) == 2) {
    const std::optional<Element> element = take_element(rest);
    if (!element) return std::nullopt;
    has_elements = true;
    if (element->tag != kSyntax) continue;
    header.syntax = text(element->value);
    header.syntax.erase(header.syntax.find_last_not_of(std::string_view("\0 ", 2)) + 1);
  }
  header.bytes = file.size() - rest.size();
  return has_elements ? std::optional(header) : std::nullopt;
}

// Returns the syntax in which the data set `set` really is: some writers label explicit types as implicit, or the other
// way round.
E_TransferSyntax syntax_found(E_TransferSyntax named, std::span<const std::uint8_t> set) {
  const bool is_plain = named == EXS_LittleEndianImplicit || named == EXS_LittleEndianExplicit;
  if (!is_plain || set.size() < kDicomHeadBytes) return named;
  return has_explicit_type(set) ? EXS_LittleEndianExplicit : EXS_LittleEndianImplicit;
}

std::size_t begin_file(Reader& reader, const std::uint8_t* bytes, std::size_t size, bool* is_deflated) {
  reader.data.reset();
  const std::span<const std::uint8_t> file(bytes, size);
  const std::optional<DicomFileHeader> header = read_file_header(file);
  if (!header) fail("its header cannot be read: it is damaged or truncated");
  const E_TransferSyntax syntax = syntax_of(header->syntax);
  *is_deflated = syntax == EXS_DeflatedLittleEndianExplicit;
  reader.syntax = *is_deflated ? EXS_LittleEndianExplicit : syntax_found(syntax, file.subspan(header->bytes));
  return header->bytes;
}

void read_data(Reader& reader, const std::uint8_t* bytes, std::size_t size, DicomHeader* header) {
  DcmInputBufferStream stream;
  stream.setBuffer(bytes, static_cast<offile_off_t>(size));
  stream.setEos();
  reader.data = std::make_unique<DcmDataset>();
  reader.data->transferInit();
  const OFCondition condition = reader.data->read(stream, reader.syntax, EGL_noChange, DCM_MaxReadLength);
  reader.data->transferEnd();
  check(condition, "its data set is damaged or truncated");
  read_geometry(*reader.data, *header);
  read_display(reader, *header);
  reader.bits_allocated = header->bits_allocated;
}

void unpack_pixels(Reader& reader, const void** values, std::size_t* count) {
  check(reader.data->chooseRepresentation(EXS_LittleEndianExplicit, nullptr), "its pixels cannot be unpacked");
  DcmElement* pixels = nullptr;
  check(reader.data->findAndGetElement(DCM_PixelData, pixels), "its pixels cannot be read");
  if (required(*reader.data, DCM_BitsAllocated, "number of bits") != reader.bits_allocated)
    fail("its pixels have another number of bits than its header says");
  if (reader.bits_allocated == 8) {
    Uint8* array = nullptr;
    check(pixels->getUint8Array(array), "its pixels cannot be read");
    *values = array;
    *count = array == nullptr ? 0 : pixels->getLength();
  } else {
    Uint16* array = nullptr;
    check(pixels->getUint16Array(array), "its pixels cannot be read");
    *values = array;
    *count = array == nullptr ? 0 : pixels->getLength() / sizeof(Uint16);
  }
}

// Runs `body` and turns an exception into a reason. Returns whether there was none.
template <typename Body>
bool succeeds(char* reason, std::size_t reason_bytes, Body body) {
  try {
    body();
    return true;
  } catch (const Failure& failure) {
    std::snprintf(reason, reason_bytes, "%s", failure.reason.c_str());
  } catch (const std::exception& error) {
    std::snprintf(reason, reason_bytes, "DCMTK: %s", error.what());
  }
  return false;
}

void* create_reader() {
  static const Setup setup;
  return new (std::nothrow) Reader;
}

void destroy_reader(void* reader) { delete static_cast<Reader*>(reader); }

std::size_t begin(void* reader, const std::uint8_t* bytes, std::size_t size, bool* is_deflated, char* reason,
                  std::size_t reason_bytes) {
  std::size_t place = 0;
  const bool is_read = succeeds(reason, reason_bytes,
                                [&] { place = begin_file(*static_cast<Reader*>(reader), bytes, size, is_deflated); });
  return is_read ? place : 0;
}

int read(void* reader, const std::uint8_t* bytes, std::size_t size, DicomHeader* header, char* reason,
         std::size_t reason_bytes) {
  return succeeds(reason, reason_bytes, [&] { read_data(*static_cast<Reader*>(reader), bytes, size, header); }) ? 0 : 1;
}

int unpack(void* reader, const void** values, std::size_t* count, char* reason, std::size_t reason_bytes) {
  return succeeds(reason, reason_bytes, [&] { unpack_pixels(*static_cast<Reader*>(reader), values, count); }) ? 0 : 1;
}

constexpr DicomModule kModule = {kDicomModuleVersion, create_reader, destroy_reader, begin, read, unpack};

}  // namespace
}  // namespace chexbench::image

extern "C" [[gnu::visibility("default")]] const chexbench::image::DicomModule* chexbench_dicom() {
  return &chexbench::image::kModule;
}
