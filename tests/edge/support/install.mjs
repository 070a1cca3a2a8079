// Packs and installs the package once, before the test files run: installedFolder() answers it.

import { installedFolder } from "../../js/support/installed-package.mjs";

export default function install() {
  process.env.KEEPSAKE_INSTALLED = installedFolder();
}
