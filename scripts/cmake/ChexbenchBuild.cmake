# How every target of this project is compiled. Rooms call chexbench_library(), tests call chexbench_test().
include(GNUInstallDirs)

option(CHEXBENCH_TESTS "Build the tests and the micro-benchmarks" ON)
# The developers' presets turn it on, and so does .ci/run by the environment, so that all its builds share objects. It
# is off for everyone else, because other compilers and libraries have other warnings.
option(CHEXBENCH_WERROR "Treat warnings as errors" $ENV{CHEXBENCH_WERROR})
set(CHEXBENCH_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined or thread")
set(x86 OFF)
set(default_march "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(x86 ON)
  set(default_march "x86-64-v2")
endif()
option(CHEXBENCH_X86 "Compile the kernels for AVX2 and AVX-512" ${x86})
set(CHEXBENCH_MARCH "${default_march}" CACHE STRING "Baseline instruction set; faster kernels are chosen at run time")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Paths are relative for ccache, so that build trees with the same options share their objects.
find_program(CHEXBENCH_CCACHE ccache)
foreach(language CXX CUDA)
  if(CHEXBENCH_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CHEXBENCH_CCACHE})
  endif()
endforeach()

add_library(chexbench_flags INTERFACE)
# -ffp-contract=off: a fast path and its plain twin must round alike, so no compiler may fuse a multiply and an add.
target_compile_options(chexbench_flags INTERFACE
  $<$<BOOL:${CHEXBENCH_MARCH}>:-march=${CHEXBENCH_MARCH}> -ffp-contract=off
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers
  -Wnon-virtual-dtor -Woverloaded-virtual $<$<BOOL:${CHEXBENCH_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # Clang's warnings about libstdc++'s own std::stable_sort, and about Chart.js as one string.
  target_compile_options(chexbench_flags INTERFACE -Wno-deprecated-declarations -Wno-overlength-strings
                         -Wreserved-identifier)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_UNITY_BUILD)
  target_compile_options(chexbench_flags INTERFACE
    -Wno-subobject-linkage  # sources count as headers there
    # GCC collects its garbage less often: a tenth of its time for a quarter more memory, 0.9 GB at most.
    "SHELL:--param ggc-min-expand=200" "SHELL:--param ggc-min-heapsize=500000")
endif()
target_include_directories(chexbench_flags INTERFACE ${PROJECT_SOURCE_DIR}/lib)
if(CHEXBENCH_SANITIZE)
  # AddressSanitizer detects reads through a null pointer; checking each pointer costs a quarter of the compile time.
  # Undefined behaviour is checked in the tested code, not in the tests, whose bodies are long.
  target_compile_options(chexbench_flags INTERFACE -fsanitize=${CHEXBENCH_SANITIZE} -fno-sanitize=null
    -fno-omit-frame-pointer -fno-sanitize-recover=all
    $<$<BOOL:$<TARGET_PROPERTY:CHEXBENCH_TEST>>:-fno-sanitize=undefined>)
  # GCC's analysis loses track of instrumented code: it considers members of std::function and std::variant
  # uninitialized.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(chexbench_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_link_options(chexbench_flags INTERFACE -fsanitize=${CHEXBENCH_SANITIZE})
endif()

# The presets compile a dozen sources at a time (CMAKE_UNITY_BUILD), which takes a third of the time, because headers
# take most of it, and two dozen of the program's. Twins repeat each other's names on purpose. The preset `debug`, for
# developers, and scripts/build-bare compile every source alone.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
set(CHEXBENCH_PROGRAM_BATCH_SIZE 24)
function(chexbench_compile_twins_alone)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "_(plain|avx2|avx512)[.]cpp$")
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# chexbench_library(<room> [COLD | HOT] SOURCES a.cpp ... [PUBLIC targets...] [PRIVATE targets...])
# One static library per room, named chexbench_<room>, with the alias chexbench::<room>. PUBLIC and PRIVATE are its link
# lines. COLD: nothing in the room runs once an image or a step, so it is compiled at -Og, in half the time.
# HOT: its tests compute for minutes, so AddressSanitizer's build, at -O0, compiles it at -O1.
function(chexbench_library room)
  cmake_parse_arguments(ARG "COLD;HOT" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(chexbench_${room} STATIC ${ARG_SOURCES})
  add_library(chexbench::${room} ALIAS chexbench_${room})
  chexbench_compile_twins_alone(${ARG_SOURCES})
  set_target_properties(chexbench_${room} PROPERTIES UNITY_BUILD_BATCH_SIZE ${CHEXBENCH_PROGRAM_BATCH_SIZE})
  target_link_libraries(chexbench_${room} PUBLIC chexbench_flags ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(ARG_COLD)
    chexbench_compile_fast(chexbench_${room})
  endif()
  if(ARG_HOT AND CHEXBENCH_SANITIZE MATCHES "^address")
    target_compile_options(chexbench_${room} PRIVATE -O1)
  endif()
endfunction()

# For code whose compilation takes longer than its runs.
function(chexbench_compile_fast target)
  if(CHEXBENCH_SANITIZE MATCHES "^(address|thread)")
    target_compile_options(${target} PRIVATE -O0)
  elseif(NOT CHEXBENCH_SANITIZE)  # At -Og, GCC considers values that it did not track uninitialized or out of bounds.
    target_compile_options(${target} PRIVATE
      "$<$<CONFIG:Release>:-Og;$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-array-bounds>>")
  endif()
endfunction()

# The files of `cmake --install`: bin/chexbench and share/chexbench/configs; rooms that load a module at run time
# install it into lib/chexbench themselves, and apps/chexbench installs the files for shells and man.
function(chexbench_install)
  # Where MPI may be: with the modules, or where `pip install mpich` puts it in a Python environment.
  set_property(TARGET chexbench APPEND PROPERTY INSTALL_RPATH $ORIGIN/../lib/chexbench $ORIGIN/../lib)
  install(TARGETS chexbench RUNTIME DESTINATION bin)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION share/chexbench)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION share/doc/chexbench)
endfunction()

# For tests that load MPI or oneDNN as a module: the leak checker reports memory of transports that MPI has unloaded,
# which no suppression can name, and crashes in a thread of the module's OpenMP. Every other check stays on.
set(CHEXBENCH_FOREIGN_LEAKS "ASAN_OPTIONS=detect_leaks=0")

# `scripts/test` leaves out the tests with this label: they need real servers, train whole networks, or take minutes.
set(CHEXBENCH_FULL_LABEL full)

# chexbench_add_gtest(<name> <binary> <filter> <shard> <shards>): a test that runs the TESTs of a binary that match the
# filter. It is skipped if all of them were skipped, and it fails if nothing matches the filter.
function(chexbench_add_gtest name binary filter shard shards)
  if(shards GREATER 1)
    math(EXPR number "${shard} + 1")
    string(APPEND name ".${number}")
  endif()
  add_test(NAME ${name} COMMAND ${binary} --gtest_brief=1 "--gtest_filter=${filter}")
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${timeout_s} RUN_SERIAL ${ARG_SERIAL} LABELS "${labels}"
    ENVIRONMENT "${environment};GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}"
    SKIP_REGULAR_EXPRESSION "PASSED  \\] 0 tests\\.\n\\[  SKIPPED \\] [0-9]+ tests?\\.\n$")
  if(shard EQUAL 0)
    set_tests_properties(${name} PROPERTIES FAIL_REGULAR_EXPRESSION " 0 tests from 0 test suites ran")
  endif()
