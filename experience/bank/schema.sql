-- The experience bank. One row a tuple; its embeddings are rows of their own, by model, so that a
-- bank can change its model (`bank reembed`) and never mixes vectors of two.
CREATE TABLE IF NOT EXISTS tuples (
  id VARCHAR PRIMARY KEY,
  title VARCHAR NOT NULL,
  description VARCHAR NOT NULL,
  bottleneck VARCHAR NOT NULL,
  classes VARCHAR[] NOT NULL,
  diff VARCHAR NOT NULL,
  diff_hash VARCHAR NOT NULL,
  motif_id VARCHAR NOT NULL,
  op_family VARCHAR NOT NULL,
  dtype VARCHAR NOT NULL,
  soc VARCHAR NOT NULL,
  direction VARCHAR NOT NULL,
  evidence JSON NOT NULL,
  slow JSON,
  fast JSON,
  trajectory VARCHAR NOT NULL,
  step INTEGER NOT NULL,
  operator VARCHAR NOT NULL,
  source_commit VARCHAR NOT NULL,
  origin VARCHAR NOT NULL,
  fingerprint JSON NOT NULL,
  created TIMESTAMP NOT NULL,  -- UTC
  UNIQUE (diff_hash, op_family, soc)
);

-- What changes about a tuple is appended, the latest row counts: an update would rewrite the
-- indexed row, and the history says who was retired when and why.
CREATE TABLE IF NOT EXISTS standings (
  tuple_id VARCHAR NOT NULL,
  status VARCHAR NOT NULL,
  reason VARCHAR NOT NULL,
  checked TIMESTAMP,  -- UTC; null when the change of status was no re-verification
  noted BIGINT NOT NULL  -- `changes` of the bank when it was appended
);

CREATE TABLE IF NOT EXISTS credits (
  tuple_id VARCHAR NOT NULL,
  won BOOLEAN NOT NULL,
  credited TIMESTAMP NOT NULL  -- UTC
);

CREATE TABLE IF NOT EXISTS embeddings (
  tuple_id VARCHAR NOT NULL,
  model VARCHAR NOT NULL,
  vector FLOAT[] NOT NULL
);

-- `model` and `dimensions` of the embedding in force; `changes` counts what makes an index stale.
CREATE TABLE IF NOT EXISTS facts (key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);
