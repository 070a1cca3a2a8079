/** The tests of specTest (718) and deltaChannelHistoryTests (8), version 1.1.1. */
export const SPECIFICATION_SIZE = 726;
