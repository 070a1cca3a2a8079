// What the lean module imports. `Module.hosts` maps numbers to EngineHosts
// (js/src/wasm/engine-host.ts). What throws here is a trap of ours, on its way out.
addToLibrary({
  keepsake_sql_run__deps: ["keepsake_sql_row", "keepsake_sql_take"],
  keepsake_sql_run: (host, sql, sqlSize, params, paramsSize, call) =>
    Module.hosts
      .get(host)
      .run(
        HEAPU8.subarray(sql, sql + sqlSize),
        HEAPU8.subarray(params, params + paramsSize),
        (row) => {
          // Growing memory detaches views: the address first.
          const address = _keepsake_sql_row(call, row.length);
          HEAPU8.set(row, address);
          return _keepsake_sql_take(call, row.length) !== 0;
        },
      ),

  keepsake_sql_transaction__deps: ["keepsake_sql_body"],
  keepsake_sql_transaction: (host, body) =>
    Module.hosts.get(host).transaction(() => _keepsake_sql_body(body) !== 0),

  keepsake_sql_size: (host) => Module.hosts.get(host).size(),

  keepsake_sql_message_size: (host) => Module.hosts.get(host).message.length,

  keepsake_sql_message: (host, into) => {
    HEAPU8.set(Module.hosts.get(host).message, into);
  },
});
