-- One row for each record. Callers may choose ids, so one may come twice; a record
-- with the same id and time is the same. at is in nanoseconds since 1970. NULL is a field without
-- a value. What queries look at is before the record, which may be long.
CREATE TABLE records (
    seq                INTEGER PRIMARY KEY AUTOINCREMENT,
    id                 TEXT NOT NULL,
    at                 INTEGER NOT NULL,
    surface            TEXT,
    operation          TEXT,
    stream             INTEGER,
    requested_model    TEXT,
    provider           TEXT,
    slug               TEXT,
    model              TEXT,
    response_model     TEXT,
    response_id        TEXT,
    config_id          TEXT,
    prompt_id          TEXT,
    prompt_version     TEXT,
    key_id             TEXT,
    "user"             TEXT,
    cache_status       TEXT,
    retry_status       TEXT,
    fallback_status    TEXT,
    loadbalance_status TEXT,
    finish_reason      TEXT,
    error_code         TEXT,
    status             REAL,
    failed             INTEGER,
    attempts           REAL,
    warnings           REAL,
    prompt_tokens      REAL,
    completion_tokens  REAL,
    total_tokens       REAL,
    cached_tokens      REAL,
    cache_write_tokens REAL,
    reasoning_tokens   REAL,
    cost_usd           REAL,
    saved_usd          REAL,
    first_chunk_ms     REAL,
    duration_ms        REAL,
    feedback           REAL,
    metadata           TEXT, -- JSON
    search             TEXT NOT NULL, -- the words, the error's message and the metadata, folded
    record             TEXT NOT NULL, -- JSON, without content and feedback
    UNIQUE (id, at)
);
CREATE INDEX records_at ON records (at DESC, id DESC);
CREATE INDEX records_model ON records (model, at DESC, id DESC);
CREATE INDEX records_user ON records ("user", at DESC, id DESC) WHERE "user" IS NOT NULL;
CREATE INDEX records_key_id ON records (key_id, at DESC, id DESC) WHERE key_id IS NOT NULL;
CREATE INDEX records_config_id ON records (config_id, at DESC, id DESC) WHERE config_id IS NOT NULL;
CREATE INDEX records_prompt_id ON records (prompt_id, at DESC, id DESC) WHERE prompt_id IS NOT NULL;
CREATE INDEX records_response_id ON records (response_id) WHERE response_id IS NOT NULL;
CREATE INDEX records_error_code ON records (error_code, at DESC, id DESC) WHERE error_code IS NOT NULL;

-- Requests and answers, which pages do not read, byte for byte.
CREATE TABLE contents (seq INTEGER PRIMARY KEY, request BLOB, response BLOB, truncated INTEGER NOT NULL);

CREATE TABLE feedback (n INTEGER PRIMARY KEY AUTOINCREMENT, seq INTEGER NOT NULL, feedback TEXT NOT NULL);
CREATE INDEX feedback_seq ON feedback (seq, n);

-- How many records there are, so that nobody has to count them.
CREATE TABLE totals (records INTEGER NOT NULL);
INSERT INTO totals VALUES (0);
CREATE TRIGGER records_in AFTER INSERT ON records BEGIN
    UPDATE totals SET records = records + 1;
END;
CREATE TRIGGER records_out AFTER DELETE ON records BEGIN
    UPDATE totals SET records = records - 1;
    DELETE FROM contents WHERE seq = old.seq;
    DELETE FROM feedback WHERE seq = old.seq;
END;
