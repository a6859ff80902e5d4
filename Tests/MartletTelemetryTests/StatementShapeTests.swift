import Testing

@testable import MartletTelemetry

@Suite struct StatementShapeTests {
    struct Row: Sendable {
        let system: String
        let statement: String
        /// `nil` for a text that has no shape.
        let shape: String?

        init(_ system: String, _ statement: String, _ shape: String?) {
            (self.system, self.statement, self.shape) = (system, statement, shape)
        }
    }

    static let texts = [
        Row("postgresql", "SELECT * FROM users WHERE id = 42", "SELECT * FROM users WHERE id = ?"),
        Row(
            "postgresql", "select a from t where b = 'x@example.com' and c > 3.5e-7",
            "select a from t where b = ? and c > ?"),
        Row("postgresql", "SELECT 'it''s', a FROM t", "SELECT ?, a FROM t"),
        Row("postgresql", #"SELECT E'it\'s', a, N'x' FROM t"#, "SELECT ?, a, ? FROM t"),
        Row("postgresql", #"SELECT 'C:\', a, 'x' FROM t"#, "SELECT ?, a, ? FROM t"),
        Row("postgresql", #"SELECT U&'d\0061t''a', u & 'x' FROM t"#, "SELECT ?, u & ? FROM t"),
        Row("postgresql", "SELECT $$it's$$, a, $b$x $$ y$b$ FROM t", "SELECT ?, a, ? FROM t"),
        Row("postgresql", "SELECT a FROM t WHERE b = 'x", "SELECT a FROM t WHERE b = ?"),
        Row("postgresql", "SELECT a FROM t WHERE b = $$x $ y", "SELECT a FROM t WHERE b = ?"),
        Row("postgresql", "SELECT a FROM t WHERE b='\0x'\0\n\tAND\tc=1", "SELECT a FROM t WHERE b=? AND c=?"),
        Row("postgresql", "SELECT DATE '2026-01-01', 'a' 'b'", "SELECT DATE ?, ?"),
        Row(
            "postgresql", "SELECT naïve FROM größe WHERE ß = 'ß' AND b = 1",
            "SELECT naïve FROM größe WHERE ß = ? AND b = ?"),
        Row("oracle.db", "SELECT q'[it's]', nq'!it's!', a FROM t", "SELECT ?, ?, a FROM t"),
        Row(
            "mysql", #"SELECT a FROM t WHERE b = "it's" AND c = 'it\'s' AND d = 1"#,
            "SELECT a FROM t WHERE b = ? AND c = ? AND d = ?"),
        Row("mariadb", #"SELECT "a\"b", `c` FROM `d`"#, "SELECT ?, `c` FROM `d`"),
        Row("other_sql", #"SELECT a FROM "b" WHERE c = "d""#, "SELECT a FROM ? WHERE c = ?"),
        // Without the database's name nobody knows whether the text ends here.
        Row("other_sql", #"SELECT a FROM b WHERE c = 'it\'s' AND d = 'x'"#, "SELECT a FROM b WHERE c = ?"),
        Row("other_sql", #"SELECT a FROM b WHERE c = 'C:\\' AND d = 'x'"#, "SELECT a FROM b WHERE c = ? AND d = ?"),
        Row("aws.redshift", #"SELECT "a" FROM b WHERE c = 'it\'s' AND d = 'x'"#, #"SELECT "a" FROM b WHERE c = ?"#),
        Row("gcp.bigquery", "SELECT a, '''it's''', 'x' FROM b", "SELECT a, ?"),
        Row("informix", #"SELECT f("a") FROM b"#, "SELECT f(?) FROM b"),
    ]

    static let namesNumbersAndPlaceholders = [
        Row(
            "postgresql", #"SELECT "Order Id", "a""b" FROM "public"."t" WHERE "c" = 7"#,
            #"SELECT "Order Id", "a""b" FROM "public"."t" WHERE "c" = ?"#),
        Row("postgresql", #"SELECT a FROM "t x"#, "SELECT a FROM ?"),
        Row(
            "sqlite", #"SELECT a FROM t WHERE b = "x" AND c IN ("x", "y") AND "t"."d" = "t"."e""#,
            #"SELECT a FROM t WHERE b = ? AND c IN (?) AND "t"."d" = "t"."e""#),
        Row(
            "sqlite", #"SELECT a FROM t WHERE t MATCH "x y" AND b GLOB "x*""#,
            "SELECT a FROM t WHERE t MATCH ? AND b GLOB ?"),
        Row(
            "cassandra",
            "SELECT a FROM t WHERE b IN (a23e4567-e89b-12d3-a456-426614174000,123e4567-e89b-12d3-a456-426614174000)",
            "SELECT a FROM t WHERE b IN (?)"),
        Row(
            "microsoft.sql_server", "SELECT TOP 10 [it's] FROM [dbo].[t] WHERE a = @p1 AND @@ROWCOUNT > 0",
            "SELECT TOP ? [it's] FROM [dbo].[t] WHERE a = ? AND @@ROWCOUNT > ?"),
        Row(
            "postgresql", "SELECT a2 FROM t_2024 WHERE b = .5 OR c = 1_000 OR d = 0xFF",
            "SELECT a2 FROM t_2024 WHERE b = ? OR c = ? OR d = ?"),
        Row("postgresql", "SET ROLE alice", "SET ROLE ?"),
        Row("postgresql", "set search_path to tenant_42, public; select 1", "set search_path ?; select ?"),
        Row("postgresql", "SET app.tenant = acme", "SET app.tenant = ?"),
        Row("mssql", "SET NOCOUNT ON; INSERT INTO t VALUES (1)", "SET NOCOUNT ?; INSERT INTO t VALUES (?)"),
        Row("postgresql", "UPDATE t SET a = -5, b = c - 5, d = +1", "UPDATE t SET a = ?, b = c - ?, d = ?"),
        Row(
            "postgresql", "UPDATE t SET a = NULL, b = TRUE WHERE c IS NOT NULL AND d IS NULL",
            "UPDATE t SET a = ?, b = ? WHERE c IS NOT NULL AND d IS NULL"),
        Row(
            "postgresql", "SELECT a::date FROM t WHERE b = $1 AND c = $2::int LIMIT $3",
            "SELECT a::date FROM t WHERE b = ? AND c = ?::int LIMIT ?"),
        Row(
            "postgresql", "SELECT a FROM t WHERE b = %s AND c = %(name)s AND d % 2 = 1",
            "SELECT a FROM t WHERE b = ? AND c = ? AND d % ? = ?"),
        Row(
            "oracle.db", "SELECT a FROM t WHERE b = :name AND c = :1 AND d = ?",
            "SELECT a FROM t WHERE b = ? AND c = ? AND d = ?"),
        Row(
            "postgresql", #"SELECT a->>'b' FROM t WHERE c @> '{"d": 1}' AND e ?| array['f', 'g']"#,
            "SELECT a->>? FROM t WHERE c @> ? AND e ?| array[?]"),
    ]

    static let comments = [
        Row("postgresql", "/* a /* b 'c */ d */ SELECT a -- it's\n FROM t -- b", "SELECT a FROM t"),
        Row(
            "postgresql", "SELECT a FROM t /*traceparent='00-0af7651916cd43dd8448eb211c80319c-01'*/", "SELECT a FROM t"),
        Row("postgresql", "SELECT a /* FROM t", "SELECT a"),
        Row(
            "postgresql", "SELECT a FROM t WHERE b = '/*' AND c = '--' AND d = 1",
            "SELECT a FROM t WHERE b = ? AND c = ? AND d = ?"),
        Row("mysql", "SELECT a # it's\n, b /* /* it's */ FROM t", "SELECT a, b FROM t"),
        Row("mysql", "SELECT 5--'a\nb', c", "SELECT ?--?, c"),
        Row("other_sql", "SELECT a # it's\n 'b'", "SELECT a"),
    ]

    static let lists = [
        Row(
            "postgresql", "SELECT a FROM t WHERE b IN (1, 2,3) AND c IN ( 'a' , NULL ) AND d IN ($1)",
            "SELECT a FROM t WHERE b IN (?) AND c IN (?) AND d IN (?)"),
        Row("postgresql", "SELECT a FROM t WHERE (b, c) IN ((1, 2), (3, 4))", "SELECT a FROM t WHERE (b, c) IN ((?))"),
        Row(
            "postgresql", "SELECT a FROM t WHERE b IN (SELECT c FROM d WHERE e = 1)",
            "SELECT a FROM t WHERE b IN (SELECT c FROM d WHERE e = ?)"),
        Row(
            "postgresql", "SELECT a FROM t WHERE b = ANY(ARRAY[1,2,3]::int[])",
            "SELECT a FROM t WHERE b = ANY(ARRAY[?]::int[])"),
        Row(
            "postgresql", "INSERT INTO t (a, b) VALUES ($1, $2), ($3, DEFAULT), (now(), $4) RETURNING a",
            "INSERT INTO t (a, b) VALUES (?) RETURNING a"),
        Row(
            "mysql", "INSERT INTO t VALUES (1,'a'),(2,'b') ON DUPLICATE KEY UPDATE a = VALUES(a), b = VALUES(b)",
            "INSERT INTO t VALUES (?) ON DUPLICATE KEY UPDATE a = VALUES(a), b = VALUES(b)"),
        Row("postgresql", "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2);", "INSERT INTO t VALUES (?)"),
        Row("postgresql", "((SELECT 1) UNION (SELECT 2));", "((SELECT ?) UNION (SELECT ?))"),
        Row("postgresql", "SELECT f( a, 'b' ),b FROM t", "SELECT f(a, ?), b FROM t"),
    ]

    static let otherStatements = [
        Row("postgresql", "SAVEPOINT sa_savepoint_1", "SAVEPOINT"),
        Row("postgresql", "ROLLBACK TO SAVEPOINT sa_savepoint_1", "ROLLBACK"),
        Row("postgresql", "BEGIN;", "BEGIN"),
        Row("postgresql", "ALTER USER bob PASSWORD 'secret'", "ALTER USER bob PASSWORD ?"),
        Row("oracle.db", "ALTER USER bob IDENTIFIED BY Secret REPLACE Old", "ALTER USER bob IDENTIFIED BY ?"),
        Row("oracle.db", #"CREATE USER bob IDENTIFIED BY "Secret""#, "CREATE USER bob IDENTIFIED BY ?"),
        Row("sap.hana", #"CREATE USER bob PASSWORD "Secret""#, "CREATE USER bob PASSWORD ?"),
        Row(
            "postgresql", #"DECLARE "_django_curs_14" NO SCROLL CURSOR FOR SELECT a FROM t"#,
            "DECLARE ? NO SCROLL CURSOR FOR SELECT a FROM t"),
        Row("postgresql", "PREPARE s_14 AS SELECT a FROM t", "PREPARE ? AS SELECT a FROM t"),
        Row("postgresql", "ada@example.com", nil),
        Row("postgresql", "'SELECT' a", nil),
        Row("postgresql", " \n", nil),
        Row("redis", "get user:42", "GET"),
        Row("valkey", "JSON.SET user:42 $ secret", "JSON.SET"),
        Row("memcached", "user:42", nil),
        Row("mongodb", #"{"find": "users", "filter": {"email": "ada@example.com"}}"#, nil),
        Row("mongodb", #"insert users {"email": "ada@example.com"}"#, nil),
        Row("other", #"{"query": "ada"}"#, nil),
    ]

    static let rows = texts + namesNumbersAndPlaceholders + comments + lists + otherStatements

    @Test(arguments: rows)
    func statementsHaveShapesWithoutValues(row: Row) {
        #expect(StatementShape(row.statement, system: row.system)?.text == row.shape)
    }

    /// The agent sends a shape as a summary, from which the collector makes a shape.
    @Test(arguments: rows)
    func shapesStayAsTheyAre(row: Row) throws {
        guard let shape = row.shape else { return }
        #expect(StatementShape.summary(shape, system: row.system) == shape)
    }

    @Test(arguments: [
        ("SELECT users", "SELECT users"), ("SELECT users WHERE id = 42", "SELECT users WHERE id = ?"),
        ("{other}", "{other}"), ("{unknown}", "{unknown}"), ("find orders.items", "find orders.items"),
        ("SELECT users 'ada", "SELECT users ?"),
    ])
    func summariesOfInstrumentsKeepTheirWords(summary: String, expected: String) {
        #expect(StatementShape.summary(summary, system: "postgresql") == expected)
    }

    @Test(arguments: [
        ("GET,SET...", "GET,SET..."), ("GET user_42", "GET"), ("GET user:42", "GET"), ("{other}", "{other}"),
    ])
    func summariesOfCommandsHaveNoKeys(summary: String, expected: String) {
        #expect(StatementShape.summary(summary, system: "valkey") == expected)
    }

    @Test(arguments: [
        ("select 1", "SELECT"), (" /* a */ (Select 1)", "SELECT"), ("WITH a AS (SELECT 1) SELECT * FROM a", "WITH"),
        ("insert into t values (1)", "INSERT"),
    ])
    func theFirstKeywordIsTheOperation(statement: String, operation: String) {
        #expect(StatementShape(statement, system: "postgresql")?.operation == operation)
    }

    @Test(arguments: [
        "postgresql", "mysql", "sqlite", "microsoft.sql_server", "oracle.db", "clickhouse", "mongodb", "redis",
        "spanner",
        "", "POSTGRESQL",
    ])
    func noValueStaysWhateverTheDatabase(system: String) {
        let quoted = [
            "'Secret'", "'Sec''Secret'", "N'Secret'", "E'a\\'Secret'", "X'5ec2e7'", "'a\nSecret'", "'--Secret'",
            "'/*Secret'",
        ]
        let values = quoted + ["424242", "-424242.5e3", "0x424242", "'\u{1F600}Secret'", "'\0Secret'"]
        let places =
            [
                { "SELECT a FROM t WHERE b = \($0)" }, { "SELECT a FROM t WHERE b=\($0)AND c" },
                { "INSERT INTO t VALUES (\($0), \($0))" },
                { "SELECT a FROM t WHERE b IN (\($0),\($0)) -- Secret's" },
                { "UPDATE t SET a=\($0) /* \($0) */ WHERE b=1" },
                { "SELECT f(\($0))||\($0)" }, { "/* Secret */ CALL p(\($0)" }, { "SELECT 'a\\\\', \($0), 'a\\\\'" },
            ] as [@Sendable (String) -> String]
        for value in values {
            for place in places {
                let shape = StatementShape(place(value), system: system)?.text ?? ""
                #expect(
                    !shape.contains("Secret") && !shape.contains("4242") && !shape.contains("5ec2e7"), "\(place(value))"
                )
            }
        }
    }

    @Test func longShapesAreCutBetweenTokens() throws {
        let names = (0..<50).map { "name_\($0)" }
        let text = try #require(StatementShape("SELECT \(names.joined(separator: ", ")) FROM t", system: "mysql")?.text)
        #expect(text.utf8.count <= StatementShape.maxLength && text.utf8.count > StatementShape.maxLength - 10)
        #expect(text.split(separator: ", ").dropFirst().allSatisfy { names.contains(String($0.filter { $0 != "," })) })
        let long = try #require(
            StatementShape("SELECT a FROM \"\(String(repeating: "ß", count: 200))\"", system: "postgresql"))
        #expect(long.text == "SELECT a FROM")
    }

    @Test func wordAtTheEndOfTheReadPartIsAValue() {
        let start = "SELECT a FROM t WHERE b IN ("
        let values = String(repeating: "1, ", count: (StatementTokens.maxBytes - start.utf8.count) / 3 - 1)
        let shape = StatementShape(start + values + "secret" + String(repeating: "x", count: 100), system: "cassandra")
        #expect(shape?.text == "SELECT a FROM t WHERE b IN (?")
    }

    /// Each of these took hours if the reader went back for each byte.
    @Test(arguments: [
        "SELECT a FROM t WHERE b IN (" + String(repeating: "1, ", count: 350_000) + "1)",
        "INSERT INTO t VALUES " + String(repeating: "(1,'a'),", count: 130_000),
        "SELECT '" + String(repeating: "x", count: 1 << 20),
        String(repeating: "(", count: 1 << 20), "SELECT " + String(repeating: "%(", count: 1 << 19),
        "SELECT " + String(repeating: "$a", count: 1 << 19), "SELECT $a$" + String(repeating: "$a", count: 1 << 19),
        "SELECT 1" + String(repeating: "/*", count: 1 << 19), "SELECT q'[" + String(repeating: "]", count: 1 << 20),
        "SELECT " + String(repeating: "((1),(1)),", count: 100_000),
    ])
    func statementsOfAMegabyteTakeLinearTime(statement: String) {
        for system in ["postgresql", "mysql", "other_sql"] {
            let text = StatementShape(statement, system: system, limit: StatementShape.maxTextLength)?.text ?? ""
            #expect(text.utf8.count <= StatementShape.maxTextLength)
        }
    }
}
