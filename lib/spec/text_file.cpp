#include "spec/text_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/errors.hpp"

namespace chexbench::spec {

std::string read_text_file(const std::string& path, const std::string& what) {
  constexpr std::uintmax_t kLargest = 16 << 20;
  std::error_code error;
  const auto fail = [&](const std::string& reason) {
    throw SpecError(fmt::format("cannot read the {} '{}': {}", what, path, reason));
  };
  if (std::filesystem::is_directory(path, error)) fail("it is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::strerror(errno));
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > kLargest) fail("it is larger than 16 MB");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace chexbench::spec
