import { tenthOf } from "../js/support/effort.mjs";

/** The tests of specTest (718) and deltaChannelHistoryTests (8), version 1.1.1. */
export const SPECIFICATION_SIZE = 726;

/** How many are run of which every tenth is, from this one on (effort.mjs). */
export const casesIn = (part) => tenthOf([...Array(SPECIFICATION_SIZE).keys()], part).length;
