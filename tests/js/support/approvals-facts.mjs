// What the agents of approvals.mjs have to answer where LangChain's own is no judge. Imports nothing.

export const expectImproved = {
  tooFew({ refused, error, ran, next, sent }, expect) {
    expect({ refused, error, ran, next }).toEqual({
      refused: 2,
      error: "invalid_argument",
      ran: ["send 1", "pay 2"],
      next: [],
    });
    expect(sent).toHaveLength(2);
  },
  notAllowed({ refused, error, ran, next }, expect) {
    expect({ refused, error, ran, next }).toEqual({
      refused: 2,
      error: "invalid_argument",
      ran: ["pay 1"],
      next: [],
    });
  },
  noDecisions({ refused, error, ran, next }, expect) {
    expect({ refused, error, ran, next }).toEqual({
      refused: 6,
      error: "invalid_argument",
      ran: ["send 1"],
      next: [],
    });
  },
  // No call is left that nothing answers: providers refuse such messages.
  rejectedBesideFree({ ran, sent }, expect) {
    expect(ran).toEqual([]);
    expect(sent[1]).toEqual(["human | Go.", "ai |  | send 1 c0", "tool | No. | error | send"]);
  },
};

/** What has run in the end. */
export const expectedRuns = {
  approved: ["send 1"],
  edited: ["pay 2"],
  rejected: [],
  rejectedWithMessage: [],
  mixed: ["look 2", "send 1", "pay 3", "send 5"],
  mixedWithRejection: [],
  free: ["look 1", "look 2"],
  noRules: ["send 1"],
  noCalls: [],
  described: ["send 1", "pay 2", "look 3"],
  when: ["send 1", "pay 3", "send 2"],
  byRun: ["look 1"],
  twice: ["send 1"],
  byId: ["send 1"],
  subgraphs: [["send 5"], []],
  together: [["send 3"], []],
};
