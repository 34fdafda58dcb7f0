#include "image/opencv_decoder.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <new>
#include <vector>

#include "core/errors.hpp"
#include "core/module.hpp"
#include "image/decoded_image.hpp"
#include "image/opencv_plugin.hpp"

namespace chexbench::image {
namespace {

std::vector<std::filesystem::path> plugin_paths() {
  if (const char* folder = std::getenv("CHEXBENCH_PLUGIN_DIR")) {
    return {std::filesystem::path(folder) / kOpencvPluginFile};
  }
  const std::filesystem::path beside = std::filesystem::path(program_path()).parent_path();
  return {beside / kOpencvPluginFile, beside.parent_path() / "lib" / "chexbench" / kOpencvPluginFile};
}

// Sets OpenCV's limits to ours, except for those that the user set. OpenCV reads them when it is loaded, and refuses
// larger images by their header.
void limit_images() {
  const std::string side = std::to_string(kMaxImageSide);
  ::setenv("OPENCV_IO_MAX_IMAGE_WIDTH", side.c_str(), 0);
  ::setenv("OPENCV_IO_MAX_IMAGE_HEIGHT", side.c_str(), 0);
  ::setenv("OPENCV_IO_MAX_IMAGE_PIXELS", std::to_string(max_image_pixels()).c_str(), 0);
}

const OpencvPlugin& load_plugin() {
  limit_images();
  std::vector<std::string> tried;
  for (const std::filesystem::path& path : plugin_paths()) {
    // The library is never closed, because OpenCV's threads and static objects would not survive that.
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      tried.emplace_back(::dlerror());
      continue;
    }
    const auto entry = reinterpret_cast<OpencvPluginEntry>(::dlsym(library, kOpencvPluginSymbol));
    if (entry != nullptr && entry()->version == kOpencvPluginVersion) return *entry();
    tried.push_back(fmt::format("{} is of another version of chexbench", path.string()));
  }
  throw DataError(
      fmt::format("it needs OpenCV, and {} cannot be loaded ({}): install libopencv-imgcodecs, and keep "
                  "that file next to chexbench or in ../lib/chexbench from it",
                  kOpencvPluginFile, fmt::join(tried, "; ")));
}

std::atomic<const OpencvPlugin*> loaded_plugin = nullptr;

const OpencvPlugin& plugin() {
  static const OpencvPlugin& loaded = load_plugin();
  loaded_plugin = &loaded;
  return loaded;
}

class PluginDecoder final : public OpencvDecoder {
 public:
  explicit PluginDecoder(spec::Color color)
      : plugin_(plugin()), channels_(color == spec::Color::rgb ? 3 : 1), decoder_(plugin_.create()) {
    if (decoder_ == nullptr) throw std::bad_alloc();
  }
  ~PluginDecoder() override { plugin_.destroy(decoder_); }
  PluginDecoder(const PluginDecoder&) = delete;
  PluginDecoder& operator=(const PluginDecoder&) = delete;

  DecodedImage decode(std::span<const std::byte> bytes) override {
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw DataError(fmt::format("{} bytes are too many for OpenCV", bytes.size()));
    }
    OpencvImage image{};
    std::array<char, 256> reason{};
    const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    if (plugin_.decode(decoder_, data, bytes.size(), channels_, &image, reason.data(), reason.size()) != 0) {
      throw DataError(reason.data());
    }
    return {image.pixels, image.width, image.height, image.stride, channels_};
  }

 private:
  const OpencvPlugin& plugin_;
  const int channels_;
  void* decoder_;
};

}  // namespace

std::unique_ptr<OpencvDecoder> make_opencv_decoder(spec::Color color) { return std::make_unique<PluginDecoder>(color); }

std::optional<std::string> loaded_opencv_version() {
  const OpencvPlugin* const loaded = loaded_plugin;
  if (loaded == nullptr) return std::nullopt;
  int major = 0, minor = 0, revision = 0;
  loaded->library_version(&major, &minor, &revision);
  return fmt::format("{}.{}.{}", major, minor, revision);
}

}  // namespace chexbench::image
