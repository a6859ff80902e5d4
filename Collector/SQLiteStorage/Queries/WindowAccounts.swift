import GRDB
import MartletStorage

/// The accounts of the windows that a transaction asks for. Its queries are mostly about the same window and senders, and an
/// account reads the ledgers of all of them.
struct WindowAccounts {
    private var known: [(window: TimeWindow, senders: RequestFilter, account: WindowAccount)] = []

    /// Returns the account of the senders that the filter selects.
    mutating func account(in window: TimeWindow, _ filter: RequestFilter, in db: Database) throws -> WindowAccount {
        var senders = filter
        for dimension in Dimension.allCases where !dimension.isOfSender { senders.removeAll(dimension) }
        if let same = known.first(where: { $0.window == window && $0.senders == senders }) { return same.account }
        let account = try Completeness.account(in: window, senders, in: db)
        known.append((window, senders, account))
        return account
    }
}
