// Builds DICOM files for tests: any transfer syntax that is not compressed, RLE and fragments of other syntaxes, with
// any header and any damage.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace chexbench::image::test {

inline constexpr const char* kImplicit = "1.2.840.10008.1.2";
inline constexpr const char* kExplicit = "1.2.840.10008.1.2.1";
inline constexpr const char* kDeflated = "1.2.840.10008.1.2.1.99";
inline constexpr const char* kBigEndian = "1.2.840.10008.1.2.2";
inline constexpr const char* kJpegBaseline = "1.2.840.10008.1.2.4.50";
inline constexpr const char* kJpeg2000 = "1.2.840.10008.1.2.4.90";
inline constexpr const char* kRle = "1.2.840.10008.1.2.5";

// The elements of a data set, in the order in which they are added, which must be that of their tags.
class DicomElements {
 public:
  explicit DicomElements(std::string_view syntax) : is_implicit_(syntax == kImplicit), is_big_(syntax == kBigEndian) {}

  DicomElements& text(std::uint32_t tag, const char* vr, std::string value) {
    if (value.size() % 2 != 0) value += std::string_view(vr) == "UI" ? '\0' : ' ';
    return element(tag, vr, value);
  }
  DicomElements& number(std::uint32_t tag, int value) {
    return element(tag, "US", number_bytes(static_cast<std::uint32_t>(value), 2));
  }
  DicomElements& element(std::uint32_t tag, const char* vr, std::string_view value) {
    head(tag, vr, static_cast<std::uint32_t>(value.size()));
    bytes += value;
    return *this;
  }
  // A sequence of one item.
  DicomElements& item(std::uint32_t tag, const DicomElements& inside) {
    head(tag, "SQ", static_cast<std::uint32_t>(inside.bytes.size() + 8));
    bytes += tag_bytes(0xfffee000) + number_bytes(static_cast<std::uint32_t>(inside.bytes.size()), 4) + inside.bytes;
    return *this;
  }
  // Pixels as fragments, after an empty table of offsets.
  DicomElements& fragments(const std::vector<std::string>& pieces) {
    head(0x7fe00010, "OB", 0xffffffff);
    bytes += tag_bytes(0xfffee000) + number_bytes(0, 4);
    for (const std::string& piece : pieces)
      bytes += tag_bytes(0xfffee000) + number_bytes(static_cast<std::uint32_t>(piece.size()), 4) + piece;
    bytes += tag_bytes(0xfffee0dd) + number_bytes(0, 4);
    return *this;
  }
  std::string number_bytes(std::uint32_t value, int count) const {
    std::string out;
    for (int i = 0; i < count; ++i) out += static_cast<char>(value >> 8 * (is_big_ ? count - 1 - i : i));
    return out;
  }

  std::string bytes;

 private:
  std::string tag_bytes(std::uint32_t tag) const { return number_bytes(tag >> 16, 2) + number_bytes(tag & 0xffff, 2); }
  void head(std::uint32_t tag, const char* vr, std::uint32_t length) {
    const std::string_view name(vr);
    const bool is_long = name == "OB" || name == "OW" || name == "SQ" || name == "UN";
    bytes += tag_bytes(tag);
    if (is_implicit_) {
      bytes += number_bytes(length, 4);
    } else {
      bytes += name;
      bytes += is_long ? std::string(2, '\0') + number_bytes(length, 4) : number_bytes(length, 2);
    }
  }

  const bool is_implicit_, is_big_;
};

// A modality or VOI LUT; none if it has no values.
struct DicomLutRecipe {
  std::vector<std::uint16_t> values{};
  int first = 0;
  int bits = 16;
  int entries = -1;  // in the descriptor; -1: the number of values
  const char* descriptor_vr = "US";
};

// A file's fields, apart from its pixels. Empty texts and negative numbers are left out.
struct DicomRecipe {
  std::string syntax = kExplicit;
  int rows = 4, columns = 4;
  int bits_allocated = 16, bits_stored = 12, high_bit = 11;
  int is_signed = 0;
  int samples = 1;
  std::string photometric = "MONOCHROME2";
  std::string frames{}, slope{}, intercept{}, center{}, width{}, function{};
  DicomLutRecipe modality{}, voi{};
  std::string patient = "PLANTED^NAME";
};

