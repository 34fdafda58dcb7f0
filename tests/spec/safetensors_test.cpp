#include "spec/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/errors.hpp"

namespace chexbench::spec {
namespace {

class SafetensorsTest : public testing::Test {
 protected:
  ~SafetensorsTest() override { std::filesystem::remove(path_); }
  std::string write(const std::string& header, const std::vector<float>& data) const {
    std::ofstream file(path_, std::ios::binary);
    const std::uint64_t length = header.size();
    file.write(reinterpret_cast<const char*>(&length), 8);
    file << header;
    file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size() * 4));
    return path_;
  }
  const std::string path_ = testing::TempDir() + "chexbench_safetensors_" + std::to_string(getpid());
  const std::string header_ = R"({"__metadata__": {"format": "pt"},
    "fc.bias": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
    "fc.weight": {"dtype": "F32", "shape": [2, 1], "data_offsets": [8, 16]}})";
};

TEST_F(SafetensorsTest, ReadsTensorsByName) {
  const Safetensors file(write(header_, {1, 2, 3, 4}));
  std::vector<float> values(2);
  file.read("fc.weight", {2, 1}, values);
  EXPECT_EQ(values, (std::vector<float>{3, 4}));
  EXPECT_FALSE(file.contains("__metadata__"));
}

TEST_F(SafetensorsTest, NamesWhatDoesNotFit) {
  const Safetensors file(write(header_, {1, 2, 3, 4}));
  std::vector<float> values(2);
  EXPECT_THROW(file.read("fc.weight", {1, 2}, values), DataError);
  try {
    file.read("fc.biass", {2}, values);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'fc.bias'"));
  }
}

TEST_F(SafetensorsTest, RefusesDamagedFiles) {
  EXPECT_THROW(Safetensors(write(header_, {1, 2, 3})), DataError);
  EXPECT_THROW(Safetensors(write("{\"a\": 1}", {})), DataError);
  EXPECT_THROW(Safetensors(path_ + ".missing"), DataError);
  std::ofstream(path_, std::ios::binary) << "\xff\xff\xff\xff\xff\xff\xff\x7f{}";
  EXPECT_THROW(Safetensors{path_}, DataError);
  std::ofstream(path_, std::ios::binary) << "abc";
  EXPECT_THROW(Safetensors{path_}, DataError);
}

TEST_F(SafetensorsTest, RefusesAHeaderBeyondTheFormatsLimit) {
  std::ofstream(path_, std::ios::binary) << std::string("\x00\x00\x00\x00\x10\x00\x00\x00{}", 10);  // 64 GB
  std::filesystem::resize_file(path_, std::uintmax_t{100} << 30);                                   // sparse
  EXPECT_THROW(Safetensors{path_}, DataError);
}

TEST_F(SafetensorsTest, RefusesWhatIsNoRegularFile) {
  EXPECT_THROW(Safetensors(testing::TempDir()), DataError);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THROW(Safetensors{path_}, DataError);
}

}  // namespace
}  // namespace chexbench::spec
