# Everything is compiled with AddressSanitizer, SQLite included: a bad pointer handed to it is ours.
if(KEEPSAKE_SANITIZERS)
  add_compile_options(-fsanitize=${KEEPSAKE_SANITIZERS} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${KEEPSAKE_SANITIZERS} -fno-sanitize-recover=all)
endif()
