// Entry `keepsake/inspector`: defines <keepsake-inspector>.

import { KeepsakeInspector } from "./inspector/element.js";

export { KeepsakeInspector };

declare global {
  interface HTMLElementTagNameMap {
    "keepsake-inspector": KeepsakeInspector;
  }
}

const TAG = "keepsake-inspector";
// Not on a server; and a page may have got the module twice.
const elements = globalThis.customElements;
if (elements !== undefined && elements.get(TAG) === undefined)
  elements.define(TAG, KeepsakeInspector);
