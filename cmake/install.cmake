# `cmake --install`: what find_package(Keepsake) finds is the library with SQLite in it, as
# Keepsake::core, and the public headers.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

find_package(Threads REQUIRED)
target_link_libraries(keepsake_core PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(keepsake_core PROPERTIES EXPORT_NAME core)
if(KEEPSAKE_SANITIZERS)
  # Who links a library with sanitizers needs them, too.
  set(sanitize -fsanitize=${KEEPSAKE_SANITIZERS})
  target_compile_options(keepsake_core INTERFACE $<INSTALL_INTERFACE:${sanitize}>)
  target_link_options(keepsake_core INTERFACE $<INSTALL_INTERFACE:${sanitize}>)
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Keepsake)
install(TARGETS keepsake_core EXPORT KeepsakeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/include/keepsake
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT KeepsakeTargets NAMESPACE Keepsake:: DESTINATION ${package_folder})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/KeepsakeConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/KeepsakeConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
# 0.x: what fits one minor version need not fit the next.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/KeepsakeConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/KeepsakeConfig.cmake
              ${PROJECT_BINARY_DIR}/KeepsakeConfigVersion.cmake
        DESTINATION ${package_folder})
