# How every target of this project is compiled. Rooms call chexbench_library(), tests call chexbench_test().
include(GNUInstallDirs)

option(CHEXBENCH_TESTS "Build the tests and the micro-benchmarks" ON)
option(CHEXBENCH_WERROR "Treat warnings as errors" ON)
set(CHEXBENCH_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined or thread")
set(CHEXBENCH_MARCH "x86-64-v2" CACHE STRING "Baseline instruction set; faster kernels are chosen at run time")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CHEXBENCH_CCACHE ccache)
if(CHEXBENCH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CHEXBENCH_CCACHE})
endif()

add_library(chexbench_flags INTERFACE)
# -ffp-contract=off: a fast path and its plain twin must round alike, so no compiler may fuse a multiply and an add.
target_compile_options(chexbench_flags INTERFACE
  -march=${CHEXBENCH_MARCH} -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers
  -Wnon-virtual-dtor -Woverloaded-virtual $<$<BOOL:${CMAKE_UNITY_BUILD}>:-Wno-subobject-linkage> $<$<BOOL:${CHEXBENCH_WERROR}>:-Werror>)
target_include_directories(chexbench_flags INTERFACE ${PROJECT_SOURCE_DIR}/lib)
if(CHEXBENCH_SANITIZE)
  # GCC's analysis loses track of instrumented code: it takes members of std::function and std::variant for uninitialized.
  # AddressSanitizer sees what is read through a null pointer; checking each pointer for it costs a quarter of the compile.
  # Undefined behaviour is looked for in what is tested, not in the tests, whose long bodies take GCC minutes then.
  target_compile_options(chexbench_flags INTERFACE -fsanitize=${CHEXBENCH_SANITIZE} -fno-sanitize=null -fno-omit-frame-pointer
    -fno-sanitize-recover=all -Wno-maybe-uninitialized $<$<BOOL:$<TARGET_PROPERTY:CHEXBENCH_TEST>>:-fno-sanitize=undefined>)
  target_link_options(chexbench_flags INTERFACE -fsanitize=${CHEXBENCH_SANITIZE})
endif()

# The presets compile a dozen sources at a time (CMAKE_UNITY_BUILD), which takes a third of the time: most of it goes into
# headers. Twins repeat each other's names on purpose. scripts/build-bare and scripts/lint compile every source alone.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
function(chexbench_compile_twins_alone)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "_(plain|avx2|avx512)[.]cpp$")
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# chexbench_library(<room> SOURCES a.cpp ... [PUBLIC targets...] [PRIVATE targets...])
# One static library per room, named chexbench_<room>. PUBLIC and PRIVATE are its link lines.
function(chexbench_library room)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(chexbench_${room} STATIC ${ARG_SOURCES})
  chexbench_compile_twins_alone(${ARG_SOURCES})
  target_link_libraries(chexbench_${room} PUBLIC chexbench_flags ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()

# What `cmake --install` puts where: bin/chexbench and share/chexbench/configs; rooms that load a module at run time
# install it into lib/chexbench themselves.
function(chexbench_install)
  install(TARGETS chexbench RUNTIME DESTINATION bin)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION share/chexbench)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION share/doc/chexbench)
endfunction()

# For tests that load MPI or oneDNN as a module: the leak checker reports memory of transports that MPI has unloaded, which
# no suppression can name, and crashes in a thread of the module's OpenMP. Every other check stays on.
set(CHEXBENCH_FOREIGN_LEAKS "ASAN_OPTIONS=detect_leaks=0")

# chexbench_test(<name> SOURCES a.cpp ... [LIBRARIES targets...] [LABEL l] [TIMEOUT s] [SERIAL] [FOREIGN_LEAKS]
#                [ENVIRONMENT NAME=value])
# A GoogleTest binary, every TEST of it known to ctest by its own name. SERIAL: nothing else runs beside it, for tests
# that start several ranks or look at times.
function(chexbench_test name)
  cmake_parse_arguments(ARG "SERIAL;FOREIGN_LEAKS" "TIMEOUT;LABEL;ENVIRONMENT" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)  # one word: gtest_discover_tests() reads a list, or nothing, as more properties
  endif()
  set(environment "")
  if(ARG_FOREIGN_LEAKS)
    set(environment ENVIRONMENT ${CHEXBENCH_FOREIGN_LEAKS})
  elseif(ARG_ENVIRONMENT)
    set(environment ENVIRONMENT ${ARG_ENVIRONMENT})
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE chexbench_flags ${ARG_LIBRARIES} GTest::gmock GTest::gtest_main)
  # A test's own code is compiled longer than it runs; at -O1 GCC takes what it has not followed for uninitialized.
  if(CHEXBENCH_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
  else()
    target_compile_options(${name} PRIVATE "$<$<CONFIG:Release>:-O1;-Wno-maybe-uninitialized>")
  endif()
  set_target_properties(${name} PROPERTIES CHEXBENCH_TEST ON)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE CHEXBENCH_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data/nih"
                                             CHEXBENCH_GOLDEN="${PROJECT_SOURCE_DIR}/tests/golden")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
                       PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS ${ARG_LABEL} RUN_SERIAL ${ARG_SERIAL} ${environment})
endfunction()
