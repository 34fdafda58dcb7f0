#include "formats/cached_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/dataset.hpp"
#include "dataset/index.hpp"
#include "dataset/make/check.hpp"
#include "dataset/make/convert.hpp"
#include "dataset/make/placed_file.hpp"
#include "dataset/make/synth.hpp"
#include "image/decoder.hpp"
#include "image/preprocess.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;
using spec::ResizeMethod;
using spec::Split;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A synthetic set of 12 images of 64 x 64, whose cached pixels are 48 x 48.
class CachedPixels : public testing::Test {
 protected:
  CachedPixels() { write_synthetic_set({.directory = root(), .images = 12, .size = 64, .threads = 2}); }

  formats::Conversion convert(ResizeMethod resize = ResizeMethod::bilinear, std::size_t threads = 2) {
    return convert_data_set({.root = root(),
                             .split = Split::all,
                             .format = spec::DataFormat::cached,
                             .pixels = {.image_size = 48, .resize = resize},
                             .threads = threads});
  }
  Dataset open(int size = 48, ResizeMethod resize = ResizeMethod::bilinear) {
    return open_dataset({.root = root(), .format = spec::DataFormat::cached, .split = Split::all},
                        {.image_size = size, .resize = resize});
  }
  Dataset pngs() { return open_dataset({.root = root(), .split = Split::all}); }
  std::string failure(int size = 48, ResizeMethod resize = ResizeMethod::bilinear) {
    return message_of<DataError>([&] { open(size, resize); });
  }
  void flip(std::size_t offset) {
    std::string contents = read_text(file());
    contents.at(offset) = static_cast<char>(contents.at(offset) ^ 1);
    write_text(file(), contents);
  }
  std::string root() { return folder_ / "set"; }
  std::string image(const std::string& name) { return folder_ / ("set/images/" + name); }
  std::string file() { return formats::cached_path(root(), Split::all, {.image_size = 48}); }
  ScratchFolder folder_;
};

TEST_F(CachedPixels, AreThoseThatThePngsGive) {
  for (const ResizeMethod resize : {ResizeMethod::bilinear, ResizeMethod::area}) {
    convert(resize);
    const Dataset cached = open(48, resize), png = pngs();
    const BatchShape shape{.images = 1, .height = 48, .width = 48, .deliver = Deliver::u8};
    const auto decoder = image::make_decoder(spec::DecoderKind::fast);
    const auto preprocessor = image::make_preprocessor(resize, shape);
    alignas(64) std::array<std::byte, 48 * 48> expected;
    storage::ByteBuffer buffer;
    ASSERT_EQ(cached.images.size(), 12u);
    EXPECT_EQ(cached.total_bytes, 12u * 48 * 48);
    for (std::uint32_t i = 0; i < 12; ++i) {
      EXPECT_EQ(cached.images[i].name, png.images[i].name);
      EXPECT_EQ(cached.images[i].labels, png.images[i].labels);
      EXPECT_EQ(cached.images[i].patient, png.images[i].patient);
      preprocessor->run(decoder->decode(storage::read_file(png.images[i].path, buffer), png.images[i].name), false,
                        expected.data());
      EXPECT_THAT(read_image(cached, i, buffer), testing::ElementsAreArray(expected));
    }
  }
}

