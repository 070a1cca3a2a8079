// The contract of our stores: LangGraph's, which the package has for anybody's store, and what
// ours do beyond it.

import { storeContract as langGraphs } from "keepsake/testing";
import { factCases } from "./facts.mjs";
import { historyCases } from "./history.mjs";
import { searchCases } from "./searches.mjs";

export const storeContract = [...langGraphs, ...factCases, ...historyCases, ...searchCases];
