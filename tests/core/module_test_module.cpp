// What module_test.cpp loads.
extern "C" int core_test_answer() { return 42; }
