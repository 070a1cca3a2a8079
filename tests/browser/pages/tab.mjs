// A tab for tests, which use the package in it as they like.

import * as keepsake from "keepsake";

globalThis.keepsake = keepsake;

/** What `body` answers, or what is wrong; an error itself would lose its code on the way out. */
globalThis.attempt = async (body) => {
  try {
    return { value: await body() };
  } catch (error) {
    const { code, message, damaged } = error;
    globalThis.lastError = error;
    return { code, message, damaged: damaged?.name };
  }
};

/** The tab's memory, opened. */
globalThis.open = async (options) => {
  globalThis.memory = await keepsake.openMemory(options);
  return globalThis.memory.persistence;
};

globalThis.base64 = async (bytes) => {
  const url = await new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(new Blob([bytes]));
  });
  return url.slice(url.indexOf(",") + 1);
};
