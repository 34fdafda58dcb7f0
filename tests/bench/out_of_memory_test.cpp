// Tests how the program ends where a std::bad_alloc cannot be passed on.
#include "out_of_memory.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <exception>
#include <new>
#include <stdexcept>

#include "core/errors.hpp"

namespace chexbench::app {
namespace {

const auto kEndsOfDevice = testing::ExitedWithCode(static_cast<int>(ExitCode::device));

volatile bool is_there = false;

[[gnu::noinline]] void find_no_memory() {
  if (!is_there) throw std::bad_alloc();
}

[[gnu::noinline]] void find_no_file() {
  if (!is_there) throw std::runtime_error("no file");
}

[[gnu::noinline]] void call_as_function() noexcept { find_no_memory(); }

// GCC ends the process here before anything has caught the exception.
[[gnu::noinline]] void call_beside_a_handler() noexcept {
  try {
    find_no_memory();
  } catch (const std::runtime_error&) {
    is_there = true;
  }
}

TEST(OutOfMemory, IsToldWhereAFunctionIsNoexcept) {
  EXPECT_EXIT((install_out_of_memory_handler(), call_as_function()), kEndsOfDevice, "^error: out of memory: lower");
}

TEST(OutOfMemory, IsToldWhereSuchAFunctionCatchesOtherErrors) {
  EXPECT_EXIT((install_out_of_memory_handler(), call_beside_a_handler()), kEndsOfDevice,
              "^error: out of memory: lower");
}

TEST(OutOfMemory, IsNotToldOfOtherErrors) {
  const auto fail = []() noexcept { find_no_file(); };
  EXPECT_EXIT((install_out_of_memory_handler(), fail()), testing::KilledBySignal(SIGABRT), "no file");
}

TEST(OutOfMemory, IsNotToldWithoutAnError) {
  EXPECT_EXIT((install_out_of_memory_handler(), std::terminate()), testing::KilledBySignal(SIGABRT), "^$");
}

}  // namespace
}  // namespace chexbench::app
