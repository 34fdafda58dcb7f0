#include "pipeline/tiny_set.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "formats/tf_example.hpp"
#include "image/png_builder.hpp"

namespace chexbench::pipeline::test {

TinySet::TinySet(const std::vector<std::size_t>& lengths) {
  for (std::size_t shard = 0; shard < lengths.size(); ++shard) {
    std::vector<std::string> payloads;
    for (std::size_t i = 0; i < lengths[shard]; ++i) {
      const auto number = static_cast<std::uint32_t>(images());
      const image::test::Bytes file = image::test::gray_png(8 + number, 8);
      const std::string name = fmt::format("{:08}_000.png", number);
      const std::string path = folder_.path() + "/" + name;
      const auto labels = LabelBits((1 + 2657 * number) % (1 << kNihLabels));
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
      png_.images.push_back({.name = name, .path = path, .labels = labels, .patient = number});
      std::vector<std::byte> record;
      formats::write_example({.filename = name, .labels = labels, .height = 8, .width = 8 + number, .channels = 1},
                             file, record);
      payloads.emplace_back(reinterpret_cast<const char*>(record.data()), record.size());
    }
    tfrecord_.shards.push_back(fmt::format("{}/shard-{}", folder_.path(), shard));
    write_shard(tfrecord_.shards.back(), payloads);
  }
  tfrecord_.images = png_.images;
}

bool threads_fall_to(std::size_t most) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (thread_count() > most) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace chexbench::pipeline::test
