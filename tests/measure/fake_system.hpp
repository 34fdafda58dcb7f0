// A folder with files like those of /proc, /sys and /dev, which is removed with the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "measure/system_files.hpp"

namespace chexbench::measure {

class FakeSystem {
 public:
  FakeSystem() {
    static int number = 0;
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("chexbench-system-" + std::to_string(getpid()) + "-" + std::to_string(++number));
    std::filesystem::create_directories(folder_);
  }
  ~FakeSystem() { std::filesystem::remove_all(folder_); }
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;

  // `path` is like "sys/devices/system/cpu/online".
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  SystemRoots roots() const {
    return {.proc = (folder_ / "proc").string(), .sys = (folder_ / "sys").string(), .dev = (folder_ / "dev").string()};
  }
  std::filesystem::path folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace chexbench::measure
