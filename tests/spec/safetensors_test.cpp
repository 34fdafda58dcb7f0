#include "spec/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
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
  EXPECT_THROW(Safetensors{testing::TempDir()}, DataError);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THROW(Safetensors{path_}, DataError);
}

// A file with `tensor` as the only tensor in its header, followed by 8 bytes of data.
struct BadHeader {
  std::string tensor;
  std::string reason;
};
class SafetensorsHeaderTest : public SafetensorsTest, public testing::WithParamInterface<BadHeader> {};

TEST_P(SafetensorsHeaderTest, IsRefusedByTheTensorsName) {
  try {
    Safetensors(write("{\"w\": " + GetParam().tensor + "}", {1, 2}));
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("'w'"), testing::HasSubstr(GetParam().reason)));
  }
}

const BadHeader kBadHeaders[] = {
    {R"({"dtype": "F32", "shape": [3], "data_offsets": [0, 8]})", "does not fill its 8 bytes"},
    {R"({"dtype": "F32", "shape": [4611686018427387904, 4], "data_offsets": [0, 8]})", "does not fill"},
    {R"({"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]})", "shape is not a list of whole numbers"},
    {R"({"dtype": "F32", "shape": [1e300], "data_offsets": [0, 8]})", "shape is not a list of whole numbers"},
    {R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 8.0]})", "data_offsets is not a list of whole numbers"},
    {R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 4, 8]})", "data_offsets are not two"},
    {R"({"dtype": "F31", "shape": [2], "data_offsets": [0, 8]})", "dtype 'F31'"},
    {R"({"dtype": "F32", "shape": [2], "data_offsets": [8, 0]})", "lie beyond"},
    {R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 9223372036854775808]})", "lie beyond"},
    {R"({"dtype": "F32", "shape": [1], "data_offsets": [4, 8]})", "leaves a gap"},
    {R"({"dtype": "F32", "shape": "2", "data_offsets": [0, 8]})", "shape is not a list"},
    {R"({"shape": [2], "data_offsets": [0, 8]})", "dtype"},
    {R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "w": {})", "appears twice"},
    {R"({"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
         "v": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]})",
     "overlaps"}};

INSTANTIATE_TEST_SUITE_P(Spec, SafetensorsHeaderTest, testing::ValuesIn(kBadHeaders));

TEST_F(SafetensorsTest, QuotesLittleOfAHeader) {
  const std::string name(100'000, 'n');
  const std::string header = "{\"" + name + "\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}}";
  const auto error_bytes = [](const auto& work) {
    try {
      work();
    } catch (const DataError& error) {
      return std::string(error.what()).size();
    }
    return std::string::npos;
  };
  EXPECT_LT(error_bytes([&] { Safetensors{write(header, {})}; }), 1000u);
  const Safetensors file(write(header, {1}));
  std::vector<float> values(1);
  EXPECT_LT(error_bytes([&] { file.read("absent", {1}, values); }), 1000u);
  EXPECT_LT(error_bytes([&] { file.read(name, {2}, values); }), 1000u);
}

TEST_F(SafetensorsTest, RefusesBytesThatBelongToNoTensor) {
  EXPECT_THROW(Safetensors(write(header_, {1, 2, 3, 4, 5})), DataError);
}

TEST_F(SafetensorsTest, ReadsWhatWasWritten) {
  const auto counted = [](std::span<float> values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) + 0.5f;
  };
  write_safetensors(path_,
                    {{.name = "steps", .shape = {}, .fill = {}, .scalar = 7},
                     {.name = "a.weight", .shape = {2, 3}, .fill = counted},
                     {.name = "a.bias", .shape = {3}, .fill = counted}},
                    {{"epoch", "3"}});
  const Safetensors file(path_);
  std::vector<float> weight(6), bias(3);
  file.read("a.weight", {2, 3}, weight);
  file.read("a.bias", {3}, bias);
  EXPECT_EQ(weight, (std::vector<float>{0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f}));
  EXPECT_EQ(bias, (std::vector<float>{0.5f, 1.5f, 2.5f}));
  EXPECT_TRUE(file.contains("steps"));
  EXPECT_EQ(file.metadata("epoch"), "3");
  EXPECT_EQ(file.metadata("network"), std::nullopt);
}

