// Limits on files: pixels, scans of a JPEG, and memory that outlasts them. The header decides before memory is
// allocated, and a header that only the library sees cannot evade that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <malloc.h>

#include <csignal>
#include <cstdlib>

#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/scratch.hpp"
#include "image/decoded_image.hpp"
#include "image/decoder.hpp"
#include "image/jpeg/jpeg_turbo.hpp"
#include "image/jpeg_builder.hpp"
#include "image/pixels.hpp"
#include "image/png_builder.hpp"

namespace chexbench::image {
namespace {

using spec::DecoderKind;
using test::append;
using test::Bytes;
using testing::AllOf;
using testing::HasSubstr;
using Numbers = std::vector<std::uint8_t>;

constexpr DecoderKind kBoth[] = {DecoderKind::fast, DecoderKind::opencv};

void add_segment(Bytes& out, std::uint8_t marker, const Numbers& data) {
  const std::size_t length = data.size() + 2;
  append(out, Numbers{0xff, marker, static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length)});
  append(out, data);
}

Numbers gray_frame(unsigned width, unsigned height) {
  const auto byte = [](unsigned value) { return static_cast<std::uint8_t>(value); };
  return {8, byte(height >> 8), byte(height), byte(width >> 8), byte(width), 1, 1, 0x11, 0};
}

// A Huffman table of one code, "0".
Numbers table(std::uint8_t kind, std::uint8_t symbol) {
  Numbers data(18);
  data[0] = kind;
  data[1] = 1;
  data[17] = symbol;
  return data;
}

// Begins a progressive gray JPEG; each of its scans contains 0 bits: a difference of 0, or a run of 2^14 blocks without
// coefficients.
Bytes begin_jpeg() {
  Bytes out;
  append(out, Numbers{0xff, 0xd8});
  Numbers quantization(65, 1);
  quantization[0] = 0;
  add_segment(out, 0xdb, quantization);
  add_segment(out, 0xc4, table(0x00, 0x00));
  add_segment(out, 0xc4, table(0x10, 0xe0));
  return out;
}

// Ends it with one scan of DC values, and scans of all others.
void end_jpeg(Bytes& out, std::size_t blocks, int scans) {
  add_segment(out, 0xda, {1, 1, 0, 0, 0, 0});
  out.resize(out.size() + (blocks + 7) / 8);
  for (int scan = 1; scan < scans; ++scan) {
    add_segment(out, 0xda, {1, 1, 0, 1, 63, 0});
    out.resize(out.size() + ((blocks + 16383) / 16384 * 15 + 7) / 8);
  }
  append(out, Numbers{0xff, 0xd9});
}

Bytes jpeg_of_scans(unsigned width, unsigned height, int scans) {
  Bytes out = begin_jpeg();
  add_segment(out, 0xc2, gray_frame(width, height));
  end_jpeg(out, std::size_t{(width + 7) / 8} * ((height + 7) / 8), scans);
  return out;
}

std::string error_of(DecoderKind kind, const Bytes& file) {
  return message_of<DataError>([&] { make_decoder(kind)->decode(file, "x.jpg"); });
}

TEST(ImageLimits, AJpegMayHaveAsManyScansAsItsSizeAllows) {
  for (const DecoderKind kind : kBoth) {
    EXPECT_EQ(make_decoder(kind)->decode(jpeg_of_scans(9, 5, 500), "x.jpg").width, 9);
    EXPECT_THAT(error_of(kind, jpeg_of_scans(9, 5, 501)),
                AllOf(HasSubstr("x.jpg: byte "), HasSubstr("more than 500 scans"), HasSubstr("save the image again")));
    EXPECT_THAT(error_of(kind, jpeg_of_scans(8192, 8192, 17)), HasSubstr("more than 16 scans"));
  }
  EXPECT_EQ(most_jpeg_scans(1024, 1024), 500);
  EXPECT_EQ(most_jpeg_scans(4096, 4096), 64);
  EXPECT_EQ(most_jpeg_scans(16384, 16384), 16);
}

// For libjpeg, no segment follows these two kinds of marker; what looks like one contains the frame that it will find.
TEST(ImageLimits, AFrameCannotHideBehindAMarkerThatStandsAlone) {
  for (const int marker : {0xd0, 0xd7, 0x01}) {
    Bytes hidden;
    add_segment(hidden, 0xc2, gray_frame(65500, 65500));
    Bytes out = begin_jpeg();
    append(out, Numbers{0xff, static_cast<std::uint8_t>(marker), 0, static_cast<std::uint8_t>(2 + hidden.size() + 4)});
    out.insert(out.end(), hidden.begin(), hidden.end());
    append(out, Numbers{0xff, 0xe1, 0, 15});  // libjpeg skips 13 bytes: the small frame
    add_segment(out, 0xc2, gray_frame(8, 8));
    end_jpeg(out, 1, 2);
    for (const DecoderKind kind : kBoth) EXPECT_THAT(error_of(kind, out), HasSubstr("x.jpg: byte ")) << marker;
  }
}

TEST(ImageLimits, AMarkerThatLibjpegDoesNotKnowIsAnError) {
  for (const int marker : {0x00, 0x02, 0xbf, 0xf0, 0xfd}) {
    Bytes out = begin_jpeg();
    add_segment(out, static_cast<std::uint8_t>(marker), {1, 2, 3});
    add_segment(out, 0xc2, gray_frame(8, 8));
    end_jpeg(out, 1, 2);
    EXPECT_THAT(error_of(DecoderKind::opencv, out), HasSubstr("unknown marker")) << marker;
  }
}

TEST(ImageLimits, AJpegHasOneFrameAndItIsBeforeTheScans) {
  Bytes two = begin_jpeg();
  add_segment(two, 0xc2, gray_frame(8, 8));
  add_segment(two, 0xc2, gray_frame(8, 8));
  end_jpeg(two, 1, 2);
  EXPECT_THAT(error_of(DecoderKind::opencv, two), HasSubstr("two frames"));
  Bytes late = begin_jpeg();
  end_jpeg(late, 1, 2);
  EXPECT_THAT(error_of(DecoderKind::opencv, late), HasSubstr("a scan before its frame"));
}

// The parser and libjpeg must agree, even if a later parser overlooks something.
TEST(ImageLimits, LibjpegsOwnHeaderAndScansAreComparedWithWhatWasChecked) {
  const auto decoder = make_jpeg_decoder();
  const Bytes file = jpeg_of_scans(64, 48, 9);
  const JpegFile checked = parse_jpeg(file, "x.jpg");
  EXPECT_EQ(checked.scans, 9);
  EXPECT_EQ(decoder->decode(file, checked, {}).width, 64);
  JpegFile other = checked;
  other.height = 47;
  EXPECT_THAT(message_of<DataError>([&] { decoder->decode(file, other, {}); }), HasSubstr("not the one that was"));
  other = checked;
  other.scans = 8;
  EXPECT_THAT(message_of<DataError>([&] { decoder->decode(file, other, {}); }), HasSubstr("more scans than"));
  EXPECT_EQ(decoder->decode(file, checked, {}).height, 48);
}

TEST(ImageLimits, AnImageOfTooManyPixelsIsRefusedByItsHeader) {
  const auto saying_how = AllOf(HasSubstr("x.jpg: byte "), HasSubstr("8193x8192 pixels: more than 67108864 in all"),
                                HasSubstr("set CHEXBENCH_MAX_IMAGE_PIXELS=67117056"));
  for (const DecoderKind kind : kBoth) {
    EXPECT_THAT(error_of(kind, jpeg_of_scans(8193, 8192, 1)), saying_how);
    EXPECT_THAT(error_of(kind, test::build_png({.width = 8193, .height = 8192, .rows = Numbers(100)})), saying_how);
  }
  Bytes four = begin_jpeg();
  add_segment(four, 0xc2, {8, 0x20, 0, 0x20, 0, 4});
  end_jpeg(four, 1, 2);
  EXPECT_THAT(error_of(DecoderKind::fast, four), HasSubstr("8192x8192 pixels and 4 components"));
  EXPECT_EQ(refuse_size(8192, 8192), std::nullopt);
  EXPECT_EQ(refuse_size(16384, 4096), std::nullopt);
  EXPECT_THAT(*refuse_size(16385, 1), HasSubstr("more than 16384 a side"));
  EXPECT_THAT(*refuse_size(4294967295, 4294967295), HasSubstr("more than 16384 a side"));
}

// For a separate process, because the limit is read once: decodes, and exits with the error's code and message.
[[noreturn]] void decode_and_exit(const char* limit, const Bytes& file) {
  ::setenv("CHEXBENCH_MAX_IMAGE_PIXELS", limit, 1);
  ::unsetenv("OPENCV_IO_MAX_IMAGE_PIXELS");  // another test's limit, inherited
  try {
    make_decoder(DecoderKind::fast)->decode(file, "x.png");
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    std::_Exit(static_cast<int>(error.code()));
  }
  std::_Exit(0);
}

TEST(ImageLimits, TheUserSetsThePixelsForAllFormats) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const testing::ExitedWithCode taken(0), refused(3);
  Bytes pgm;
  append(pgm, Numbers{'P', '5', ' ', '1', '1', ' ', '1', '0', ' ', '2', '5', '5', '\n'});
  pgm.resize(pgm.size() + 110, std::byte{7});
  EXPECT_EXIT(decode_and_exit("110", test::gray_png(11, 10)), taken, "");
  EXPECT_EXIT(decode_and_exit("109", test::gray_png(11, 10)), refused, "11x10 pixels: more than 109.*PIXELS=110");
  EXPECT_EXIT(decode_and_exit("110", pgm), taken, "");
  EXPECT_EXIT(decode_and_exit("109", pgm), refused, "x.png: .*validateInputImageSize");
  EXPECT_EXIT(decode_and_exit("68000000", jpeg_of_scans(8193, 8192, 1)), taken, "");
}

