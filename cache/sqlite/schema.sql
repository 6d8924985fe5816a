-- Times are milliseconds since 1970. Ids only grow, so that a process sees what is
-- new in a group. What is searched is before the entry, which may be long.
CREATE TABLE entries (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    key       BLOB NOT NULL UNIQUE,
    expires   INTEGER NOT NULL,
    used      INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    namespace BLOB NOT NULL,
    operation BLOB NOT NULL,
    model     BLOB NOT NULL,
    grp       BLOB,
    vec       BLOB,
    data      BLOB NOT NULL
);
CREATE INDEX entries_expires ON entries (expires);
CREATE INDEX entries_used ON entries (used);
CREATE INDEX entries_namespace ON entries (namespace);
CREATE INDEX entries_grp ON entries (grp, id) WHERE grp IS NOT NULL;

CREATE TABLE totals (entries INTEGER NOT NULL, vectors INTEGER NOT NULL, bytes INTEGER NOT NULL);
INSERT INTO totals VALUES (0, 0, 0);
CREATE TRIGGER entries_in AFTER INSERT ON entries BEGIN
    UPDATE totals SET entries = entries + 1, vectors = vectors + (new.vec IS NOT NULL), bytes = bytes + new.size;
END;
CREATE TRIGGER entries_out AFTER DELETE ON entries BEGIN
    UPDATE totals SET entries = entries - 1, vectors = vectors - (old.vec IS NOT NULL), bytes = bytes - old.size;
END;

-- What was deleted or replaced, for those who watch.
CREATE TABLE changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, key BLOB NOT NULL);

CREATE TABLE locks (key BLOB PRIMARY KEY, token TEXT NOT NULL, expires INTEGER NOT NULL);