TEST_F(CachedPixels, OfColorsAreAFileOfTheirOwn) {
  convert();
  const image::PixelSpec rgb{.image_size = 48, .color = spec::Color::rgb};
  const auto open_rgb = [&] {
    return open_dataset({.root = root(), .format = spec::DataFormat::cached, .split = Split::all}, rgb);
  };
  EXPECT_THAT(message_of<DataError>(open_rgb), AllOf(HasSubstr("no cached pixels"), HasSubstr("all-48-bilinear.rgb"),
                                                     HasSubstr("--image-size 48 --color rgb")));
  convert_data_set(
      {.root = root(), .split = Split::all, .format = spec::DataFormat::cached, .pixels = rgb, .threads = 2});
  const Dataset colored = open_rgb(), gray = open();
  EXPECT_EQ(colored.total_bytes, 3 * gray.total_bytes);
  EXPECT_EQ(colored.cached->made_for(), rgb);
  storage::ByteBuffer buffer, other;
  for (std::uint32_t i = 0; i < 12; ++i) {
    const auto pixels = read_image(colored, i, buffer), same = read_image(gray, i, other);
    ASSERT_EQ(pixels.size(), 3 * same.size());
    for (std::size_t at = 0; at < pixels.size(); ++at) ASSERT_EQ(pixels[at], same[at / 3]) << "X-rays are gray";
  }
  EXPECT_TRUE(check_data_set(storage::DataRoot(root()), 2).problems.empty());
  fs::rename(formats::cached_path(root(), Split::all, rgb), file());
  EXPECT_THAT(failure(), AllOf(HasSubstr("resized with bilinear, in rgb"), HasSubstr("--image-size 48")));
}

TEST_F(CachedPixels, OfAPartOfThePatientsAreTheirOwn) {
  convert();
  const PatientSplit cached = split_by_patient(open(), 0.4), png = split_by_patient(pngs(), 0.4);
  const Dataset whole = open();
  storage::ByteBuffer buffer;
  ASSERT_FALSE(cached.validation.images.empty());
  for (const auto& [part, of_png] :
       {std::pair(&cached.training, &png.training), {&cached.validation, &png.validation}}) {
    ASSERT_EQ(part->images.size(), of_png->images.size());
    for (std::uint32_t i = 0; i < part->images.size(); ++i) {
      EXPECT_EQ(part->images[i].name, of_png->images[i].name);
      const std::uint32_t in_whole = find_image(whole, part->images[i].name).value();
      EXPECT_THAT(read_image(*part, i, buffer), testing::ElementsAreArray(read_image(whole, in_whole, buffer)));
    }
  }
}

TEST_F(CachedPixels, AreTheSameBytesAtAnyNumberOfThreads) {
  convert(ResizeMethod::bilinear, 1);
  const std::string first = read_text(file());
  fs::remove(file());
  convert(ResizeMethod::bilinear, 4);
  EXPECT_EQ(read_text(file()), first);
}

TEST_F(CachedPixels, OfAnotherSizeOrResizeAreAnErrorWithTheCommandThatMakesThem) {
  EXPECT_THAT(failure(), AllOf(HasSubstr("no cached pixels"), HasSubstr("chexbench data convert"),
                               HasSubstr("--split all --to cached --image-size 48")));
  convert();
  EXPECT_THAT(failure(32), AllOf(HasSubstr("there is all-48-bilinear.gray"), HasSubstr("--image-size 32")));
  EXPECT_THAT(failure(48, ResizeMethod::area), HasSubstr("--image-size 48 --resize area"));
  fs::rename(file(), formats::cached_path(root(), Split::all, {.image_size = 32}));
  EXPECT_THAT(failure(32), AllOf(HasSubstr("holds images of 48 pixels a side, resized with bilinear"),
                                 HasSubstr("--image-size 32")));
}

TEST_F(CachedPixels, AreStaleOnceTheirImagesChanged) {
  convert();
  const std::string name = pngs().images[3].name;
  write_text(image(name), read_text(image(name)) + "x");
  EXPECT_THAT(failure(), AllOf(HasSubstr("is stale: image " + name + " had"), HasSubstr("data convert")));
  fs::remove(image(name));
  EXPECT_THAT(failure(), HasSubstr("it holds 12 images, but there are 11 now"));
  fs::remove_all(folder_ / "set/images");
  EXPECT_EQ(open().images.size(), 12u) << "where no image is left there is nothing to compare with";
  std::string table = read_text(folder_ / "set/Data_Entry_2017.csv");
  const std::size_t row = table.find(name) + name.size() + 1;
  table.replace(row, table.find(',', row) - row, "Hernia|Mass|Edema");
  write_text(folder_ / "set/Data_Entry_2017.csv", table);
  EXPECT_EQ(open().images[3].labels, parse_labels("Hernia|Mass|Edema", "x")) << "labels are the table's";
}

