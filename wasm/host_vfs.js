// What the VFS imports. `Module.files` maps names to handles with the shape of
// FileSystemSyncAccessHandle, and optionally check(): whether the file is still
// the one that we left. `Module.fileError` keeps why the last call failed.
// Nothing here may throw: an exception would pass through SQLite's C code.
addToLibrary({
  $hostFiles: {
    opened: [],
    position: { at: 0 },

    // FileError of core/src/sql/file_host.h.
    failed: -1,
    full: -2,
    readOnly: -3,
    changed: -4,

    codeOf(error) {
      // A DOMException has a numeric code beside its name.
      switch (typeof error.code === "string" ? error.code : error.name) {
        case "ENOSPC":
        case "EDQUOT":
        case "EFBIG":
        case "QuotaExceededError":
          return hostFiles.full;
        case "EROFS":
        case "EACCES":
        case "EPERM":
        case "NoModificationAllowedError":
          return hostFiles.readOnly;
        default:
          return hostFiles.failed;
      }
    },

    attempt(call) {
      try {
        return call();
      } catch (error) {
        Module.fileError = error;
        return hostFiles.codeOf(Object(error));
      }
    },

    // Views are made anew each time: growing memory detaches them.
    transfer(method, handle, address, size, offset) {
      return hostFiles.attempt(() => {
        hostFiles.position.at = offset;
        const bytes = HEAPU8.subarray(address, address + size);
        return hostFiles.opened[handle][method](bytes, hostFiles.position);
      });
    },
  },

  keepsake_file_lookup__deps: ["$hostFiles", "$UTF8ToString"],
  keepsake_file_lookup: (name) => {
    const file = Module.files.get(UTF8ToString(name));
    if (!file) return hostFiles.failed;
    const handle = hostFiles.opened.indexOf(file);
    return handle >= 0 ? handle : hostFiles.opened.push(file) - 1;
  },

  keepsake_file_read__deps: ["$hostFiles"],
  keepsake_file_read: (handle, into, size, offset) =>
    hostFiles.transfer("read", handle, into, size, offset),

  keepsake_file_write__deps: ["$hostFiles"],
  keepsake_file_write: (handle, from, size, offset) =>
    hostFiles.transfer("write", handle, from, size, offset),

  keepsake_file_truncate__deps: ["$hostFiles"],
  keepsake_file_truncate: (handle, size) =>
    hostFiles.attempt(() => {
      hostFiles.opened[handle].truncate(size);
      return 0;
    }),

  keepsake_file_flush__deps: ["$hostFiles"],
  keepsake_file_flush: (handle) =>
    hostFiles.attempt(() => {
      hostFiles.opened[handle].flush();
      return 0;
    }),

  keepsake_file_size__deps: ["$hostFiles"],
  keepsake_file_size: (handle) => hostFiles.attempt(() => hostFiles.opened[handle].getSize()),

  keepsake_file_check__deps: ["$hostFiles"],
  keepsake_file_check: (handle) =>
    hostFiles.attempt(() => {
      const file = hostFiles.opened[handle];
      return file.check === undefined || file.check() ? 0 : hostFiles.changed;
    }),

  keepsake_random: (into, size) => {
    crypto.getRandomValues(HEAPU8.subarray(into, into + size));
  },

  keepsake_now_ms: () => Date.now(),
});
