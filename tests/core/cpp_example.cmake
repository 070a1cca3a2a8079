# Installs the library into a folder outside of the tree. There, builds and runs against what was
# installed: examples/cpp, twice, since the second run has to find what the first one left; and
# the program that docs/cpp.md shows, word for word.
#
#   cmake -D BUILD=<of the library> -D SOURCE=<of Keepsake> -D CXX=<compiler> -D BUILD_TYPE=<…>
#         -P cpp_example.cmake
execute_process(COMMAND mktemp -d -t keepsake-cpp-XXXXXX OUTPUT_VARIABLE folder
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# <folder>/<name> becomes a program, made of its CMakeLists.txt.
function(build name)
  run(${CMAKE_COMMAND} -G Ninja -S ${folder}/${name} -B ${folder}/${name}/build
      -DCMAKE_PREFIX_PATH=${folder}/prefix -DCMAKE_CXX_COMPILER=${CXX}
      -DCMAKE_BUILD_TYPE=${BUILD_TYPE})
  run(${CMAKE_COMMAND} --build ${folder}/${name}/build)
endfunction()

function(expect_output name expected)
  execute_process(COMMAND ${folder}/${name}/build/agent WORKING_DIRECTORY ${folder}/${name}
                  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output STREQUAL expected)
    message(FATAL_ERROR "The program of ${name} printed\n${output}\ninstead of\n${expected}")
  endif()
endfunction()

# Writes the only block of docs/cpp.md in `language` to a file, after `before`.
function(write_snippet language file before)
  file(READ ${SOURCE}/docs/cpp.md text)
  string(FIND "${text}" "\n```${language}\n" start)
  if(start EQUAL -1)
    message(FATAL_ERROR "docs/cpp.md has no block of ${language}")
  endif()
  string(LENGTH "\n```${language}\n" fence)
  math(EXPR start "${start} + ${fence}")
  string(SUBSTRING "${text}" ${start} -1 text)
  string(FIND "${text}" "\n```\n" length)
  string(SUBSTRING "${text}" 0 ${length} text)
  file(WRITE ${file} "${before}${text}\n")
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/prefix)

file(COPY ${SOURCE}/examples/cpp/ DESTINATION ${folder}/example)
build(example)
foreach(messages 1 2)
  expect_output(example "What does she walk in?
  She walks in the rain
I am thirsty
  She likes green tea
The thread has ${messages} messages.
")
endforeach()

write_snippet(cmake ${folder}/readme/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(readme LANGUAGES CXX)
")
write_snippet(cpp ${folder}/readme/main.cc "")
build(readme)
expect_output(readme "{\"text\":\"green tea\"}\n")

# Kept if anything failed.
file(REMOVE_RECURSE ${folder})
