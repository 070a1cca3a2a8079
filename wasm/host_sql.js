// What the lean module imports. `Module.hosts` maps numbers to EngineHosts
// (js/src/wasm/engine-host.ts). What throws here is a trap of ours, on its way out.
addToLibrary({
  // Those that don't change, by their place: decoding costs as much as a short statement.
  $keepsakeStatements: "new Map()",
  $keepsakeStatement__deps: ["$keepsakeStatements", "$UTF8ToString"],
  $keepsakeStatement: (sql, size, isLiteral) => {
    if (!isLiteral) return UTF8ToString(sql, size);
    const place = size * 2 ** 32 + sql;
    let text = keepsakeStatements.get(place);
    if (text === undefined) {
      text = UTF8ToString(sql, size);
      keepsakeStatements.set(place, text);
    }
    return text;
  },

  keepsake_sql_run__deps: ["$keepsakeStatement", "keepsake_sql_row", "keepsake_sql_take"],
  keepsake_sql_run: (host, sql, sqlSize, isLiteral, params, paramsSize, call) =>
    Module.hosts.get(host).run(
      keepsakeStatement(sql, sqlSize, isLiteral),
      HEAPU8.subarray(params, params + paramsSize),
      call === 0
        ? undefined
        : (row) => {
            // Growing memory detaches views: the address first.
            const address = _keepsake_sql_row(call, row.length);
            HEAPU8.set(row, address);
            return _keepsake_sql_take(call, row.length) !== 0;
          },
    ),

  keepsake_sql_transaction__deps: ["keepsake_sql_body"],
  keepsake_sql_transaction: (host, body) =>
    Module.hosts.get(host).transaction(() => _keepsake_sql_body(body) !== 0),

  keepsake_sql_bills_rows: (host) => Module.hosts.get(host).billsRows,

  keepsake_sql_size: (host) => Module.hosts.get(host).size(),

  keepsake_sql_message_size: (host) => Module.hosts.get(host).message.length,

  keepsake_sql_message: (host, into) => {
    HEAPU8.set(Module.hosts.get(host).message, into);
  },
});
