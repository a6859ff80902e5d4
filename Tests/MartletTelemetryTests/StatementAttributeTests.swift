import MartletTelemetry
import Testing

@Suite struct StatementAttributeTests {
    private func kept(_ attributes: KeyValuePairs<String, String>, system: String? = nil) -> [String: SpanAttribute] {
        var room = AttributeRoom(count: 10, nameBytes: 100, bytes: 10_000)
        return room.take(attributes.map { ($0.key, .string($0.value)) }, system: system)
    }

    @Test func statementsAreKeptWithoutValues() {
        let secret = "SELECT \"a\" FROM t WHERE b = 'secret'"
        let shape = SpanAttribute.string("SELECT \"a\" FROM t WHERE b = ?")
        #expect(kept(["db.statement": secret, "db.system": "postgresql"])["db.statement"] == shape)
        #expect(kept(["db.query.text": secret], system: "postgresql") == ["db.query.text": shape])
        #expect(kept(["db.query.text": secret]) == ["db.query.text": .string("SELECT ? FROM t WHERE b = ?")])
        #expect(kept(["db.statement": "SET user:42 secret", "db.system": "redis"])["db.statement"] == .string("SET"))
        #expect(kept(["db.statement": "{\"find\": \"secret\"}", "db.system": "mongodb"])["db.statement"] == nil)
    }

    @Test func namesThatHoldAStatementAreKeptWithoutValues() {
        let statement = "SELECT a FROM t WHERE b = 'secret'"
        #expect(kept(["db.operation": statement], system: "postgresql") == ["db.operation": .string("SELECT")])
        #expect(
            kept(["db.query.summary": statement], system: "postgresql")
                == ["db.query.summary": .string("SELECT a FROM t WHERE b = ?")])
        #expect(kept(["db.operation.name": "find"], system: "mongodb") == ["db.operation.name": .string("find")])
    }

    @Test func valuesOfStatementsAreNotKept() {
        let attributes = kept([
            "db.query.parameter.0": "secret", "db.operation.parameter.name": "secret",
            "db.connection_string": "Host=db;Password=secret", "db.elasticsearch.path_parts.id": "secret",
            "db.postgresql.values": "secret", "db.mysql.values": "secret", "db.namespace": "shop",
        ])
        #expect(attributes == ["db.namespace": .string("shop")])
    }
}
