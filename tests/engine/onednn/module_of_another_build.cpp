// A module that can be loaded but lacks the function that makes the engine.
extern "C" int chexbench_make_another_engine() { return 0; }
