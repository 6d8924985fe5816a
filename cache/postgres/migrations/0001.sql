-- Entries as package cache writes them, with what they are found by beside them.
-- Names are bytea: they may have any bytes. Times are milliseconds since 1970.
CREATE TABLE {entries} (
    key       bytea PRIMARY KEY,
    expires   bigint NOT NULL,
    namespace bytea NOT NULL,
    operation bytea NOT NULL,
    model     bytea NOT NULL,
    grp       bytea,
    vec       bytea, -- packed elements, where no table of the extension has them
    data      bytea NOT NULL
);
-- Bodies rarely get smaller, and are read whole.
ALTER TABLE {entries} ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE {entries} ALTER COLUMN vec SET STORAGE EXTERNAL;
CREATE INDEX {#entries_expires} ON {entries} (expires);
CREATE INDEX {#entries_namespace} ON {entries} (namespace);
CREATE INDEX {#entries_grp} ON {entries} (grp) WHERE grp IS NOT NULL;

CREATE TABLE {locks} (
    key     bytea PRIMARY KEY,
    token   text NOT NULL,
    expires timestamptz NOT NULL
);
