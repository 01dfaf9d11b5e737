-- The experience bank. One row a tuple; the embedding is kept beside it with its model's id,
-- so that a bank can be searched by brute force (20,000 rows answer in about 20 ms).
CREATE TABLE IF NOT EXISTS tuples (
  id VARCHAR PRIMARY KEY,
  title VARCHAR NOT NULL,
  description VARCHAR NOT NULL,
  bottleneck VARCHAR NOT NULL,
  classes VARCHAR[] NOT NULL,
  diff VARCHAR NOT NULL,
  diff_hash VARCHAR NOT NULL,
  rule_id VARCHAR NOT NULL,
  op_family VARCHAR NOT NULL,
  dtype VARCHAR NOT NULL,
  soc VARCHAR NOT NULL,
  direction VARCHAR NOT NULL,
  evidence JSON NOT NULL,
  operator VARCHAR NOT NULL,
  source_commit VARCHAR NOT NULL,
  fingerprint JSON NOT NULL,
  status VARCHAR NOT NULL,
  created TIMESTAMP NOT NULL,  -- UTC
  embedding FLOAT[320] NOT NULL,
  embedding_model VARCHAR NOT NULL,
  UNIQUE (diff_hash, op_family, soc)
);

-- Uses and wins are rows of their own, appended: an update would rewrite the indexed tuple.
CREATE TABLE IF NOT EXISTS credits (
  tuple_id VARCHAR NOT NULL,
  won BOOLEAN NOT NULL,
  credited TIMESTAMP NOT NULL  -- UTC
);
