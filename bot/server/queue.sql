-- Events that came in, jobs that came of them, whose turn it is, and what is remembered.
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY,
  forge TEXT NOT NULL,
  delivery TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'new',
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before REAL NOT NULL DEFAULT 0,
  received REAL NOT NULL,
  note TEXT NOT NULL DEFAULT '',
  digest TEXT NOT NULL DEFAULT '',
  UNIQUE (forge, delivery)
);
-- The same signed body under another delivery id is a replay: the id is in no signature.
CREATE UNIQUE INDEX IF NOT EXISTS events_body ON events (forge, digest) WHERE digest != '';
CREATE INDEX IF NOT EXISTS events_waiting ON events (state, not_before);
CREATE TABLE IF NOT EXISTS jobs (
  key TEXT PRIMARY KEY,
  forge TEXT NOT NULL,
  repository TEXT NOT NULL,
  number INTEGER NOT NULL,
  device TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'queued',
  attempts INTEGER NOT NULL DEFAULT 0,
  outages INTEGER NOT NULL DEFAULT 0,
  cancel INTEGER NOT NULL DEFAULT 0,
  not_before REAL NOT NULL DEFAULT 0,
  worker TEXT NOT NULL DEFAULT '',
  lease_until REAL NOT NULL DEFAULT 0,
  created REAL NOT NULL,
  started REAL NOT NULL DEFAULT 0,
  finished REAL NOT NULL DEFAULT 0,
  note TEXT NOT NULL DEFAULT '',
  comment_id INTEGER NOT NULL DEFAULT 0,
  merge_request INTEGER NOT NULL DEFAULT 0,
  speedup REAL NOT NULL DEFAULT 0,
  progress TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS jobs_state ON jobs (state, not_before);
CREATE TABLE IF NOT EXISTS turns (
  forge TEXT NOT NULL,
  repository TEXT NOT NULL,
  served REAL NOT NULL,
  PRIMARY KEY (forge, repository)
);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
