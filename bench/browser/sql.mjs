// The table and statements of every candidate that speaks SQL.

export const SCHEMA = "CREATE TABLE IF NOT EXISTS kv(k TEXT PRIMARY KEY, v TEXT)";
export const PUT = "INSERT OR REPLACE INTO kv(k, v) VALUES (?, ?)";
export const GET = "SELECT v FROM kv WHERE k = ?";
export const TUNED = [
  "PRAGMA locking_mode=exclusive",
  "PRAGMA journal_mode=wal",
  "PRAGMA synchronous=normal",
];