endfunction()

# chexbench_test(<name> SOURCES a.cpp ... [LIBRARIES targets...] [LABEL l] [TIMEOUT s] [SERIAL] [FOREIGN_LEAKS]
#                [ENVIRONMENT NAME=value])
# A GoogleTest binary, which is one test of ctest, so that a process serves many TESTs. TIMEOUT is for the whole binary.
# SERIAL: nothing else runs at the same time, for tests that start several ranks or check times. tests/CMakeLists.txt
# may set
#   CHEXBENCH_SHARDS_<name>  divides the TESTs of a slow binary among that many tests of ctest, NAME.1, NAME.2, ...
#   CHEXBENCH_FULL_<name>    a filter: those TESTs become the tests NAME.full, which have the label `full`
#   CHEXBENCH_UNSANITIZED    a filter of TESTs that do not run
function(chexbench_test name)
  cmake_parse_arguments(ARG "SERIAL;FOREIGN_LEAKS" "TIMEOUT;LABEL;ENVIRONMENT" "SOURCES;LIBRARIES" ${ARGN})
  set(timeout_s 600)
  if(ARG_TIMEOUT GREATER timeout_s OR CHEXBENCH_SANITIZE)
    set(timeout_s 1200)
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  set(environment ${ARG_ENVIRONMENT})
  if(ARG_FOREIGN_LEAKS)
    list(APPEND environment ${CHEXBENCH_FOREIGN_LEAKS})
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE chexbench_flags ${ARG_LIBRARIES} GTest::gmock GTest::gtest_main)
  chexbench_compile_fast(${name})
  set_target_properties(${name} PROPERTIES CHEXBENCH_TEST ON)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE CHEXBENCH_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data/nih"
                                             CHEXBENCH_GOLDEN="${PROJECT_SOURCE_DIR}/tests/golden")

  set(full "${CHEXBENCH_FULL_${name}}")
  set(shards 1)
  if(CHEXBENCH_SHARDS_${name})
    set(shards ${CHEXBENCH_SHARDS_${name}})
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    if(NOT full STREQUAL "*")
      set(labels ${ARG_LABEL})
      chexbench_add_gtest(${name} ${name} "-${full}:${CHEXBENCH_UNSANITIZED}" ${shard} ${shards})
    endif()
    if(full)
      set(labels ${ARG_LABEL} ${CHEXBENCH_FULL_LABEL})
      chexbench_add_gtest(${name}.full ${name} "${full}" ${shard} ${shards})
    endif()
  endforeach()
endfunction()
