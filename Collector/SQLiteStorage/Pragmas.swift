import GRDB

/// How SQLite is told to work; what is not here is its default.
enum Pragmas {
    /// Of a new file; an existing one keeps what it has.
    ///
    /// `page_size` is the default, 4 KiB: a batch of 50 points fills about one, and a commit writes each page that it touches
    /// whole, so larger ones would make small commits dearer.
    ///
    /// `auto_vacuum` is off: retention frees about as many pages as new points take, and what is on the freelist is used
    /// first. Giving the pages back would move others, for a file that grows again. After a shorter retention was set,
    /// `VACUUM` makes the file small.
    static func configureWriter(_ db: Database) throws {
        // GRDB sets NORMAL, which may lose the last transactions in a power cut.
        try db.execute(sql: "PRAGMA synchronous = FULL")
        // 16 MiB of log before it is folded into the file, in place of 4: pages that most commits touch, those of indices and
        // of the streams of batches, are folded a quarter as often.
        try db.execute(sql: "PRAGMA wal_autocheckpoint = 4096")
        // A long report keeps the log from being reset. It gives the disk back what it took beyond this.
        try db.execute(sql: "PRAGMA journal_size_limit = 67108864")
    }

    /// Of each connection, reading or writing.
    ///
    /// `mmap_size` stays 0: with a mapped file an error of the disk is no error but a signal that ends the process.
    static func configure(_ db: Database) throws {
        // 4 MiB each: inner pages of the indices; points are read once, and the kernel has them cached.
        try db.execute(sql: "PRAGMA cache_size = -4096")
        // What is sorted is little (the chunks of one minute), and no files beside the store are left by a kill.
        try db.execute(sql: "PRAGMA temp_store = MEMORY")
    }
}
