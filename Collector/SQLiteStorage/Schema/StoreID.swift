import GRDB

/// The row of the store's identity, which is made with the tables: see ``Storage/id``.
enum StoreID {
    /// 128 random bits.
    private static let random = "lower(hex(randomblob(16)))"

    static let table = """
        CREATE TABLE store (id TEXT NOT NULL) STRICT;
        INSERT INTO store VALUES (\(random));

        """

    static func read(in db: Database) throws -> String { try String.fetchOne(db, sql: "SELECT id FROM store") ?? "" }

    /// Gives a copy an identity of its own: from now on it gets other batches than the store that it was copied from.
    static func renew(in db: Database) throws { try db.execute(sql: "UPDATE store SET id = \(random)") }
}
