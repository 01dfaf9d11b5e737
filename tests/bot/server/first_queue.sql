-- The queue as its first version made it, with a job, an event and a fact of then.
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
  UNIQUE (forge, delivery)
);
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
INSERT INTO jobs (key, forge, repository, number, device, body, created) VALUES
  ('0123456789abcdef', 'github', 'team/ops', 3, 'sim:910B4', '{"key":"0123456789abcdef","kind":"optimize","forge":"github","repository":"team/ops","number":3,"operator":"src/math/scale_add","source_ref":"refs/pull/3/head","source_commit":"1111111111111111111111111111111111111111","target_branch":"feature","judge_ref":"refs/heads/main","judge_commit":"2222222222222222222222222222222222222222","workload":"src/math/scale_add/workload.yaml","backend":"sim","device":"910B4","stage":"both","budget":40,"seed":0,"proposer":"rules","wall_minutes":120.0,"minimum_speedup":1.02,"dry_run":false,"from_fork":false,"patch":"","patch_of":0,"requested_by":"alice","comment_id":0}', 5.0);
INSERT INTO events (forge, delivery, body, received) VALUES
  ('github', 'd1', '{"forge":"github","delivery":"d1","kind":"push","repository":"team/ops","ref":"refs/heads/main"}', 6.0);
INSERT INTO facts VALUES ('head github team/ops', '3333333333333333333333333333333333333333');
