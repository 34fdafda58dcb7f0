// The module that module_test.cpp loads.
#include "core/log.hpp"

extern "C" int core_test_number();
extern "C" int core_test_answer() { return core_test_number(); }
extern "C" void core_test_log(const char* text) { chexbench::log::info("{}", text); }
