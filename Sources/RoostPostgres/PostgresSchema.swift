#if Postgres
    /// The tables and statements. docs/SHARED.md says what they mean; nothing here is beyond what CockroachDB and
    /// YugabyteDB have too.
    ///
    /// - `roost_revision` has one row: each commit counts it up, and so waits for the one before it. That is
    ///   what gives commits, and the changes in the log, one order.
    /// - `roost_keys` has each key's newest value; with no value, the key was removed.
    /// - `roost_changes` has the changes after the revision `trimmed`, each with what was before it, so that
    ///   the keys can be read as they were at any revision from there on.
    enum PostgresSchema {
        /// Where an empty server begins: the first commit makes the next.
        static let firstRevision: UInt64 = 1

        /// In this order, as another client may come between two of them, and one may end there: who finds the table that
        /// everything reads finds all that it reads in the others.
        static let creation = [
            """
            CREATE TABLE IF NOT EXISTS roost_revision (
                id int PRIMARY KEY, revision bigint NOT NULL, trimmed bigint NOT NULL)
            """,
            """
            INSERT INTO roost_revision VALUES (1, \(firstRevision), \(firstRevision))
            ON CONFLICT (id) DO NOTHING
            """,
            """
            CREATE TABLE IF NOT EXISTS roost_changes (
                revision bigint NOT NULL, key bytea NOT NULL, value bytea,
                previous_value bytea, previous_revision bigint, previous_expires bool,
                milliseconds bigint NOT NULL, PRIMARY KEY (revision, key))
            """,
            "CREATE INDEX IF NOT EXISTS roost_changes_by_key ON roost_changes (key, revision)",
            """
            CREATE TABLE IF NOT EXISTS roost_keys (
                key bytea PRIMARY KEY, value bytea, revision bigint NOT NULL, deadline bigint)
            """,
            "CREATE INDEX IF NOT EXISTS roost_keys_by_deadline ON roost_keys (deadline)",
        ]

        private static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

        static let clock = PostgresStatement("clock", "SELECT \(now)")

        /// One statement, and so one snapshot: what it reads is what was before it.
        ///
        /// Where it is not serializable, as something between here and the server gives each statement another connection of its
        /// own, it fails: of two that wait for the row of `roost_revision`, the second would go by guards that it looked at
        /// before the first was made.
        ///
        /// `$1 $2` keys and their revisions; `$3 $4 $5` ranges and theirs; `$6 $7 $8 $9` keys, values, times to
        /// live, and whether the change is told; `$10 $11` ranges that are removed.
        static let commit = PostgresStatement(
            "commit",
            """
            WITH guard AS (
                SELECT NOT EXISTS (
                    SELECT 1 FROM unnest($1::bytea[], $2::bigint[]) AS g(key, revision)
                    LEFT JOIN roost_keys k ON k.key = g.key
                    WHERE CASE WHEN k.value IS NULL THEN 0 ELSE k.revision END <> g.revision)
                AND NOT EXISTS (
                    SELECT 1 FROM unnest($3::bytea[], $4::bytea[], $5::bigint[]) AS r(lower, upper, revision)
                    JOIN roost_keys k ON k.key >= r.lower AND k.key < r.upper
                    WHERE k.value IS NOT NULL AND k.revision > r.revision) AS holds),
            next AS (
                UPDATE roost_revision SET revision = roost_revision.revision + 1 FROM guard
                WHERE id = 1 AND guard.holds
                    AND CASE current_setting('transaction_isolation') WHEN 'serializable' THEN true
                        ELSE (current_setting('transaction_isolation') || ' is not serializable')::bool END
                RETURNING roost_revision.revision),
            change AS (
                SELECT p.key, p.value, \(now) + p.lifetime AS deadline, p.told,
                    p.value IS NOT NULL OR k.value IS NOT NULL AS changes
                FROM unnest($6::bytea[], $7::bytea[], $8::bigint[], $9::bool[])
                    AS p(key, value, lifetime, told) LEFT JOIN roost_keys k ON k.key = p.key
                UNION ALL
                SELECT k.key, NULL, NULL, true, true FROM unnest($10::bytea[], $11::bytea[]) AS r(lower, upper)
                JOIN roost_keys k ON k.key >= r.lower AND k.key < r.upper
                WHERE k.value IS NOT NULL),
            logged AS (
                INSERT INTO roost_changes
                SELECT next.revision, c.key, c.value, k.value, k.revision, k.deadline IS NOT NULL, \(now)
                FROM next, change c LEFT JOIN roost_keys k ON k.key = c.key
                WHERE c.told AND c.changes),
            written AS (
                INSERT INTO roost_keys
                SELECT c.key, c.value, next.revision, c.deadline FROM next, change c WHERE c.changes
                ON CONFLICT (key) DO UPDATE SET
                    value = excluded.value, revision = excluded.revision, deadline = excluded.deadline)
            SELECT revision FROM next
            """, ending: "SELECT revision, pg_notify('roost_changes', '') FROM next")

        /// `$1 $2` the range, `$3` how many, `$4` whether with values.
        static func read(isDescending: Bool) -> PostgresStatement {
            PostgresStatement(
                "read-\(isDescending)",
                """
                SELECT s.revision, k.key, k.value, k.revision, k.deadline IS NOT NULL
                FROM roost_revision s LEFT JOIN LATERAL (
                    SELECT key, CASE WHEN $4::bool THEN value ELSE NULL END AS value, revision, deadline
                    FROM roost_keys
                    WHERE key >= $1::bytea AND key < $2::bytea AND value IS NOT NULL
                    ORDER BY key \(isDescending ? "DESC" : "ASC") LIMIT $3::bigint) k ON true
                WHERE s.id = 1
                """)
        }

        /// As `read`, at the revision `$5`; the first column is what was trimmed.
        ///
        /// What was not changed since, and what was there before the first change since: of each no more than are wanted, so
        /// that neither is read to its end and sorted.
        static func readEarlier(isDescending: Bool) -> PostgresStatement {
            let order = isDescending ? "DESC" : "ASC"
            return PostgresStatement(
                "earlier-\(isDescending)",
                """
                SELECT s.trimmed, k.key, CASE WHEN $4::bool THEN k.value ELSE NULL END, k.revision, k.expires
                FROM roost_revision s LEFT JOIN LATERAL (
                    SELECT u.key, u.value, u.revision, u.expires FROM (
                        (SELECT key, value, revision, deadline IS NOT NULL AS expires FROM roost_keys
                        WHERE key >= $1::bytea AND key < $2::bytea AND revision <= $5::bigint
                            AND value IS NOT NULL
                        ORDER BY key \(order) LIMIT $3::bigint)
                        UNION ALL
                        (SELECT o.key, o.value, o.revision, o.expires FROM (
                            SELECT DISTINCT ON (key) key, previous_value AS value,
                                previous_revision AS revision, previous_expires AS expires
                            FROM roost_changes
                            WHERE key >= $1::bytea AND key < $2::bytea AND revision > $5::bigint
                            ORDER BY key \(order), revision) o
                        WHERE o.value IS NOT NULL
                        ORDER BY o.key \(order) LIMIT $3::bigint)) u
                    ORDER BY u.key \(order) LIMIT $3::bigint) k ON true
                WHERE s.id = 1
                """)
        }

        /// The changes after the revision `$2`, of at most `$3` revisions, up to the first with which they have `$1` bytes.
        static let changes = PostgresStatement(
            "changes",
            """
            SELECT s.revision, s.trimmed, c.revision, c.key, c.value
            FROM roost_revision s LEFT JOIN LATERAL (
                SELECT revision, key, value FROM roost_changes
                WHERE revision > $2::bigint AND revision <= coalesce((
                    SELECT revision FROM (
                        SELECT revision, sum(sum(octet_length(key) + coalesce(octet_length(value), 0)))
                            OVER (ORDER BY revision) AS total
                        FROM roost_changes
                        WHERE revision > $2::bigint AND revision <= $2::bigint + $3::bigint
                        GROUP BY revision) t
                    WHERE total >= $1::bigint ORDER BY revision LIMIT 1), $2::bigint + $3::bigint)
                ORDER BY revision, key) c ON true
            WHERE s.id = 1
            """)

        /// How many values are removed at once.
        static let expiredCount = 200

        /// What has expired, a while after its readers have stopped to see it.
        static let expired = PostgresStatement(
            "expired",
            """
            SELECT key, revision FROM roost_keys
            WHERE deadline < \(now) AND value IS NOT NULL ORDER BY deadline LIMIT \(expiredCount)
            """)

        /// Says that the changes that are older than `$1` milliseconds are forgotten: all before the first that is not, of
        /// the next 20,000. Returns no row once there are none.
        static let trim = PostgresStatement(
            "trim",
            """
            WITH next AS (
                SELECT revision, milliseconds FROM roost_changes
                WHERE revision > (SELECT trimmed FROM roost_revision WHERE id = 1)
                ORDER BY revision LIMIT 20000),
            kept AS (
                SELECT min(revision) AS revision FROM next WHERE milliseconds >= \(now) - $1::bigint),
            old AS (
                SELECT max(next.revision) AS revision FROM next, kept
                WHERE kept.revision IS NULL OR next.revision < kept.revision)
            UPDATE roost_revision SET trimmed = old.revision FROM old
            WHERE id = 1 AND old.revision > trimmed RETURNING trimmed
            """)

        /// Removes `$1` of the changes that are forgotten, and the keys that these removed; says how many changes.
        static let forget = PostgresStatement(
            "forget",
            """
            WITH old AS (
                SELECT revision, key FROM roost_changes
                WHERE revision <= (SELECT trimmed FROM roost_revision WHERE id = 1)
                ORDER BY revision, key LIMIT $1::bigint),
            removed AS (
                DELETE FROM roost_keys USING old
                WHERE roost_keys.key = old.key AND roost_keys.value IS NULL
                    AND roost_keys.revision <= (SELECT trimmed FROM roost_revision WHERE id = 1)),
            gone AS (
                DELETE FROM roost_changes USING old
                WHERE roost_changes.revision = old.revision AND roost_changes.key = old.key)
            SELECT count(*) FROM old
            """)
    }

    /// A statement that a session prepares once.
    struct PostgresStatement: Sendable {
        let name: String
        let text: String
        /// The last line for a server that wakes those who listen.
        let ending: String?

        init(_ name: String, _ text: String, ending: String? = nil) {
            self.name = name
            self.text = text
            self.ending = ending
        }

        /// What is sent to a server that knows notices, or to one that does not.
        func text(forNotices hasNotices: Bool) -> String {
            guard hasNotices, let ending, let line = text.lastIndex(of: "\n") else { return text }
            return text[...line] + ending
        }
    }
#endif
