// The library that module_test_module.cpp needs.
extern "C" int core_test_number() { return 42; }
