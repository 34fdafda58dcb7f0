# Every third-party package, where it is used, and what a missing one costs. Only this file calls find_package.
# An optional package that is missing leaves its target undefined; the room that wraps it then compiles
# a sibling file (NAME_absent.cpp) with the same interface that throws a clear error.

# chexbench_report(<package> <target> <cost>): notes whether TARGET exists and, if not, what that costs.
function(chexbench_report package target cost)
  if(TARGET ${target})
    set_property(GLOBAL APPEND PROPERTY CHEXBENCH_FOUND "${package}")
  else()
    set_property(GLOBAL APPEND PROPERTY CHEXBENCH_MISSING "${package}: ${cost}")
  endif()
endfunction()

# chexbench_find_plain(<target> <header> <library>...): an imported target for libraries without a CMake package, or
# whose package requires modules that are not used here.
function(chexbench_find_plain target header)
  option(CHEXBENCH_WITH_${target} "Use ${ARGN}" ON)
  find_path(${target}_INCLUDE ${header} PATH_SUFFIXES opencv4)
  mark_as_advanced(${target}_INCLUDE)
  set(libraries)
  foreach(library IN LISTS ARGN)
    find_library(${library}_LIBRARY ${library})
    mark_as_advanced(${library}_LIBRARY)
    list(APPEND libraries ${${library}_LIBRARY})
  endforeach()
  if(CHEXBENCH_WITH_${target} AND ${target}_INCLUDE AND NOT "${libraries}" MATCHES "NOTFOUND")
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE ${${target}_INCLUDE})
    target_link_libraries(${target} INTERFACE ${libraries})
  endif()
endfunction()

# chexbench_wrap(<target> <library> <package> <its target> [<argument of find_package>]...): a target for a library that
# CMake can find itself.
function(chexbench_wrap target library package its_target)
  option(CHEXBENCH_WITH_${target} "Use ${library}" ON)
  if(CHEXBENCH_WITH_${target})
    find_package(${package} ${ARGN})
  endif()
  if(CHEXBENCH_WITH_${target} AND TARGET ${its_target})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(${target} INTERFACE ${its_target})
  endif()
endfunction()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)

chexbench_find_plain(isal isa-l.h isal)
chexbench_report("ISA-L" isal "PNG inflate falls back to zlib: decode runs at about half the speed")
chexbench_wrap(curl libcurl CURL CURL::libcurl)
chexbench_report("libcurl" curl "data sets are read from plain folders only, not from http:// or s3://")
if(TARGET curl)  # S3 is HTTP with signatures and XML
  chexbench_wrap(crypto libcrypto OpenSSL OpenSSL::Crypto COMPONENTS Crypto)
  chexbench_report("libcrypto" crypto "data sets are not read from s3://")
  chexbench_wrap(pugi pugixml pugixml pugixml::pugixml)
  chexbench_report("pugixml" pugi "data sets are not read from s3://")
endif()
chexbench_find_plain(nfs nfsc/libnfs.h nfs)
chexbench_report("libnfs" nfs "NFS is read where it is mounted only, not from nfs://")
chexbench_wrap(jpeg libjpeg-turbo JPEG JPEG::JPEG)
chexbench_report("libjpeg-turbo" jpeg "JPEGs are decoded by OpenCV, and never scaled while they are (data.jpeg)")
chexbench_find_plain(dcmtk dcmtk/dcmdata/dctk.h dcmdata dcmjpeg dcmjpls oflog ofstd)
chexbench_report("DCMTK" dcmtk "DICOM files are not read: export them to PNG first")
chexbench_find_plain(dnnl dnnl.hpp dnnl)
chexbench_report("oneDNN" dnnl "no engine 'onednn': no real training on CPUs")

option(CHEXBENCH_WITH_mpi "Use MPI" ON)
if(CHEXBENCH_WITH_mpi)
  set(MPI_CXX_SKIP_MPICXX ON)  # the C interface only
  find_package(MPI COMPONENTS CXX)
