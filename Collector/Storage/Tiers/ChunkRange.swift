/// The chunks of one tier that end in `(from, to]`.
package struct ChunkRange: Sendable, Equatable {
    package var tier: Tier
    /// Whether the chunks are those that have been rolled up, or those that have not.
    package var isRolled: Bool
    /// Whether chunks that were rolled up from the tier below are left out.
    package var onlyDelivered: Bool
    package var from: Int64
    package var to: Int64
}
