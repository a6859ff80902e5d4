package enum StoreOutcome: Sendable, Equatable {
    case stored
    /// Nothing was stored: the batch's id is known, or all its intervals are, or it has no id and its points are known.
    case duplicate
    /// The batch was stored, although some of its intervals had arrived: their requests may count twice. An agent never
    /// merges intervals that it has sent, but after a power cut its disk may have forgotten that they were sent.
    case overlapping
}
