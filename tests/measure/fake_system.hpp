// A folder with files like those of /proc, /sys and /dev, which is removed with the test.
#pragma once

#include <filesystem>
#include <string>

#include "core/scratch.hpp"
#include "measure/system_files.hpp"

namespace chexbench::measure {

class FakeSystem {
 public:
  // `path` is like "sys/devices/system/cpu/online".
  void write(const std::string& path, const std::string& text) { write_text(folder_ / path, text); }
  SystemRoots roots() const { return {.proc = folder_ / "proc", .sys = folder_ / "sys", .dev = folder_ / "dev"}; }
  std::filesystem::path folder() const { return folder_.path(); }

 private:
  ScratchFolder folder_;
};

}  // namespace chexbench::measure
