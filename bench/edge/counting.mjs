/** The same storage, which counts what is billed. */
export function counting(storage) {
  const cursors = [];
  return {
    transactionSync: (body) => storage.transactionSync(body),
    sql: {
      get databaseSize() {
        return storage.sql.databaseSize;
      },
      exec(...args) {
        const cursor = storage.sql.exec(...args);
        cursors.push(cursor);
        return cursor;
      },
    },
    take() {
      const taken = cursors.splice(0);
      const sum = (name) => taken.reduce((total, cursor) => total + cursor[name], 0);
      return { read: sum("rowsRead"), written: sum("rowsWritten") };
    },
  };
}