TEST_F(CachedPixels, KeepNothingOfAFileThatIsDamaged) {
  convert();
  const std::string whole = read_text(file());
  for (const std::size_t offset : {0u, 12u, 46u}) {
    flip(offset);
    EXPECT_THAT(failure(), AllOf(HasSubstr("all-48-bilinear.gray: not a file of cached pixels"), HasSubstr("again")));
    write_text(file(), whole);
  }
  flip(60);
  EXPECT_THAT(failure(), HasSubstr("the CRC of its table is wrong"));
  write_text(file(), whole.substr(0, whole.size() - 1));
  EXPECT_THAT(failure(), HasSubstr("bytes and should have"));
  write_text(file(), "");
  EXPECT_THAT(failure(), HasSubstr("it has 0 bytes"));
}

TEST_F(CachedPixels, AreReadFromBytesInMemory) {
  convert();
  const std::string bytes = read_text(file());
  const auto open_bytes = [](std::string_view text) {
    return formats::CachedFile::open(storage::ranges_of(std::as_bytes(std::span(text)), "memory"));
  };
  storage::ByteBuffer buffer;
  const auto pixels = open_bytes(bytes)->pixels(5, buffer);
  EXPECT_EQ(storage::as_text(pixels), bytes.substr(4096 + 5 * 48 * 48, 48 * 48));
  for (const std::size_t size : {std::size_t{0}, std::size_t{47}, std::size_t{48}, bytes.size() - 1}) {
    EXPECT_THAT(message_of<DataError>([&] { open_bytes(std::string_view(bytes).substr(0, size)); }),
                HasSubstr("memory: not a file of cached pixels"));
  }
}

// The name in the message must not be in pages lost with the file's end.
TEST_F(CachedPixels, OfAFileThatWasEmptiedAreAnErrorThatNamesIt) {
  convert();
  const Dataset cached = open();
  fs::resize_file(file(), 0);
  storage::ByteBuffer buffer;
  EXPECT_THAT(message_of<DataError>([&] { read_image(cached, 5, buffer); }),
              AllOf(HasSubstr("all-48-bilinear.gray"), HasSubstr("the file became shorter")));
}

TEST_F(CachedPixels, ThatWereFlippedAreNamedWithTheOffset) {
  convert();
  flip(4096 + 5 * 48 * 48 + 7);
  const Dataset cached = open();
  storage::ByteBuffer buffer;
  EXPECT_THAT(message_of<DataError>([&] { read_image(cached, 5, buffer); }),
              AllOf(HasSubstr("pixels at offset 15616: image " + cached.images[5].name), HasSubstr("CRC")));
  EXPECT_NO_THROW(read_image(cached, 4, buffer));
  EXPECT_THAT(check_data_set(root(), 2).problems, ElementsAre(HasSubstr(cached.images[5].name)));
}

TEST_F(CachedPixels, OfAnImageThatCannotBeDecodedStayUnreadable) {
  const std::string name = pngs().images[2].name;
  fs::resize_file(image(name), fs::file_size(image(name)) / 2);
  EXPECT_THAT(convert().damaged, ElementsAre(name));
  const Dataset cached = open();
  storage::ByteBuffer buffer;
  EXPECT_THAT(message_of<DataError>([&] { read_image(cached, 2, buffer); }),
              AllOf(HasSubstr("image " + name), HasSubstr("could not be decoded when it was converted")));
}

TEST_F(CachedPixels, AreHeldAgainstTheirPngsByACheck) {
  convert();
  const CheckReport whole = check_data_set(root(), 2);
  EXPECT_THAT(whole.problems, IsEmpty());
  EXPECT_EQ(whole.records, 12u);
  const std::string a = pngs().images[0].path, b = pngs().images[1].path;
  fs::copy_file(a, b, fs::copy_options::overwrite_existing);
  EXPECT_THAT(check_data_set(root(), 2).problems,
              ElementsAre(AllOf(HasSubstr("gives a different tensor than"), HasSubstr(pngs().images[1].name))));
}

