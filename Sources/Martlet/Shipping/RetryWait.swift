/// The wait before a batch is sent again.
enum RetryWait: Equatable {
    /// After a delay that grows with each failure.
    case backOff
    /// Not before the time that the collector asked for.
    case notBefore(Duration)
    /// After the longest delay, because a person has to change a setting first.
    case longest
    /// After a delay that grows faster and longer: each attempt keeps a core busy.
    case costly
}
