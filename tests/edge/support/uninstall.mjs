// Removes what install.mjs made.

export { removeTemporaryFolders as default } from "../../js/support/temporary.mjs";
