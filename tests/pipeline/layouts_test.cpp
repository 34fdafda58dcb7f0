// One suite of tests for all named pipelines, all formats, and layouts other than ChestX-ray14's: PNGs and JPEGs of any
// size, gray and RGB, with any number of labels.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/errors.hpp"
#include "dataset/make/convert.hpp"
#include "image/jpeg_builder.hpp"
#include "image/png_builder.hpp"
#include "pipeline/harness.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::pipeline::test {
namespace {

using spec::DataFormat;
using spec::DataLayout;
using testing::HasSubstr;

constexpr int kImages = 24;

void write(const std::string& path, std::span<const std::byte> bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// Every third file is a PNG, the others are JPEGs, gray and RGB.
std::string write_image(const std::string& stem, int number) {
  if (number % 3 == 0) {
    write(stem + ".png", image::test::gray_png(60 + static_cast<std::uint32_t>(number), 40));
    return stem + ".png";
  }
  write(stem + ".jpg",
        image::test::build_jpeg({.width = 300 + number, .height = 200, .channels = number % 3 == 1 ? 1 : 3}));
  return stem + ".jpg";
}

// Seventy labels are more than the bits of a word.
std::string write_csv_root(const std::string& root) {
  std::string table = "image";
  for (int f = 0; f < 70; ++f) table += fmt::format(",label {}", f);
  for (int i = 0; i < kImages; ++i) {
    const std::string path = write_image(fmt::format("{}/some/{:02}", root, i), i);
    table += '\n';
    table += path.substr(root.size() + 1);
    for (int f = 0; f < 70; ++f) table += (f * 5 + i) % 11 == 0 ? ",1" : ",0";
  }
  std::ofstream(root + "/labels.csv") << table << "\n";
  return root;
}

std::string write_folder_root(const std::string& root) {
  for (int i = 0; i < kImages; ++i) write_image(fmt::format("{}/{}/{:02}", root, i % 2 == 0 ? "cat" : "owl", i), i);
  return root;
}

image::PixelSpec pixels(spec::Color color) { return {.image_size = Setting().size, .color = color}; }

struct Root {
  explicit Root(DataLayout root_layout) : layout(root_layout) {
    path = layout == DataLayout::csv ? write_csv_root(folder.path()) : write_folder_root(folder.path());
    for (const auto format : {DataFormat::tfrecord, DataFormat::webdataset, DataFormat::cached}) {
      convert(format, spec::Color::gray);
    }
    convert(DataFormat::cached, spec::Color::rgb);
    files = open(DataFormat::images);
  }
  void convert(DataFormat format, spec::Color color) const {
    dataset::convert_data_set({.root = path,
                               .split = spec::Split::all,
                               .format = format,
                               .pixels = pixels(color),
                               .shards = spec::reads_shards(format) ? 16 : 0,
                               .threads = 2,
                               .layout = layout});
  }
  dataset::Dataset open(DataFormat format, spec::Color color = spec::Color::gray) const {
    spec::DataSpec spec;  // set one by one, since GCC 12 warns that the rest of a long braced list is uninitialized
    spec.root = path;
    spec.format = format;
    spec.split = spec::Split::all;
    spec.layout = layout;
    return dataset::open_dataset(spec, pixels(color));
  }

  const DataLayout layout;
  TempFolder folder;
  std::string path;
  dataset::Dataset files;
};

const Root& root_of(DataLayout layout) {
  static const Root csv(DataLayout::csv), folders(DataLayout::folders);
  return layout == DataLayout::csv ? csv : folders;
}

class EveryLayout : public testing::TestWithParam<std::tuple<std::string, DataFormat, DataLayout, spec::Color>> {
 protected:
  spec::PipelineSpec pipeline() const { return finite_preset(std::get<0>(GetParam()), 1); }
  const Root& root() const { return root_of(std::get<2>(GetParam())); }
  spec::Color color() const { return std::get<3>(GetParam()); }
  dataset::Dataset dataset() const { return root().open(std::get<1>(GetParam()), color()); }
  Setting setting() const {
    return {.deliver = std::get<1>(GetParam()) == DataFormat::cached ? Deliver::u8 : Deliver::f32, .color = color()};
  }
};

TEST_P(EveryLayout, DeliversTheTensorsAndLabelsOfTheFiles) {
  const auto expected = reference(root().files, setting());
  ASSERT_EQ(expected.size(), static_cast<std::size_t>(kImages));
  EXPECT_EQ(sorted(run(dataset(), pipeline(), setting())), expected);
}

TEST_P(EveryLayout, DeliversThemFromACacheAsWell) {
  spec::PipelineSpec cached = pipeline();
  set(cached, "repeat", "epochs", std::int64_t{2});
  for (std::size_t i = 0; i < cached.ops.size(); ++i) {
    if (cached.ops[i].op == "repeat")
      cached.ops.insert(cached.ops.begin() + static_cast<std::ptrdiff_t>(i++), op("cache"));
  }
  std::vector<Delivered> expected = reference(root().files, setting());
  for (const Delivered& image : reference(root().files, setting())) {
    expected.push_back({{image.id.image, 1}, image.hash});
  }
  EXPECT_EQ(sorted(run(dataset(), cached, setting())), expected);
}

std::string layout_name(const testing::TestParamInfo<EveryLayout::ParamType>& info) {
  return fmt::format("{}_{}_{}_{}", test_name(std::get<0>(info.param)), spec::to_string(std::get<1>(info.param)),
                     spec::to_string(std::get<2>(info.param)), spec::to_string(std::get<3>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(Layouts, EveryLayout,
                         testing::Combine(testing::ValuesIn(spec::preset_names()),
                                          testing::Values(DataFormat::images, DataFormat::tfrecord,
                                                          DataFormat::webdataset, DataFormat::cached),
                                          testing::Values(DataLayout::csv, DataLayout::folders),
                                          testing::Values(spec::Color::gray)),
                         layout_name);
INSTANTIATE_TEST_SUITE_P(Colors, EveryLayout,
                         testing::Combine(testing::ValuesIn(spec::preset_names()),
                                          testing::Values(DataFormat::images, DataFormat::tfrecord, DataFormat::cached),
                                          testing::Values(DataLayout::folders), testing::Values(spec::Color::rgb)),
                         layout_name);

TEST(ColorBytes, AreThoseThatTheDecoderAndTheResizeGive) {
  const Root& root = root_of(DataLayout::folders);
  const Setting setting{.deliver = Deliver::u8, .color = spec::Color::rgb};
  for (const DataFormat format : {DataFormat::images, DataFormat::tfrecord, DataFormat::webdataset}) {
    EXPECT_EQ(sorted(run(root.open(format), finite_preset("optimized", 1), setting)), reference(root.files, setting))
        << spec::to_string(format);
  }
}

TEST(ColorForecast, CountsThreeChannelsOfBytes) {
  const Root& root = root_of(DataLayout::folders);
  const spec::PipelineSpec pipeline = finite_preset("optimized", 1);
  const auto batches = [&](spec::Color color) {
    return forecast_memory(context_of(root.files, pipeline, {.deliver = Deliver::u8, .color = color}))
        .lines.back()
        .bytes.full;
  };
  EXPECT_EQ(batches(spec::Color::rgb), 3 * batches(spec::Color::gray));
}

TEST(CorruptJpeg, StopsOrIsSkippedAsTheSpecSays) {
  const TempFolder folder;
  const std::string root = write_folder_root(folder.path());
  std::filesystem::resize_file(root + "/owl/07.jpg", 3000);
  const dataset::Dataset files =
      dataset::open_dataset({.root = root, .split = spec::Split::all, .layout = DataLayout::folders});
  const auto all = [&](spec::OnBadRecord on_bad) {
    return run(files, finite_preset("optimized", 1), {.batch = 1, .on_bad_record = on_bad});
  };
  EXPECT_EQ(all(spec::OnBadRecord::skip).size(), static_cast<std::size_t>(kImages - 1));
  try {
    all(spec::OnBadRecord::stop);
    FAIL() << "nothing was thrown";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("owl/07.jpg: byte 3000: JPEG: the file ends before its image does"));
  }
}

TEST(ScaledJpeg, GivesOtherPixelsOfTheSameImages) {
  const Root& root = root_of(DataLayout::folders);
  const spec::PipelineSpec pipeline = finite_preset("optimized", 1);
  const auto deliver = [&](spec::JpegDecode jpeg) {
    PipelineContext context = context_of(root.files, pipeline, {});
    context.data.jpeg = jpeg;
    const auto running = make_pipeline(context);
    return sorted(drain(*running));
  };
  const auto full = deliver(spec::JpegDecode::full), scaled = deliver(spec::JpegDecode::scaled);
  EXPECT_EQ(ids(full), ids(scaled));
  EXPECT_EQ(full, reference(root.files, {}));
  for (std::size_t i = 0; i < full.size(); ++i) {
    const std::string& name = root.files.images[full[i].id.image].name;
    EXPECT_EQ(full[i] == scaled[i], name.ends_with(".png")) << name;
  }
}

}  // namespace
}  // namespace chexbench::pipeline::test
