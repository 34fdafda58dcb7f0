// The entry points that libFuzzer calls. $CHEXBENCH_FUZZ_TARGET selects the target, because libFuzzer passes the
// environment, but no unknown arguments, to the processes that it starts.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/log.hpp"
#include "fuzz/fuzz.hpp"

extern "C" {
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);
}

namespace chexbench::fuzz {
namespace {

const Target* chosen = nullptr;

void scramble_by_libfuzzer(Buffer& bytes, std::size_t most) {
  const std::size_t size = bytes.size();
  bytes.resize(std::max(size, most));
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), std::min(size, most), most));
}

}  // namespace
}  // namespace chexbench::fuzz

using namespace chexbench;  // the following has C linkage, where a namespace is meaningless

int LLVMFuzzerInitialize(int*, char***) {
  const char* const name = std::getenv("CHEXBENCH_FUZZ_TARGET");
  fuzz::chosen = name == nullptr ? nullptr : fuzz::find_target(name);
  if (fuzz::chosen == nullptr) {
    std::fputs("set CHEXBENCH_FUZZ_TARGET to one of:\n", stderr);
    for (const fuzz::Target& target : fuzz::targets()) std::fprintf(stderr, "  %s\n", target.name.data());
    std::exit(2);
  }
  log::configure(log::Level::off);
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::chosen->run(std::as_bytes(std::span(data, size)));
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  const auto bytes = std::as_bytes(std::span(data, size));
  fuzz::Buffer changed(bytes.begin(), bytes.end());
  if (fuzz::chosen->mutate == nullptr) {
    fuzz::scramble_by_libfuzzer(changed, most);
  } else {
    fuzz::chosen->mutate(changed, most, seed, fuzz::scramble_by_libfuzzer);
  }
  const std::size_t kept = std::min(changed.size(), most);
  std::memcpy(data, changed.data(), kept);
  return kept;
}
