#include "core/module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace chexbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kFile = "libcore_test_module.so";

std::string error_of(const char* file, const char* symbol) {
  try {
    module_symbol("engine 'x'", file, symbol);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Module, GivesTheSymbolsOfAFileBesideTheExecutable) {
  auto* const answer = reinterpret_cast<int (*)()>(module_symbol("engine 'x'", kFile, "core_test_answer"));
  EXPECT_EQ(answer(), 42);
}

TEST(Module, ThatIsNowhereIsAnErrorThatNamesItsOwnerAndBothPlaces) {
  EXPECT_THAT(error_of("libnowhere.so", "f"),
              AllOf(HasSubstr("engine 'x'"), HasSubstr("bin/libnowhere.so"), HasSubstr("lib/chexbench/libnowhere.so")));
}

TEST(Module, OfAnotherBuildIsAnErrorThatNamesTheSymbol) {
  EXPECT_THAT(error_of(kFile, "newer_function"),
              AllOf(HasSubstr("engine 'x'"), HasSubstr("another build"), HasSubstr("newer_function")));
}

}  // namespace
}  // namespace chexbench
