-- The first schema as it was released, with one session. Never edited.
CREATE TABLE sessions (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        workspace TEXT NOT NULL,
        title TEXT NOT NULL,
        model TEXT NOT NULL,
        forked_from TEXT,
        created INTEGER NOT NULL,
        updated INTEGER NOT NULL,
        messages INTEGER NOT NULL DEFAULT 0,
        input_tokens INTEGER NOT NULL DEFAULT 0,
        output_tokens INTEGER NOT NULL DEFAULT 0,
        cache_read_tokens INTEGER NOT NULL DEFAULT 0,
        cache_write_tokens INTEGER NOT NULL DEFAULT 0,
        fuel INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX sessions_of_workspace ON sessions (workspace, updated);

    CREATE TABLE runs (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        run TEXT NOT NULL,
        started INTEGER NOT NULL,
        PRIMARY KEY (session, run)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE tags (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        tag TEXT NOT NULL,
        PRIMARY KEY (session, tag)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE state (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        component TEXT NOT NULL,
        name TEXT NOT NULL,
        value BLOB NOT NULL,
        version INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        PRIMARY KEY (session, component, name)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE messages (
        key INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        number INTEGER NOT NULL,
        role TEXT NOT NULL,
        content TEXT NOT NULL,
        usage TEXT,
        said INTEGER NOT NULL,
        searched TEXT NOT NULL,
        UNIQUE (session, number)
    ) STRICT;

    CREATE VIRTUAL TABLE search USING fts5 (
        searched, content = 'messages', content_rowid = 'key', tokenize = 'trigram'
    );
    INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
    CREATE TRIGGER messages_in AFTER INSERT ON messages BEGIN
        INSERT INTO search (rowid, searched) VALUES (new.key, new.searched);
    END;
    CREATE TRIGGER messages_out AFTER DELETE ON messages BEGIN
        INSERT INTO search (search, rowid, searched) VALUES ('delete', old.key, old.searched);
    END;
PRAGMA application_id = 1752134755;
PRAGMA user_version = 1;
INSERT INTO sessions (key, id, workspace, title, model, created, updated, messages)
    VALUES (7, '0123456789ab', '/w', 'an old one', 'm', 1000, 2000, 1);
INSERT INTO runs VALUES (7, 'old', 1000);
INSERT INTO tags VALUES (7, 'kept');
INSERT INTO state VALUES (7, 'c', 'todos', x'5b5d', 3, 1000);
INSERT INTO messages (session, number, role, content, usage, said, searched)
    VALUES (7, 1, 'user', '[{"type":"text","text":"an old prompt"}]', NULL, 1000, 'an old prompt');
