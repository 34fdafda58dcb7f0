// In a separate process, because other tests load every library that they find.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "measure/gpu_survey.hpp"

namespace chexbench::measure {
namespace {

TEST(LoadedVersion, IsThatOfALibraryThatSomeoneElseLoaded) {
  setenv("cudnnGetVersion", "91900", 1);
  EXPECT_EQ(loaded_version("cuDNN"), std::nullopt) << "nobody has loaded it";
  void* const library = dlopen(CHEXBENCH_CUDNN_STANDIN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(loaded_version("cuDNN"), "9.19.0");
  EXPECT_EQ(loaded_version("NCCL"), std::nullopt);
  unsetenv("cudnnGetVersion");
  EXPECT_EQ(loaded_version("cuDNN"), std::nullopt) << "it tells none";
  dlclose(library);
  EXPECT_EQ(dlopen("libcudnn.so.9", RTLD_NOW | RTLD_NOLOAD), nullptr) << "looking must not keep it loaded";
}

TEST(LoadedVersion, OfAnUnknownLibraryIsNone) { EXPECT_EQ(loaded_version("libpng"), std::nullopt); }

}  // namespace
}  // namespace chexbench::measure