inline void add_lut(DicomElements& set, std::uint32_t tag, const DicomRecipe& recipe, const DicomLutRecipe& lut) {
  if (lut.values.empty()) return;
  DicomElements table(recipe.syntax);
  std::string values, descriptor;
  for (const std::uint16_t value : lut.values) values += table.number_bytes(value, 2);
  const int entries = lut.entries < 0 ? static_cast<int>(lut.values.size()) : lut.entries;
  for (const int number : {entries, lut.first, lut.bits})
    descriptor += table.number_bytes(static_cast<std::uint32_t>(number), 2);
  table.element(0x00283002, lut.descriptor_vr, descriptor);
  table.element(0x00283006, "OW", values);
  set.item(tag, table);
}

// The elements before the pixels.
inline DicomElements dicom_header(const DicomRecipe& recipe) {
  DicomElements set(recipe.syntax);
  const auto text = [&](std::uint32_t tag, const char* vr, const std::string& value) {
    if (!value.empty()) set.text(tag, vr, value);
  };
  text(0x00080060, "CS", "DX");
  text(0x00100010, "PN", recipe.patient);
  text(0x00100020, "LO", recipe.patient.empty() ? "" : "PLANTED-ID");
  if (recipe.samples >= 0) set.number(0x00280002, recipe.samples);
  text(0x00280004, "CS", recipe.photometric);
  text(0x00280008, "IS", recipe.frames);
  if (recipe.rows >= 0) set.number(0x00280010, recipe.rows);
  if (recipe.columns >= 0) set.number(0x00280011, recipe.columns);
  set.number(0x00280100, recipe.bits_allocated).number(0x00280101, recipe.bits_stored);
  set.number(0x00280102, recipe.high_bit).number(0x00280103, recipe.is_signed);
  text(0x00281050, "DS", recipe.center);
  text(0x00281051, "DS", recipe.width);
  text(0x00281052, "DS", recipe.intercept);
  text(0x00281053, "DS", recipe.slope);
  text(0x00281056, "CS", recipe.function);
  add_lut(set, 0x00283000, recipe, recipe.modality);
  add_lut(set, 0x00283010, recipe, recipe.voi);
  return set;
}

// Puts preamble and file header before a data set.
inline std::string dicom_file(const std::string& syntax, const std::string& set) {
  DicomElements meta(kExplicit), rest(kExplicit);
  rest.element(0x00020001, "OB", std::string("\0\1", 2));
  rest.text(0x00020002, "UI", "1.2.840.10008.5.1.4.1.1.1.1").text(0x00020003, "UI", "1.2.3.4");
  if (!syntax.empty()) rest.text(0x00020010, "UI", syntax);
  rest.text(0x00020012, "UI", "1.2.3");
  meta.element(0x00020000, "UL", meta.number_bytes(static_cast<std::uint32_t>(rest.bytes.size()), 4));
  std::string packed = set;
  if (syntax == kDeflated) {
    z_stream stream{};
    ::deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    packed.resize(::deflateBound(&stream, set.size()));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(set.data()));
    stream.avail_in = static_cast<uInt>(set.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    ::deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    ::deflateEnd(&stream);
  }
  return std::string(128, '\0') + "DICM" + meta.bytes + rest.bytes + packed;
}

// The pixels in a syntax without compression, or in RLE.
inline std::string dicom_file(const DicomRecipe& recipe, const std::vector<int>& pixels) {
  DicomElements set = dicom_header(recipe);
  const int bytes_each = recipe.bits_allocated / 8;
  std::string values;
  for (const int pixel : pixels) values += set.number_bytes(static_cast<std::uint32_t>(pixel), bytes_each);
  if (recipe.syntax != kRle) {
    if (values.size() % 2 != 0) values += '\0';
    set.element(0x7fe00010, bytes_each == 1 && recipe.syntax != kImplicit ? "OB" : "OW", values);
    return dicom_file(recipe.syntax, set.bytes);
  }
  // A segment for each byte of a pixel, the high one first, of runs that are literal.
  std::string header = set.number_bytes(static_cast<std::uint32_t>(bytes_each), 4), segments;
  for (int byte = bytes_each - 1; byte >= 0; --byte) {
    header += set.number_bytes(static_cast<std::uint32_t>(64 + segments.size()), 4);
    for (const int pixel : pixels) segments += std::string(1, '\0') + static_cast<char>(pixel >> 8 * byte);
    if (segments.size() % 2 != 0) segments += '\0';
  }
  header.resize(64);
  set.fragments({header + segments});
  return dicom_file(recipe.syntax, set.bytes);
}

}  // namespace chexbench::image::test
