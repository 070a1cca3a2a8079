// How much a run of the tests tries. `npm test` runs a tenth of each random loop, and of what is
// the same over again; `npm run test:long` runs all of it. KEEPSAKE_LONG=50 runs fifty times all
// of each loop.

const effort = Number(process.env.KEEPSAKE_LONG ?? 0.1);
if (!(effort > 0)) throw new Error("KEEPSAKE_LONG must be a number above 0");

/** Whether everything runs. */
export const isLong = effort >= 1;

/**
 * Those of `list` that run where others run all of it: every tenth, beginning with the one of this
 * number. All of them in the long run, and without a number.
 */
export const tenthOf = (list, number) =>
  isLong || number === undefined ? list : list.filter((_, i) => (i - number) % 10 === 0);

/** That number for programs which run elsewhere and do not know how long the run is. */
export const partOf = (number) => (isLong ? undefined : number);

/** How often a loop runs, that runs `whole` times in the long run: at least once. */
export const times = (whole) => Math.max(1, Math.round(whole * effort));
