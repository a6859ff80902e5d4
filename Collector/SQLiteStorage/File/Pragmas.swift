import GRDB

/// The settings of SQLite that differ from its defaults.
enum Pragmas {
    /// Configures the writer's connection. `page_size` and `auto_vacuum` keep their defaults; an existing file keeps its own
    /// values.
    ///
    /// `page_size` is 4 KiB: a batch of 50 points fills about one page, and a commit writes each page that it touches whole,
    /// so larger pages would make small commits dearer.
    ///
    /// `auto_vacuum` is off: retention frees about as many pages as new points take, and SQLite uses free pages first. To
    /// give them back it would have to move other pages, in a file that grows again. After retention was shortened, `VACUUM`
    /// makes the file small.
    static func configureWriter(_ db: Database) throws {
        // GRDB sets NORMAL, which may lose the last transactions in a power cut.
        try db.execute(sql: "PRAGMA synchronous = FULL")
        // The log grows to 16 MiB instead of 4 before a checkpoint writes it to the file: pages that most commits touch, those of
        // indices and of the streams of batches, are written a quarter as often.
        try db.execute(sql: "PRAGMA wal_autocheckpoint = 4096")
        // A long report keeps the log from being reset. The log then shrinks to this size.
        try db.execute(sql: "PRAGMA journal_size_limit = 67108864")
    }

    /// Configures each connection, reading or writing.
    ///
    /// `mmap_size` stays 0: in a mapped file an error of the disk is a signal that ends the process.
    static func configure(_ db: Database) throws {
        // 4 MiB for each connection hold inner pages of the indices; points are read once, and the kernel caches them.
        try db.execute(sql: "PRAGMA cache_size = -4096")
        // Sorts are small (the chunks of one minute), and a kill then leaves no files beside the store.
        try db.execute(sql: "PRAGMA temp_store = MEMORY")
    }
}
