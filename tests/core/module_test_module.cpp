// The module that module_test.cpp loads.
#include "core/log.hpp"

extern "C" int core_test_answer() { return 42; }
extern "C" void core_test_log(const char* text) { chexbench::log::info("{}", text); }
