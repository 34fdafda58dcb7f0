// Folders and small data sets for tests.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chexbench {

// A temporary folder, removed with this object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = testing::TempDir() + "chexbench-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Writes a file, and the folders above it.
inline void write_text(const std::string& path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::string& path) {
  std::ostringstream text;  // takes blocks; an iterator takes each letter by itself, slowly at -O0
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Works in a copy of the shipped X-rays, in which shards may be written.
class CopiedXraysTest : public testing::Test {
 protected:
  CopiedXraysTest() {
    std::filesystem::copy(CHEXBENCH_TEST_DATA, root_.path(), std::filesystem::copy_options::recursive);
  }

  static std::map<std::string, std::string> contents_of(const std::vector<std::string>& files) {
    std::map<std::string, std::string> contents;
    for (const std::string& path : files) contents[path] = read_text(path);
    return contents;
  }
  ScratchFolder root_;
};

// Names of the files in a folder, sorted.
inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// During its lifetime the folder's mode is `mode`, and root, who ignores modes, becomes nobody.
class WithMode {
 public:
  WithMode(std::string folder, std::filesystem::perms mode) : folder_(std::move(folder)) {
    std::filesystem::permissions(folder_, mode);
    if (::geteuid() == 0 && ::seteuid(65534) != 0) applies_ = false;
  }
  ~WithMode() {
    if (::geteuid() != ::getuid() && ::seteuid(::getuid()) != 0) std::abort();
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  }
  WithMode(const WithMode&) = delete;
  WithMode& operator=(const WithMode&) = delete;

  // False for a root that cannot become another user.
  bool applies() const { return applies_; }

 private:
  std::string folder_;
  bool applies_ = true;
};

// The number of a process that has ended.
inline pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

inline constexpr std::string_view kHeader2017 =
    "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position,"
    "OriginalImage[Width,Height],OriginalImagePixelSpacing[x,y],\n";

// A root with the table of the given rows ("NAME,LABELS,0,PATIENT,58,M,PA,1,1,1,1,"), no lists, no images.
inline void write_table(const ScratchFolder& root, std::string_view rows, std::string_view header = kHeader2017) {
  write_text(root / "Data_Entry_2017.csv", std::string(header) + std::string(rows));
}

// Runs `body` and returns the message of the error that it must throw.
template <typename Error, typename Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace chexbench
