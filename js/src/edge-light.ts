import { startInVercel } from "./edge/vercel.js";

startInVercel();

export * from "./index.js";
