/// The chunks of one tier that end in `(from, to]`.
package struct ChunkRange: Sendable, Equatable {
    package enum Contents: Sendable {
        case all
        /// Chunks as they came, without those that were rolled up from the tier below.
        case delivered
        /// Chunks that have no summary yet.
        case unsummarized
        /// Chunks that summaries leave out.
        case unsummarizable
        /// The summaries instead of the chunks of minutes: see ``SummarySlot``.
        case summaries
    }

    package var tier: Tier
    /// Whether the chunks are those that have been rolled up, or those that have not. It says nothing about summaries.
    package var isRolled: Bool
    package var contents: Contents
    package var from: Int64
    package var to: Int64
}
