# Toolchain file: the Emscripten which scripts/setup.sh has unpacked, else the one on PATH.
set(private_emscripten ${CMAKE_CURRENT_LIST_DIR}/../.toolchain/debian/usr/share/emscripten)
if(EXISTS ${private_emscripten}/emcc)
  get_filename_component(emscripten_root ${private_emscripten} ABSOLUTE)
else()
  find_program(EM_CONFIG_PROGRAM em-config REQUIRED)
  execute_process(COMMAND ${EM_CONFIG_PROGRAM} EMSCRIPTEN_ROOT
                  OUTPUT_VARIABLE emscripten_root OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
include(${emscripten_root}/cmake/Modules/Platform/Emscripten.cmake)
