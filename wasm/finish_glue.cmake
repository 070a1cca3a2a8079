# cmake -DGLUE=<file> -P finish_glue.cmake
# The glue is handed its module by our loader and must not look for it: bundlers
# follow import.meta.url, workerd has none, and CommonJS can't parse it.
file(READ ${GLUE} glue)
string(REGEX REPLACE "new URL\\([^()]*import\\.meta\\.url\\)\\.href" "\"\"" glue "${glue}")
string(REPLACE "import.meta.url" "\"\"" glue "${glue}")
file(WRITE ${GLUE} "${glue}")
