// All of the memory, in the inspector that the package has.
import "keepsake/inspector";
import { byId } from "../dom.mjs";

export class InsideView {
  constructor(app) {
    const dialog = byId("inside");
    const [inspector] = dialog.getElementsByTagName("keepsake-inspector");
    inspector.threadTitle = (id) => app.knownThreads.find((thread) => thread.id === id)?.title;
    byId("look-inside").addEventListener(
      "click",
      app.notices.guarded(async () => {
        inspector.memory = await app.database.use((memory) => memory);
        dialog.showModal();
      }),
    );
    // What is not seen needs not be followed.
    dialog.addEventListener("close", () => {
      inspector.memory = undefined;
    });
  }
}
