// An object without keepsake, to compare with cold.mjs.

import { DurableObject } from "cloudflare:workers";
import { serve } from "./serve.mjs";

export class Cold extends DurableObject {
  first() {
    this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS t(k TEXT PRIMARY KEY, v TEXT)");
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO t VALUES('k', 'v')");
    return this.ctx.storage.sql.exec("SELECT v FROM t").toArray().length;
  }
}

export default serve({ first: (env) => env.OBJECT.getByName("first").first() });