TEST_F(CachedPixels, ThatAreThereAndRightAreKept) {
  convert();
  EXPECT_EQ(convert().kept(), 1u);
  flip(4096 + 7);
  EXPECT_EQ(convert().kept(), 0u);
  EXPECT_THAT(check_data_set(root(), 2).problems, IsEmpty());
}

// A killed conversion leaves a file of the full size under another name, with a header that no reader accepts.
TEST_F(CachedPixels, GoOnWhereAnInterruptedConversionStopped) {
  convert();
  const std::string whole = read_text(file());
  std::string partial = whole;
  const formats::CachedHeader header = formats::cached_header({.image_size = 48}, 12, 12 * 17, 0);
  partial.replace(0, sizeof header, reinterpret_cast<const char*>(&header), sizeof header);
  const std::size_t image_3 = sizeof header + 3 * sizeof(formats::CachedEntry);
  ASSERT_NE(partial[image_3 + offsetof(formats::CachedEntry, state)], 0);
  partial[image_3 + offsetof(formats::CachedEntry, state)] = 0;  // image 3 is not converted yet
  partial[4096 + 5 * 48 * 48] ^= 1;                              // the pixels of image 5 did not reach the disk
  fs::remove(file());
  write_text(file() + ".partial", partial);
  EXPECT_THAT(failure(), HasSubstr("no cached pixels"));
  EXPECT_EQ(convert().kept(), 1u) << "its seconds are not those of a whole conversion";
  EXPECT_EQ(read_text(file()), whole);
  EXPECT_FALSE(fs::exists(file() + ".partial"));
}

// A second writer may have opened the unfinished file before the first one renamed it.
TEST_F(CachedPixels, AreNotTouchedByAWriterThatOpenedTheirUnfinishedFile) {
  const std::string unfinished = folder_ / "pixels.partial", finished = folder_ / "pixels";
  auto first = std::make_unique<PlacedFile>(unfinished);
  const int second = ::open(unfinished.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_THAT(message_of<OutputError>([&] { lock_if_named(second, unfinished); }),
              HasSubstr("is another conversion writing it?"));
  first->begin(100);
  first->commit(finished);
  first.reset();
  EXPECT_FALSE(lock_if_named(second, unfinished)) << "it is the finished file";
  ::close(second);
  PlacedFile third(unfinished);
  third.begin(3);
  EXPECT_EQ(fs::file_size(finished), 100u);
}

TEST_F(CachedPixels, OfTwoWritersAreWhole) {
  convert();
  const std::string whole = read_text(file());
  const auto write = [&] {
    for (int i = 0; i < 20; ++i) {
      fs::remove(file());
      try {
        convert(ResizeMethod::bilinear, 1);
      } catch (const std::exception&) {  // the other one is writing it, or has removed this one's file
        continue;
      }
    }
  };
  std::thread other(write);
  write();
  other.join();
  convert();
  EXPECT_EQ(read_text(file()), whole);
}

TEST_F(CachedPixels, DoNotGoOnWithWhatWasMadeOfOtherImages) {
  convert();
  const std::string whole = read_text(file());
  write_text(file() + ".partial", std::string(whole.size(), '?'));
  fs::remove(file());
  EXPECT_EQ(convert().kept(), 0u);
  EXPECT_EQ(read_text(file()), whole);
}

TEST_F(CachedPixels, RefuseSizesThatCannotBe) {
  for (const int size : {0, -1, 20000}) {
    const ConvertOptions options{
        .root = root(), .split = Split::all, .format = spec::DataFormat::cached, .pixels = {.image_size = size}};
    EXPECT_THAT(message_of<SpecError>([&] { convert_data_set(options); }), HasSubstr("must be from 1 to 16384"));
  }
}

}  // namespace
}  // namespace chexbench::dataset