TEST_F(SafetensorsTest, WidensHalfPrecisionAndNarrowsDoubles) {
  const std::string header = R"({"h": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]},
    "b": {"dtype": "BF16", "shape": [2], "data_offsets": [4, 8]},
    "d": {"dtype": "F64", "shape": [1], "data_offsets": [8, 16]},
    "i": {"dtype": "I32", "shape": [2], "data_offsets": [16, 24]}})";
  const auto word = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const auto half = std::bit_cast<std::uint64_t>(0.25);
  const Safetensors file(write(header, {word(0xC0003800), word(0xC0003F00), word(static_cast<std::uint32_t>(half)),
                                        word(static_cast<std::uint32_t>(half >> 32)), 1, 2}));
  std::vector<float> two(2), one(1);
  for (const char* name : {"h", "b"}) {
    file.read(name, {2}, two);
    EXPECT_EQ(two, (std::vector<float>{0.5f, -2})) << name;
  }
  file.read("d", {1}, one);
  EXPECT_EQ(one, std::vector<float>{0.25f});
  EXPECT_THROW(file.read("i", {2}, two), DataError);
}

// A file of tensors of no values.
std::string header_of(const std::vector<std::string>& names) {
  std::string header;
  for (const std::string& name : names) {
    header += header.empty() ? "{" : ", ";
    header += '"' + name + R"(": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]})";
  }
  return header + "}";
}

TEST_F(SafetensorsTest, FindsANetworkUnderWrappersAndAPrefix) {
  const std::vector<std::string> wanted = {"conv1.weight", "layer1.conv1.weight", "fc.weight"};
  const auto has = [&](const std::vector<std::string>& names, const std::string& name) {
    return Safetensors(write(header_of(names), {})).named_as(wanted).contains(name);
  };
  for (const std::string prefix : {"", "module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module.", "model.",
                                   "backbone.", "model.module.backbone."}) {
    std::vector<std::string> names;
    for (const std::string& name : wanted) names.push_back(prefix + name);
    names.push_back(prefix + "bn1.running_mean");
    EXPECT_TRUE(has(names, "conv1.weight") && has(names, "fc.weight") && has(names, "bn1.running_mean")) << prefix;
  }
  EXPECT_TRUE(has({"conv1.weight", "layer1._orig_mod.conv1.weight", "fc.module.weight"}, "layer1.conv1.weight"));
  EXPECT_TRUE(has({"backbone.conv1.weight", "backbone.layer1.conv1.weight", "fc.weight"}, "conv1.weight"));
  EXPECT_FALSE(has({"layer1.conv1.weight", "fc.weight"}, "conv1.weight"));
  EXPECT_FALSE(has({"other.fc.weight", "x"}, "fc.weight"));
}

TEST_F(SafetensorsTest, PrefersANetworkWithoutPrefixAndRefusesTwoWithOne) {
  const std::vector<std::string> wanted = {"a.weight", "b.weight"};
  const auto with = [](std::vector<std::string> names, const std::string& prefix) {
    for (const char* name : {"a.weight", "b.weight"}) names.push_back(prefix + name);
    return names;
  };
  const Safetensors plain(write(header_of(with(with({}, ""), "ema.")), {}));
  EXPECT_TRUE(plain.named_as(wanted).contains("ema.a.weight"));
  const Safetensors twice(write(header_of(with(with({}, "student."), "teacher.")), {}));
  try {
    twice.named_as(wanted);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("'student.'"), testing::HasSubstr("'teacher.'")));
  }
}

TEST_F(SafetensorsTest, NamesWhatAFileOfAnotherKindIs) {
  const std::pair<std::string, std::string> kinds[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "git lfs pull"},
      {std::string("PK\x03\x04\x00\x00\x08\x08\x00\x00", 10), "scripts/weights"},
      {"\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.", "scripts/weights"},
      {"<!DOCTYPE html><html>", "<!DOCTYPE html>"}};
  for (const auto& [bytes, word] : kinds) {
    std::ofstream(path_, std::ios::binary) << bytes;
    try {
      Safetensors{path_};
      FAIL() << "accepted";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(word));
    }
  }
}

}  // namespace
}  // namespace chexbench::spec
