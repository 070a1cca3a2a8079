# Finds the libraries which we use, on the machine first; what is missing is downloaded, pinned by
# its hash. Nothing of them is committed.
include(FetchContent)

# keepsake_fetch(<name> <url> <hash>) downloads and unpacks; sets <name>_SOURCE_DIR for the caller.
function(keepsake_fetch name url hash)
  message(STATUS "${name} was not found here, downloading it")
  # Without a CMakeLists.txt at SOURCE_SUBDIR, the download's own build is left alone.
  FetchContent_Declare(${name} URL ${url} URL_HASH ${hash} SOURCE_SUBDIR none
                       DOWNLOAD_EXTRACT_TIMESTAMP ON)
  FetchContent_MakeAvailable(${name})
  set(${name}_SOURCE_DIR ${${name}_SOURCE_DIR} PARENT_SCOPE)
endfunction()

# The amalgamation: one C file. The npm package is a development dependency of ours anyway.
find_path(KEEPSAKE_SQLITE_DIR sqlite3.c
          PATHS ${PROJECT_SOURCE_DIR}/node_modules/better-sqlite3/deps/sqlite3
          NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
if(NOT KEEPSAKE_SQLITE_DIR)
  keepsake_fetch(sqlite_amalgamation
                 https://www.sqlite.org/2026/sqlite-amalgamation-3530200.zip
                 SHA256=8a310d0a16c7a90cacd4c884e70faa51c902afed2a89f63aaa0126ab83558a32)
  set(KEEPSAKE_SQLITE_DIR ${sqlite_amalgamation_SOURCE_DIR})
endif()

# Of libsodium we compile seven files. Debian has them as a source package, whose mirror this machine
# may know already; it is the archive of GitHub, byte by byte.
if(NOT KEEPSAKE_HOST_SQL)
  find_path(KEEPSAKE_SODIUM_DIR src/libsodium/crypto_aead/xchacha20poly1305/sodium
            PATHS ${PROJECT_SOURCE_DIR}/.toolchain/libsodium
            NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  if(NOT KEEPSAKE_SODIUM_DIR)
    set(sodium_urls https://github.com/jedisct1/libsodium/archive/refs/tags/1.0.18.tar.gz)
    find_program(KEEPSAKE_APT_GET apt-get NO_CMAKE_FIND_ROOT_PATH)
    if(KEEPSAKE_APT_GET)
      execute_process(COMMAND ${KEEPSAKE_APT_GET} indextargets --format "$(REPO_URI)"
                              "Created-By: Packages" "Label: Debian" "Component: main"
                      OUTPUT_VARIABLE debian_mirrors ERROR_QUIET)
      if(debian_mirrors MATCHES "^([^\n]+[^/\n])/?\n")
        list(PREPEND sodium_urls
             ${CMAKE_MATCH_1}/pool/main/libs/libsodium/libsodium_1.0.18.orig.tar.gz)
      endif()
    endif()
    keepsake_fetch(libsodium "${sodium_urls}"
                   SHA256=d59323c6b712a1519a5daf710b68f5e7fde57040845ffec53850911f10a5d4f4)
    set(KEEPSAKE_SODIUM_DIR ${libsodium_SOURCE_DIR})
  endif()
endif()

if(KEEPSAKE_TESTS)
  FetchContent_Declare(googletest
    URL https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz
    URL_HASH SHA256=8ad598c73ad796e0d8280b082cebd82a630d73e73cd3c70057938a6501bba5d7
    DOWNLOAD_EXTRACT_TIMESTAMP ON
    FIND_PACKAGE_ARGS NAMES GTest)
  FetchContent_MakeAvailable(googletest)
endif()

# Judges of what we wrote ourselves, in tests only: of the JSON scanner, and of the graph. Headers,
# which every package manager has.
function(keepsake_require_header variable header package)
  find_path(${variable} ${header})
  if(NOT ${variable})
    message(FATAL_ERROR "The tests need ${header}: install ${package}")
  endif()
endfunction()
if(KEEPSAKE_TESTS OR KEEPSAKE_FUZZERS)
  keepsake_require_header(KEEPSAKE_NLOHMANN_DIR nlohmann/json.hpp
                          "nlohmann-json3-dev (brew: nlohmann-json)")
endif()
if(KEEPSAKE_TESTS)
  keepsake_require_header(KEEPSAKE_HNSWLIB_DIR hnswlib/hnswlib.h "libhnswlib-dev (brew: hnswlib)")
endif()

if(KEEPSAKE_BENCHMARKS)
  set(BENCHMARK_ENABLE_TESTING OFF)
  FetchContent_Declare(benchmark
    URL https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz
    URL_HASH SHA256=6bc180a57d23d4d9515519f92b0c83d61b05b5bab188961f36ac7b06b0d9e9ce
    DOWNLOAD_EXTRACT_TIMESTAMP ON
    FIND_PACKAGE_ARGS)
  FetchContent_MakeAvailable(benchmark)
endif()
