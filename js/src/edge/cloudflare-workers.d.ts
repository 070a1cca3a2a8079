// What we use of the module that workerd has built in. In a user's project
// `wrangler types`, or @cloudflare/workers-types, says it in full.

declare module "cloudflare:workers" {
  export abstract class DurableObject<Env = unknown> {
    protected ctx: { storage: import("./sql-host.js").ObjectStorage };
    protected env: Env;
    constructor(ctx: unknown, env: Env);
  }
}
