// Measures the thread-CPU time of an image: with the plain, the fast and OpenCV's decoder, in total and by stage, and
// of decoding alone compared with other decoders (decode/..., which scripts/peers/compare_decode runs).
//   decode_benchmark [--benchmark_filter=...]        CHEXBENCH_IMAGES=DIR for other images than the shipped ones
// It measures separately the two kinds of file in copies of ChestX-ray14: `published` (zlib level 6, mixed filters) and
// `resaved` (level 1, filter Sub). Compare ratios within one run, not times of two runs.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "image/decode_peers.hpp"
#include "image/jpeg/jpeg_turbo.hpp"
#include "image/png/png_decoder.hpp"
#include "image/png/png_file.hpp"
#include "image/preprocess.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::image {
namespace {

const BatchShape kShape{.images = 1, .height = 224, .width = 224, .deliver = Deliver::f32};

using Bytes = std::vector<std::byte>;
using Images = std::vector<Bytes>;

std::map<std::string, Images> load_images() {
  const char* folder = std::getenv("CHEXBENCH_IMAGES");
  std::map<std::string, Images> kinds;
  storage::ByteBuffer buffer;
  PngFile png;
  for (const auto& entry : std::filesystem::directory_iterator(folder ? folder : CHEXBENCH_TEST_DATA "/images")) {
    const auto bytes = storage::read_file(entry.path(), buffer);
    parse_png(bytes, entry.path(), png);
    if (!png.simple) continue;
    const bool published = png.image_data.front()[1] == std::byte{0x9c};
    kinds[png.channels() > 1 ? "rgba" : published ? "published" : "resaved"].emplace_back(bytes.begin(), bytes.end());
  }
  return kinds;
}

// Calls `work(image)` for one image after another.
template <typename Work>
void measure(benchmark::State& state, const Images& images, Work work) {
  for (const Bytes& image : images) work(image);  // buffers reach their size before anything is measured
  std::size_t next = 0;
  for (auto _ : state) work(images[next++ % images.size()]);
  state.SetItemsProcessed(state.iterations());
}

void to_tensor(benchmark::State& state, const Images& images, spec::ResizeMethod method, Isa isa, bool isal) {
  PngDecoder decoder(isa, isal ? make_inflater() : make_zlib_inflater());
  const auto preprocessor = make_preprocessor(method, kShape, isa);
  std::vector<std::byte> tensor(kShape.bytes());
  PngFile png;
  measure(state, images, [&](const Bytes& image) {
    parse_png(image, "", png);
    if (decoder.decode(png)) std::abort();
    preprocessor->run(decoder.image(), false, tensor.data());
    benchmark::DoNotOptimize(tensor.data());
  });
}

// The straightforward code with OpenCV alone.
void opencv_to_tensor(benchmark::State& state, const Images& images, int interpolation) {
  cv::setNumThreads(0);
  cv::Mat gray, small, unit, color, tensor;
  measure(state, images, [&](const Bytes& image) {
    const cv::Mat file(1, static_cast<int>(image.size()), CV_8UC1, const_cast<std::byte*>(image.data()));
    cv::imdecode(file, cv::IMREAD_GRAYSCALE, &gray);
    cv::resize(gray, small, cv::Size(kShape.width, kShape.height), 0, 0, interpolation);
    small.convertTo(unit, CV_32F, 1.0 / 255);
    cv::merge(std::vector<cv::Mat>(3, unit), color);
    cv::subtract(color, cv::Scalar(0.485, 0.456, 0.406), color);
    cv::divide(color, cv::Scalar(0.229, 0.224, 0.225), tensor);
    benchmark::DoNotOptimize(tensor.data);
  });
}

void decode(benchmark::State& state, const Images& images) {
  PngDecoder decoder;
  PngFile png;
  measure(state, images, [&](const Bytes& image) {
    parse_png(image, "", png);
    if (decoder.decode(png)) std::abort();
  });
}

void decode_by(benchmark::State& state, const Images& images, const PeerDecoder& peer) {
  state.SetLabel(peer.version);
  measure(state, images, [&](const Bytes& image) { peer.decode(image); });
}

void check_chunks(benchmark::State& state, const Images& images) {
  PngFile png;
  measure(state, images, [&](const Bytes& image) { parse_png(image, "", png); });
}

void inflate(benchmark::State& state, const Images& images, Inflater& inflater) {
  PngFile png;
  std::vector<std::uint8_t> rows;
  measure(state, images, [&](const Bytes& image) {
    parse_png(image, "", png);
    rows.resize(static_cast<std::size_t>(png.height * (png.width + 1)));
    if (inflater.inflate(png.image_data, rows)) std::abort();
  });
}

void resize(benchmark::State& state, const Images& images, spec::ResizeMethod method, Isa isa) {
  PngDecoder decoder;
  PngFile png;
  parse_png(images.front(), "", png);
  if (decoder.decode(png)) std::abort();
  const auto preprocessor = make_preprocessor(method, kShape, isa);
  std::vector<std::byte> tensor(kShape.bytes());
  for (auto _ : state) preprocessor->run(decoder.image(), false, tensor.data());
  state.SetItemsProcessed(state.iterations());
}

// The same pixels as JPEGs of OpenCV's default quality, 95.
Images as_jpegs(const Images& pngs) {
  Images jpegs;
  std::vector<unsigned char> file;
  for (const Bytes& png : pngs) {
    const cv::Mat bytes(1, static_cast<int>(png.size()), CV_8UC1, const_cast<std::byte*>(png.data()));
    cv::imencode(".jpg", cv::imdecode(bytes, cv::IMREAD_GRAYSCALE), file);
    const auto* const begin = reinterpret_cast<const std::byte*>(file.data());
    jpegs.emplace_back(begin, begin + file.size());
  }
  return jpegs;
}

void decode_jpeg(benchmark::State& state, const Images& images, const LeastSize& least) {
  const auto decoder = make_jpeg_decoder();
  if (!decoder) return state.SkipWithError("this build has no libjpeg-turbo");
  measure(state, images, [&](const Bytes& image) {
    benchmark::DoNotOptimize(decoder->decode(image, parse_jpeg(image, ""), least).pixels);
  });
}

void register_kind(const std::string& kind, const Images& images) {
  const auto add = [&](const std::string& name, auto work) {
    benchmark::RegisterBenchmark((name + "/" + kind).c_str(), work)->Unit(benchmark::kMillisecond);
  };
  using enum spec::ResizeMethod;
  add("decode/chexbench", [&](benchmark::State& state) { decode(state, images); });
  for (const PeerDecoder& peer : peer_decoders()) {
    add("decode/" + peer.name, [&images, peer](benchmark::State& state) { decode_by(state, images, peer); });
  }
  add("to_tensor/opencv", [&](benchmark::State& state) { opencv_to_tensor(state, images, cv::INTER_LINEAR); });
  add("to_tensor/plain", [&](benchmark::State& state) { to_tensor(state, images, bilinear, Isa::plain, false); });
  for (const Isa isa : kIsas) {
    if (!supported(isa)) continue;
    const std::string name(to_string(isa));
    add("to_tensor/fast_" + name, [&, isa](benchmark::State& state) { to_tensor(state, images, bilinear, isa, true); });
    add("resize/bilinear_" + name, [&, isa](benchmark::State& state) { resize(state, images, bilinear, isa); });
    add("resize/area_" + name, [&, isa](benchmark::State& state) { resize(state, images, area, isa); });
  }
  add("to_tensor_area/opencv", [&](benchmark::State& state) { opencv_to_tensor(state, images, cv::INTER_AREA); });
  add("to_tensor_area/fast", [&](benchmark::State& state) { to_tensor(state, images, area, best_isa(), true); });
  const Images jpegs = as_jpegs(images);
  add("jpeg/full", [jpegs](benchmark::State& state) { decode_jpeg(state, jpegs, {}); });
  add("jpeg/scaled", [jpegs](benchmark::State& state) { decode_jpeg(state, jpegs, {kShape.width, kShape.height}); });
  add("stage/check_chunks", [&](benchmark::State& state) { check_chunks(state, images); });
  add("stage/chunks_and_inflate", [&](benchmark::State& state) { inflate(state, images, *make_inflater()); });
  add("stage/chunks_and_zlib", [&](benchmark::State& state) { inflate(state, images, *make_zlib_inflater()); });
}

}  // namespace
}  // namespace chexbench::image

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const auto kinds = chexbench::image::load_images();
  for (const auto& [kind, images] : kinds) chexbench::image::register_kind(kind, images);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
