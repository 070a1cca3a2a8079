// What every test file leaves behind, gone.

import { removeTemporaryFolders } from "../../js/support/temporary.mjs";
import { closeBrowsers } from "./chromium.mjs";
import { closeServers } from "./static-server.mjs";
import { closeDriven } from "./webdriver.mjs";

/** Browsers first: they write to their profiles until they end. */
export async function cleanUp() {
  await Promise.all([closeBrowsers(), closeDriven()]);
  closeServers();
  removeTemporaryFolders();
}
