/// A question of the detector about an episode: who carries it. Counts by version and instance are many, and few are ever needed,
/// so they are not kept but asked for, each with a `StatisticsQuery` filtered by ``row`` in the window of ``slots``:
/// - ``CarrierAnswer/groups`` by `.version` and `.instance`. Bad requests are failures, those in coarse buckets from
///   ``Bad/slower(bucket:)`` on, or those with the status. Hung ones are left out.
/// - ``CarrierAnswer/forms`` by `.status` and `.error`, if ``bad`` is ``Bad/failed``.
/// - ``CarrierAnswer/during`` and ``CarrierAnswer/before``: the phases of the row's group, and of its group in the window of
///   ``reference``, if that is not `nil`.
package struct CarrierQuestion: Sendable, Hashable {
    /// Which requests are bad.
    package enum Bad: Sendable, Hashable {
        case failed
        /// Requests in this coarse bucket or a higher one.
        case slower(bucket: Int)
        case status(Int)
    }

    /// The number of the episode, for the answer.
    package var episode: Int
    /// The row; without endpoint, all that a service serves.
    package var row: FindingRow
    package var slots: Range<Slot>
    package var bad: Bad
    /// The time whose phases are compared with those of ``slots``; `nil` if phases are not needed.
    package var reference: Range<Slot>?
}

/// The answer to a ``CarrierQuestion``.
package struct CarrierAnswer: Sendable {
    /// The requests of a process.
    package struct Group: Sendable {
        package var version: String
        package var instance: String
        package var count: Double
        package var bad: Double

        package init(version: String, instance: String, count: Double, bad: Double) {
            (self.version, self.instance, self.count, self.bad) = (version, instance, count, bad)
        }
    }

    /// The mean seconds of each phase of a request.
    package struct Phases: Sendable {
        /// Waiting in the client's process.
        package var queue = 0.0
        package var nameLookup = 0.0
        package var connect = 0.0
        package var tls = 0.0
        /// From the request to the first byte of the response.
        package var firstByte = 0.0
        package var transfer = 0.0

        package init() {}
    }

    package var episode: Int
    package var groups: [Group]
    package var forms: [FailureForm] = []
    package var during: Phases?
    package var before: Phases?

    package init(episode: Int, groups: [Group], during: Phases? = nil, before: Phases? = nil) {
        (self.episode, self.groups, self.during, self.before) = (episode, groups, during, before)
    }
}
