// Few names, so that participants come into each other's way.

const keys = ["k0", "k1", "k2"];

export const NAMESPACES = [
  ["user", "ada"],
  ["user", "ada", "trips"],
  ["user", "bob"],
  ["kept"],
].map((namespace) => ({ namespace, keys }));

export const THREADS = ["thread-0", "thread-1", "thread-2"];
