# keepsake_strict_warnings(<target>): for our own code only, never for third-party sources.
function(keepsake_strict_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wnon-virtual-dtor;-Woverloaded-virtual>
    # A designated initialiser leaves the other fields to their defaults on purpose.
    -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports these falsely, inside std::expected, std::string and std::vector. Clang, the
    # sanitizers and the fuzzers look for the real ones.
    target_compile_options(${target} PRIVATE
      -Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow
      -Wno-stringop-overread)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # A generic lambda may use its capture only where its pack is not empty.
    target_compile_options(${target} PRIVATE -Wno-unused-lambda-capture)
  endif()
  if(KEEPSAKE_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
