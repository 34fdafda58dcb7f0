// Tar files and WebDataset's samples in them.
#include <algorithm>
#include <array>
#include <charconv>

#include "formats/tar_samples.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/memory_store.hpp"

namespace chexbench::fuzz {
namespace {

using formats::kTarBlockBytes;

// A header that the writer makes for a member must be read as that member.
void check_written_header(const formats::TarMember& member) {
  const std::string head = formats::tar_header(member.name, member.size);
  const auto stream = memory_stream(std::as_bytes(std::span(head)), false);
  formats::TarReader reader(*stream);
  const auto again = reader.next();
  require(again && again->name == member.name && again->size == member.size && again->is_file,
          "a written tar header is read as another member");
}

// Sets the checksum of every block that could be a header, one block after the other.
void repair_tar(Buffer& bytes) {
  constexpr std::size_t kAt = 148, kDigits = 8;
  for (std::size_t at = 0; at + kTarBlockBytes <= bytes.size(); at += kTarBlockBytes) {
    const auto block = std::span(bytes).subspan(at, kTarBlockBytes);
    const bool is_header = std::to_integer<char>(block[257]) == 'u' && std::to_integer<char>(block[258]) == 's';
    if (!is_header) continue;
    std::ranges::fill(block.subspan(kAt, kDigits), std::byte{' '});
    unsigned sum = 0;
    for (const std::byte byte : block) sum += std::to_integer<unsigned>(byte);
    std::array<char, kDigits> digits{};
    std::to_chars(digits.data(), digits.data() + digits.size(), sum, 8);
    std::ranges::copy(std::as_bytes(std::span(digits)), block.begin() + kAt);
  }
}

void mutate_tar(Buffer& bytes, std::size_t most, std::uint64_t seed, const Scramble& scramble) {
  scramble(bytes, most);
  if (seed % 8 != 0) repair_tar(bytes);
}

std::vector<Buffer> samples_of(Bytes shard, bool copies) {
  formats::TarSampleReader reader(memory_stream(shard, copies));
  std::vector<Buffer> samples;
  std::uint64_t end = 0;
  for (int damaged = 0; damaged < 2;) {
    const auto read = accepted({ExitCode::data}, [&] { return reader.next(); });
    damaged += read ? 0 : 1;
    if (read && !*read) break;
    if (!read) continue;
    const formats::ShardRecord& sample = **read;
    require(sample.offset >= end && sample.offset + sample.data.size() <= shard.size(), "a sample is out of place");
    require(sample.stored_bytes == sample.data.size(), "a sample counts other bytes than it has");
    require(std::ranges::equal(sample.data, shard.subspan(sample.offset, sample.data.size())),
            "a sample has other bytes than its shard");
    end = sample.offset + sample.data.size();
    samples.emplace_back(sample.data.begin(), sample.data.end());
  }
  return samples;
}

}  // namespace

FUZZ_TARGET(tar, "formats/tar.cpp", mutate_tar) {
  const auto stream = memory_stream(bytes, true);
  formats::TarReader reader(*stream);
  std::uint64_t end = 0;
  accepted({ExitCode::data}, [&] {
    while (const auto member = reader.next()) {
      require(member->offset >= end, "tar members overlap");
      require(member->size <= formats::kMaxTarMemberBytes, "a tar member is larger than is promised");
      const auto contents = reader.contents(*member);
      require(contents && contents->bytes.size() == member->size + formats::tar_padding(member->size),
              "a tar member has other contents than its size");
      end = member->offset + contents->bytes.size();
      for (const storage::SharedBytes& head : member->head) end += head.bytes.size();
      require(end <= bytes.size(), "a tar member reaches beyond its file");
      if (!member->name.empty() && member->name.find('\0') == std::string::npos) check_written_header(*member);
    }
    return true;
  });
}

FUZZ_TARGET(webdataset, "formats/tar_samples.cpp formats/tar.cpp", mutate_tar) {
  static const std::vector<std::string> labels = {"Atelectasis", "Mass", "Nodule"};
  const std::vector<Buffer> samples = samples_of(bytes, false);
  require(samples == samples_of(bytes, true), "a mapped shard has other samples than a streamed one");
  for (const Buffer& sample : samples) {
    const auto view = accepted({ExitCode::data}, [&] { return formats::parse_sample(sample, {}, labels); });
    if (!view) continue;
    require(view->encoded.data() >= sample.data() &&
                view->encoded.data() + view->encoded.size() <= sample.data() + sample.size(),
            "an image lies outside of its sample");
    view->labels.for_each([](std::size_t label) { require(label < labels.size(), "a label is none of the set's"); });
  }
}

}  // namespace chexbench::fuzz
