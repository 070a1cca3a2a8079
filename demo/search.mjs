// How the agents of the demo look for what they remember: by words, with no model. A turn
// is found by what stands beside it, too.
export const SEARCH = {
  ranking: { mode: "text" },
  text: { fields: { text: 1, date: 0 }, group: "session", position: "place", speaker: "speaker" },
};
