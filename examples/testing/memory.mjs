// Options for all tests, with the names that openMemory() has. With your embedding model, or
// `export const index = await english()` of keepsake-english, searches go by meaning, too.

export const text = { language: "english" };
export const ranking = { mode: "hybrid" };