endif()
if(MPI_CXX_FOUND)
  add_library(mpi INTERFACE IMPORTED GLOBAL)
  # MPICH's handles are numbers, so its headers suffice: a library with its ABI is loaded at run time, if a launcher
  # started the process. Open MPI's are addresses of data in its library, which is linked.
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX)
  check_cxx_source_compiles("#include <mpi.h>\nstatic_assert(MPI_COMM_WORLD == 0x44000000);\nint main() {}"
                            CHEXBENCH_MPICH_ABI)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(CHEXBENCH_MPICH_ABI)
    set(mpi_libraries "libmpi.so.12 libmpich.so.12 libmpi_cray.so.12")  # the second is Debian's name
    target_include_directories(mpi SYSTEM INTERFACE ${MPI_CXX_INCLUDE_DIRS})
    target_compile_definitions(mpi INTERFACE ${MPI_CXX_COMPILE_DEFINITIONS})
    target_link_libraries(mpi INTERFACE ${CMAKE_DL_LIBS})
    add_link_options(-Wl,--enable-new-dtags)  # LD_LIBRARY_PATH comes before the folders that programs name
    list(GET MPI_CXX_LIBRARIES 0 mpi_library)
    cmake_path(GET mpi_library PARENT_PATH mpi_folder)
    if(NOT mpi_folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      list(APPEND CMAKE_BUILD_RPATH ${mpi_folder})
    endif()
  else()
    set(mpi_libraries "")
    target_link_libraries(mpi INTERFACE MPI::MPI_CXX ${CMAKE_DL_LIBS})
  endif()
  target_compile_definitions(mpi INTERFACE CHEXBENCH_MPI_LIBRARIES="${mpi_libraries}")
endif()
chexbench_report("MPI" mpi "a world of one rank only")

chexbench_find_plain(opencv opencv2/imgcodecs.hpp opencv_imgcodecs opencv_imgproc opencv_core)
chexbench_report("OpenCV" opencv "only PNGs of 8 bits, without palette and not interlaced, can be decoded")

# The engine for GPUs. cudnn-frontend is header-only; `scripts/setup --cuda` installs it.
option(CHEXBENCH_WITH_cudnn "Use cuDNN" ON)
find_package(CUDAToolkit QUIET)
find_path(cudnn_frontend_INCLUDE cudnn_frontend.h PATHS ${PROJECT_SOURCE_DIR}/build/cuda/cudnn-frontend/include)
find_path(cudnn_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(cudnn_LIBRARY cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
mark_as_advanced(cudnn_frontend_INCLUDE cudnn_INCLUDE cudnn_LIBRARY)
if(CHEXBENCH_WITH_cudnn AND CUDAToolkit_FOUND AND cudnn_frontend_INCLUDE AND cudnn_INCLUDE AND cudnn_LIBRARY)
  add_library(cudnn INTERFACE IMPORTED GLOBAL)
  target_include_directories(cudnn SYSTEM INTERFACE
    ${cudnn_frontend_INCLUDE} ${cudnn_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS})
  target_compile_definitions(cudnn INTERFACE CUDNN_FRONTEND_SKIP_JSON_LIB)
  target_link_libraries(cudnn INTERFACE ${cudnn_LIBRARY} CUDA::cudart CUDA::nvrtc)
endif()
if(TARGET cudnn)  # and with it our own kernels
  if(NOT CMAKE_CUDA_ARCHITECTURES AND "$ENV{CUDAARCHS}" STREQUAL "")  # CMake takes the list from CUDAARCHS
    # Turing to Blackwell: all GPUs that both CUDA 13 and cuDNN 9.19 support.
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90-real 100-real)
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
  endif()
endif()
chexbench_report("cuDNN" cudnn "no plans for GPUs (needs the CUDA toolkit, cuDNN 9 and `scripts/setup --cuda`)")

option(CHEXBENCH_WITH_nccl "Use NCCL" ON)
find_path(nccl_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(nccl_LIBRARY NAMES nccl libnccl.so.2 HINTS ${CUDAToolkit_LIBRARY_DIR})
mark_as_advanced(nccl_INCLUDE nccl_LIBRARY)
if(CHEXBENCH_WITH_nccl AND CUDAToolkit_FOUND AND nccl_INCLUDE AND nccl_LIBRARY)
  add_library(nccl INTERFACE IMPORTED GLOBAL)
  target_include_directories(nccl SYSTEM INTERFACE ${nccl_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(nccl INTERFACE ${nccl_LIBRARY} CUDA::cudart)
endif()
chexbench_report("NCCL" nccl
  "gradients of GPUs are averaged in host memory, over MPI (needs the CUDA toolkit and NCCL 2)")

# Headers only: the driver's library is opened at run time, so that one binary runs on machines with and without a GPU.
option(CHEXBENCH_WITH_nvml "Use NVML" ON)
find_path(nvml_INCLUDE nvml.h HINTS ${PROJECT_SOURCE_DIR}/build/cuda/nvml/include ${CUDAToolkit_INCLUDE_DIRS})
mark_as_advanced(nvml_INCLUDE)
if(CHEXBENCH_WITH_nvml AND nvml_INCLUDE)
  add_library(nvml INTERFACE IMPORTED GLOBAL)
  target_include_directories(nvml SYSTEM INTERFACE ${nvml_INCLUDE})
endif()
chexbench_report("NVML" nvml "GPUs are neither sampled nor named by `doctor` (`scripts/setup --cuda` brings nvml.h)")

# Likewise headers only. From the toolkit itself: another one's headers would need another CUPTI.
option(CHEXBENCH_WITH_cupti "Use CUPTI" ON)
find_path(cupti_INCLUDE cupti.h
          PATHS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_BIN_DIR}/../extras/CUPTI/include NO_DEFAULT_PATH)
mark_as_advanced(cupti_INCLUDE)
if(CHEXBENCH_WITH_cupti AND CUDAToolkit_FOUND AND cupti_INCLUDE)
  add_library(cupti INTERFACE IMPORTED GLOBAL)
  target_include_directories(cupti SYSTEM INTERFACE ${cupti_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS})
endif()
chexbench_report("CUPTI" cupti "kernels cannot be timed singly (needs the CUDA toolkit with extras/CUPTI)")

# A script that goes into report.html: needed only at build time.
option(CHEXBENCH_WITH_chartjs "Use Chart.js" ON)
find_file(chartjs_FILE chart.min.js PATHS /usr/share/javascript/chart.js)
mark_as_advanced(chartjs_FILE)
if(CHEXBENCH_WITH_chartjs AND chartjs_FILE)
  add_library(chartjs INTERFACE IMPORTED GLOBAL)
endif()
chexbench_report("Chart.js" chartjs "report.html has its tables, but no charts")

if(CHEXBENCH_TESTS)
  find_package(GTest 1.11 QUIET)  # the first version with --gtest_brief
  chexbench_report("GoogleTest" GTest::gmock "no tests")
  find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
  chexbench_report("Python" Python3::Interpreter "no tests")
endif()
if(CHEXBENCH_TESTS AND NOT (GTest_FOUND AND Python3_FOUND))
  set(CHEXBENCH_TESTS OFF)
endif()
if(CHEXBENCH_TESTS)
  include(GoogleTest)
  find_package(benchmark QUIET)
  chexbench_report("Google Benchmark" benchmark::benchmark "no micro-benchmarks")
  # The peers of decode_benchmark, which prints the ones that it measured.
  chexbench_find_plain(libpng png.h png)
  chexbench_find_plain(libspng spng.h spng)
  chexbench_find_plain(blend2d blend2d/blend2d.h blend2d)
  chexbench_find_plain(rapidcheck rapidcheck.h rapidcheck)
  chexbench_report("RapidCheck" rapidcheck "no property tests")
endif()

function(chexbench_print_summary)
  message(STATUS "chexbench ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, baseline ${CHEXBENCH_MARCH}")
  get_property(found GLOBAL PROPERTY CHEXBENCH_FOUND)
  get_property(missing GLOBAL PROPERTY CHEXBENCH_MISSING)
  list(JOIN found ", " found)
  message(STATUS "  found:   ${found}")
  foreach(line IN LISTS missing)
    message(STATUS "  missing: ${line}")
  endforeach()
  if(missing)
    message(STATUS
      "  scripts/setup installs what is missing; -DCHEXBENCH_WITH_<name>=OFF leaves a package out on purpose")
  endif()
endfunction()
