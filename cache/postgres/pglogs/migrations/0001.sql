-- One row for each record. Callers may choose ids, so one may come twice; a record
-- with the same id and time is the same. at is in nanoseconds since 1970: to_timestamp(at / 1e9).
-- Words are compared byte by byte; NULL is a field without a value.
CREATE TABLE {records} (
    seq                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id                 text COLLATE "C" NOT NULL,
    at                 bigint NOT NULL,
    surface            text COLLATE "C",
    operation          text COLLATE "C",
    stream             boolean,
    requested_model    text COLLATE "C",
    provider           text COLLATE "C",
    slug               text COLLATE "C",
    model              text COLLATE "C",
    response_model     text COLLATE "C",
    response_id        text COLLATE "C",
    config_id          text COLLATE "C",
    prompt_id          text COLLATE "C",
    prompt_version     text COLLATE "C",
    key_id             text COLLATE "C",
    "user"             text COLLATE "C",
    cache_status       text COLLATE "C",
    retry_status       text COLLATE "C",
    fallback_status    text COLLATE "C",
    loadbalance_status text COLLATE "C",
    finish_reason      text COLLATE "C",
    error_code         text COLLATE "C",
    status             float8,
    failed             boolean,
    attempts           float8,
    warnings           float8,
    prompt_tokens      float8,
    completion_tokens  float8,
    total_tokens       float8,
    cached_tokens      float8,
    cache_write_tokens float8,
    reasoning_tokens   float8,
    cost_usd           float8,
    saved_usd          float8,
    first_chunk_ms     float8,
    duration_ms        float8,
    feedback           float8,
    metadata           jsonb,
    search             text COLLATE "C" NOT NULL, -- the words, the error's message and the metadata, folded
    record             json NOT NULL,             -- without content and feedback
    UNIQUE (id, at)
);
CREATE INDEX {#records_at} ON {records} (at DESC, id DESC);
CREATE INDEX {#records_model} ON {records} (model, at DESC, id DESC);
CREATE INDEX {#records_user} ON {records} ("user", at DESC, id DESC) WHERE "user" IS NOT NULL;
CREATE INDEX {#records_key_id} ON {records} (key_id, at DESC, id DESC) WHERE key_id IS NOT NULL;
CREATE INDEX {#records_config_id} ON {records} (config_id, at DESC, id DESC) WHERE config_id IS NOT NULL;
CREATE INDEX {#records_prompt_id} ON {records} (prompt_id, at DESC, id DESC) WHERE prompt_id IS NOT NULL;
CREATE INDEX {#records_response_id} ON {records} (response_id) WHERE response_id IS NOT NULL;
CREATE INDEX {#records_error_code} ON {records} (error_code, at DESC, id DESC) WHERE error_code IS NOT NULL;
CREATE INDEX {#records_metadata} ON {records} USING gin (metadata jsonb_path_ops);

-- Requests and answers, which pages do not read, byte for byte.
CREATE TABLE {contents} (
    seq       bigint PRIMARY KEY REFERENCES {records} ON DELETE CASCADE,
    request   bytea,
    response  bytea,
    truncated boolean NOT NULL
);

CREATE TABLE {feedback} (
    n        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seq      bigint NOT NULL REFERENCES {records} ON DELETE CASCADE,
    feedback json NOT NULL
);
CREATE INDEX {#feedback_seq} ON {feedback} (seq, n);