TEST(ImageLimits, ALimitThatIsNoNumberIsAnErrorOfTheUser) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* const limit : {"many", "", "0", "-5", "300000000", "1e6"}) {
    EXPECT_EXIT(decode_and_exit(limit, test::gray_png(2, 2)), testing::ExitedWithCode(2),
                "CHEXBENCH_MAX_IMAGE_PIXELS must be a number of pixels from 1 to 268435456");
  }
}

// The signal is pending when libjpeg begins: it must end before the last scan, and not as damaged data.
TEST(ImageLimits, ASignalEndsTheDecodingOfAJpeg) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        install_interrupt_handlers();
        std::raise(SIGTERM);
        try {
          make_decoder(DecoderKind::fast)->decode(jpeg_of_scans(64, 64, 100), "x.jpg");
        } catch (const Error& error) {
          std::_Exit(static_cast<int>(error.code()));
        }
        std::_Exit(0);
      },
      testing::ExitedWithCode(143), "");
}

TEST(ImageLimits, TheMemoryOfALargeImageIsGivenBack) {
  const auto held = [] {
    const auto memory = ::mallinfo2();
    return memory.hblkhd + memory.uordblks;
  };
  if (held() == 0) GTEST_SKIP() << "AddressSanitizer's allocator does not count";
  const Bytes small = test::gray_png(100, 100);
  const Bytes wide_gray = test::build_png({.width = 8192, .height = 4096, .rows = Numbers(8193 * 4096)});
  const Bytes colors =
      test::build_png({.width = 4096, .height = 4352, .color_type = 6, .rows = Numbers((4 * 4096 + 1) * 4352)});
  const Bytes jpeg = jpeg_of_scans(8192, 4096, 2);
  for (const DecoderKind kind : kBoth) {
    const auto decoder = make_decoder(kind);
    const std::size_t before = held();
    for (const Bytes& large : {wide_gray, colors, jpeg}) {
      decoder->decode(large, "x.png");
      EXPECT_GT(held(), before + (std::size_t{16} << 20));
      EXPECT_LT(held(), before + (std::size_t{128} << 20));
      decoder->decode(small, "x.png");
      EXPECT_LT(held(), before + (std::size_t{4} << 20));
    }
  }
}

}  // namespace
}  // namespace chexbench::image
